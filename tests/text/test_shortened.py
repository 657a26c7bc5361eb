"""Texts are cut before they are decoded, without another result."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.text._algorithm import arrays, graph
from tf_charagram.text._algorithm.flat import shortened
from tf_charagram.text.vectorizer import NgramVectorizer

LONG = 64 * 20
TEXTS = [
    "cat dog " * 500,
    "  " * LONG + "cat",
    "\t\r\n" * LONG + "über cat",
    "a   " * LONG,
    " " * (4 * LONG - 1) + "cat dog " * LONG,
    "ü" * LONG,
    "x" * LONG,
    "\N{NO-BREAK SPACE} a" * LONG,
    "cat",
    "",
]


def as_bytes(texts):
    return [text.encode() if isinstance(text, str) else text for text in texts]


@tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
def _shortened_in_graph(texts):
    return shortened(graph, texts, 20)


@pytest.mark.parametrize("text", TEXTS)
def test_both_cut_at_the_same_byte(text):
    found = shortened(arrays, [text, "a"], 20)
    in_graph = _shortened_in_graph(tf.constant([text, "a"])).numpy().tolist()
    assert as_bytes(found) == in_graph
    assert max(map(len, in_graph)) <= LONG


def test_no_limit():
    texts = ["x" * 10**6]
    assert shortened(arrays, texts, None) is texts


def test_results_stay():
    options = {"orders": (2, 3), "max_chars": 20}
    vectorizer = NgramVectorizer.from_texts(["a cat and a dog", "über"], **options)
    # One after another, they are short or long.
    for text in TEXTS:
        joined = " ".join(text.split())
        expected = vectorizer(tf.constant([joined[:200]]))
        np.testing.assert_array_equal(vectorizer(tf.constant([text])).values, expected.values)
