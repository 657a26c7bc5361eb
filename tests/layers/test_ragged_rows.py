"""Rows of a ragged tensor, gathered where they are."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.contracts import ragged
from tf_charagram.layers.ragged_rows import gather_ragged

GATHER = tf.function(gather_ragged, reduce_retracing=True)


def of_type(dtype, rows):
    ids = ragged(rows)
    return ids.with_values(tf.cast(ids.values, dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("seed", range(5))
def test_equals_tf_gather(seed, dtype):
    """Rows that repeat, that are empty, and the last one."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 6, size=12) * random.integers(0, 2, size=12)
    rows_of_ids = [random.integers(0, 99, size=length).tolist() for length in lengths]
    ids = of_type(dtype, rows_of_ids)
    rows = tf.constant([11, *random.integers(0, 12, size=30)], tf.int64)
    gathered, expected = GATHER(ids, rows), tf.gather(ids, rows)
    assert gathered.dtype == dtype
    assert_array_equal(gathered.values, expected.values)
    assert_array_equal(gathered.row_splits, expected.row_splits)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(
    ("rows", "chosen"), [([[], []], [0, 1, 1]), ([[1], [2, 3]], []), ([[4, 5]], [0])]
)
def test_nothing_to_gather(rows, chosen, dtype):
    """Only empty rows, or no row at all."""
    gathered = gather_ragged(of_type(dtype, rows), tf.constant(chosen, tf.int64))
    assert gathered.to_list() == [rows[row] for row in chosen]
