"""The filter of accepted words against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.reference import word_filter as reference
from tf_charagram.text._algorithm import arrays, graph
from tf_charagram.text._spelling.word_filter import (
    WordFilter,
    contains,
    letter_values,
    powers,
    powers_by_place,
)

MANY = [f"{first}{second}w\u00f6rd\U00010400"[:size] for first in "abcdefghij"
        for second in "\u017cklmnopqrs" for size in range(2, 8)]  # fmt: skip


def is_found(word_filter, words):
    keys = [
        int((letter_values(np.array([*map(ord, word)])) * powers(len(word))).sum())
        for word in words
    ]
    keys = np.array(keys, np.int64)
    in_graph = contains(graph, tf.constant(word_filter.bits), tf.constant(keys)).numpy()
    assert_array_equal(contains(arrays, word_filter.bits, keys), in_graph)
    return in_graph.tolist()


@pytest.mark.parametrize("words", [[], ["a"], ["word", "words"], MANY[:200], MANY])
def test_equals_reference(words):
    word_filter, expected = WordFilter.from_words(words), reference.Filter(words)
    assert word_filter.bits.dtype == np.uint8 and 8 * len(word_filter.bits) == expected.num_bits
    assert set(np.flatnonzero(np.unpackbits(word_filter.bits, bitorder="little"))) == expected.bits
    found = is_found(word_filter, MANY)
    assert found == [word in expected for word in MANY]
    assert all(is_found(word_filter, words))


@pytest.mark.parametrize(("lengths", "places"), [([], []), ([2, 0, 3], [0, 1, 0, 1, 2])])
def test_powers_by_place(lengths, places):
    found = powers_by_place(np.array(lengths, np.int64))
    assert found.dtype == np.int64 and found.tolist() == powers(3)[places].tolist()


def test_one_other_word_in_a_hundred_is_found():
    found = is_found(WordFilter.from_words(MANY), [f"{word}x" for word in MANY])
    assert 0 < np.mean(found) < 0.03
