"""The numbers in the text of Universal, on vectors and sets made up here."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from research.papers import in_text
from tf_charagram.data._tables.scored import ScoredPairs

WORDS = [f"w{i}" for i in range(300)]


class Vectors:
    """Embeds single words of `WORDS` with given vectors."""

    def __init__(self, vectors):
        self.vectors = vectors

    def encode(self, texts):
        return self.vectors[[WORDS.index(text) for text in texts]]


def context(learned):
    """Returns a context in which `word_average` has learned some vectors."""
    generator = np.random.default_rng(0)
    first = generator.normal(size=(len(WORDS), 8)).astype(np.float32)
    left, right = ([f"{a} {b}" for a, b in generator.choice(WORDS, (40, 2))] for _ in range(2))
    pairs = ScoredPairs("STS2012.OnWN", left, right, generator.random(40), "pearson", "STS2012")
    vectors = {"start": Vectors(first), "word_average": Vectors(learned)}
    return SimpleNamespace(
        word_counts=lambda role: Counter(dict.fromkeys(WORDS, 150)),
        pairs=lambda role: [(word, word) for word in WORDS],
        embeds=lambda runs: {"word_average": lambda texts: np.eye(len(texts), dtype=np.float32)},
        embedders=lambda runs: {name: vectors[name] for name in runs},
        is_trained=lambda run: True,
        all_sts_sets=[pairs],
        scores=lambda run: {"STS2012.OnWN": 60.0},
    )


def test_equal_weights_scale_nothing():
    """All words are as frequent, and their learned vectors as long."""
    made = in_text.UNIVERSAL.make(context(np.ones((len(WORDS), 8), np.float32)))
    numbers = made.ours.column("value")
    start = numbers["mean of STS: word vectors at the start"]
    assert numbers["mean of STS: scaled by inverse frequency"] == pytest.approx(start, abs=0.01)
    scaled = numbers["mean of STS: scaled by the lengths that word_average learned"]
    assert scaled == pytest.approx(start, abs=0.01) and start != 0
    assert numbers["words that occur more than 100 times"] == len(WORDS)
    (claim,) = (holds for name, holds in made.claims.items() if "scaled by the lengths" in name)
    assert claim is False
    assert made.claims["the encoders have margins within 2"] is None


def test_longest_vectors_are_named():
    learned = np.arange(1, len(WORDS) + 1, dtype=np.float32)[:, np.newaxis] * np.ones(8, np.float32)
    shown = in_text.UNIVERSAL.make(context(learned)).ours.column("value")
    longest = [WORDS.index(word) for word in shown["longest vectors"].split(", ")]
    shortest = [WORDS.index(word) for word in shown["shortest vectors"].split(", ")]
    assert longest == sorted(longest, reverse=True) and min(longest) > max(shortest)
