"""Helpers for tests of models."""

from __future__ import annotations

import numpy as np

from tests.texts import NASTY
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.cse import Cse
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer

KNOWN = ["a cat", "some cats", "a dog sat", "the cat did not sit", "dogs"]
TEXTS = [*KNOWN, "a cat", "never seen", *(t for n, t in NASTY.items() if not n.startswith("long"))]
# Folded n-grams are summed in another order.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def parts(encoder="charagram", dim=6):
    """Returns a vectorizer and an encoder with random weights."""
    if encoder == "charagram":
        vectorizer = NgramVectorizer.from_texts(KNOWN)
        made = Charagram(num_rows=vectorizer.num_rows, dim=dim, activation="tanh")
    else:
        vectorizer = WordVectorizer.from_texts(KNOWN)
        made = Cse(num_rows=vectorizer.num_rows, dim=dim)
    return vectorizer, randomized(made)


def randomized(layer, seed=0):
    """Returns a layer with all weights random, so that no zero hides a mistake."""
    rng = np.random.default_rng(seed)
    for weight in layer.trainable_variables:
        weight.assign(rng.normal(scale=0.5, size=weight.shape))
    if hasattr(layer, "scale"):
        layer.scale.assign(0.7)
    return layer


def decided(model, vectors):
    """Changes the head of a model so that it gives each label to some of the vectors."""
    model.head.output_kernel.assign(10.0 * model.head.output_kernel)
    model.head.output_bias.assign_sub(np.mean(model.head(vectors), axis=0))
    return model
