"""Models as plain functions, and sets that they agree with or not."""

from __future__ import annotations

import numpy as np

from tf_charagram.data._tables.scored import ScoredPairs


def sets_of(*rows, name="STS2012.OnWN"):
    """Returns one set of rows of left, right, score."""
    left, right, scores = zip(*rows, strict=True)
    return [ScoredPairs(name, list(left), list(right), np.array(scores, float), group="STS2012")]


def embed_by(angles):
    """Returns a model that gives each text a vector of a known angle; unknown ones get 0."""

    def embed(texts):
        radians = np.array([angles(text) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)

    return embed


def graded(num_words, num_pairs=12, word="a"):
    """Returns rows whose longer text has some words, and scores from 0 to 5."""
    grades = np.linspace(0, 5, num_pairs)
    return [
        (word, " ".join([word] * num_words) + f" {i}.", grade) for i, grade in enumerate(grades)
    ]
