"""Keys of n-grams: exact ones can be undone, mixed ones are the same everywhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.reference.word_filter import splitmix64
from tests.text.operations import arrays_of, batch_of, over_both
from tests.text.strategies import order_sets, property_settings, text_lists
from tf_charagram.text._algorithm.code_points import SPACE
from tf_charagram.text._algorithm.flat import collapse
from tf_charagram.text._algorithm.hashing import mixed
from tf_charagram.text._algorithm.keys import (
    exact_digits,
    mixed_keys,
    ngram_keys,
    padded_keys,
    prefix_keys,
)


def keys_of(ops, raws, orders, bits):
    """Returns the keys of each text, from normalized texts."""
    normalized = [reference.normalize(raw) for raw in raws]
    codes, boundaries = ops.decode(batch_of(ops, normalized))
    batch = collapse(ops, codes, boundaries, SPACE)
    keys, splits = arrays_of(ngram_keys(ops, batch, sorted(orders), bits))
    rows = [keys[a:b] for a, b in pairwise(splits)]
    return [row[row > 0].tolist() for row in rows]


@over_both
def test_mixed_is_splitmix64(ops):
    """The first output of SplitMix64 with seed 0 is 0xE220A8397B1DCDAF."""
    first = mixed(ops, ops.constant(np.array([0x9E3779B97F4A7C15], np.uint64)))
    assert int(first[0]) == 0xE220A8397B1DCDAF
    values = np.random.default_rng(0).integers(0, 2**64, size=100, dtype=np.uint64)
    expected = [splitmix64(int(value)) for value in values]
    assert np.asarray(mixed(ops, ops.constant(values))).tolist() == expected


@over_both
@property_settings
@given(text_lists, order_sets)
def test_exact_keys_are_the_shifted_symbols(ops, raws, orders):
    """21 bits hold any code point, but only three of them fit."""
    orders = {min(order, 3) for order in orders}
    raws = [raw.replace("\x00", "0") for raw in raws]
    expected = []
    for raw in raws:
        shifted = []
        for ngram in reference.ngrams(raw, orders):
            key = 0
            for char in ngram:
                key = key << 21 | ord(char)
            shifted.append(key)
        expected.append(shifted)
    assert keys_of(ops, raws, orders, 21) == expected


@over_both
@property_settings
@given(text_lists, order_sets)
def test_mixed_keys_agree_with_those_of_code_points(ops, raws, orders):
    """Position, neighbours and batch-mates of an n-gram do not change its key."""
    key_of = {}
    for order in orders:
        ngrams = sorted(reference.count_ngrams(raws, [order]))
        if ngrams:
            codes = np.array([[ord(char) for char in ngram] for ngram in ngrams], np.int32)
            key_of |= zip(ngrams, mixed_keys(codes).tolist(), strict=True)
    found = keys_of(ops, raws, orders, None)
    assert found == [[key_of[ngram] for ngram in reference.ngrams(raw, orders)] for raw in raws]
    ngram_of = {}
    for raw, keys in zip(raws, found, strict=True):
        for ngram, key in zip(reference.ngrams(raw, orders), keys, strict=True):
            assert ngram_of.setdefault(key, ngram) == ngram
            assert key > 0


@over_both
@property_settings
@given(text_lists, st.integers(1, 5), st.none() | st.integers(1, 9))
def test_padded_keys_begin_with_those_of_all_orders(ops, raws, order, max_chars):
    codes, boundaries = ops.decode(batch_of(ops, raws))
    batch = collapse(ops, codes % 4094 + 1, boundaries, SPACE + 1, max_chars)
    padded, padded_splits = arrays_of(padded_keys(ops, batch, order, 12))
    for shorter in range(2, order + 1):
        keys, splits = arrays_of(ngram_keys(ops, batch, (shorter,), 12))
        prefixes = prefix_keys(padded, shorter, order, 12)
        np.testing.assert_array_equal(prefixes, keys[:, 0])
        np.testing.assert_array_equal(padded_splits, splits)
    unigrams = arrays_of(ngram_keys(ops, batch, (1,), 12))[0][:, 0]
    np.testing.assert_array_equal(prefix_keys(padded, 1, order, 12), unigrams)


@pytest.mark.parametrize("bits", [7, 10, 21])
def test_exact_digits_undo_the_shifts(bits):
    rng = np.random.default_rng(bits)
    digits = rng.integers(1, 2**bits, size=(50, 63 // bits))
    digits[:20, 0] = 0
    keys = sum(digits[:, i] << bits * (63 // bits - 1 - i) for i in range(63 // bits))
    np.testing.assert_array_equal(exact_digits(keys, bits, 63 // bits), digits)
