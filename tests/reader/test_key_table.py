"""Look-up of keys by their highest bits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.reader.key_table import KeyTable
from tf_charagram.reader.ngrams import spread

LIMITS = np.iinfo(np.int64)


@pytest.mark.parametrize("num_keys", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_equals_a_dictionary(num_keys, seed):
    random = np.random.default_rng(seed)
    keys = np.unique(random.integers(LIMITS.min, LIMITS.max, num_keys))
    rows = random.integers(0, 2**31, len(keys))
    others = np.concatenate([keys, keys - 1, keys + 1, [0, LIMITS.min, LIMITS.max - 1]])
    expected = dict(zip(keys.tolist(), rows.tolist(), strict=True))
    found = KeyTable.of_rows(keys, rows).rows(others)
    assert found.dtype == np.int64
    assert_array_equal(found, [expected.get(key, -1) for key in others.tolist()])


def test_any_order_and_shape():
    keys = np.array([5, -7, 3, 2**62])
    table = KeyTable.of_rows(keys, np.arange(4))
    assert_array_equal(table.rows(keys[::-1].reshape(2, 2)), [[3, 2], [1, 0]])
    assert table.rows(np.zeros((0, 3), np.int64)).shape == (0, 3)


def test_all_keys_in_one_bucket():
    keys = np.arange(1, 200)
    table = KeyTable.of_rows(keys, keys)
    assert_array_equal(table.rows(np.arange(300)), [-1, *range(1, 200), *[-1] * 100])


def test_spreading_is_one_to_one():
    keys = np.arange(1, 100_000)
    assert len(np.unique(spread(keys))) == len(keys)
