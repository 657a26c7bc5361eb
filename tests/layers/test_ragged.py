"""Operations on ragged ids against loops, values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import SPEC, ragged
from tests.variants import some_now
from tf_charagram._common.flat import repeated
from tf_charagram.layers._ops.ragged import (
    by_length,
    gather_ragged,
    gather_rows,
    sum_rows,
    to_padded,
)

NUM_ROWS, DIM = 6, 3
BATCHES = {
    "plain": [[0, 1], [2], [5, 4, 3]],
    "repeated ids": [[1, 1, 1], [2, 1], [2, 2, 0, 2]],
    "unsorted ids": [[5, 0, 3, 0, 5], [4, 2, 1]],
    "empty rows": [[], [], [1, 2], [], [3], [], []],
    "one text": [[3, 3]],
    "no ids": [[], [], []],
    "one empty text": [[]],
    "empty batch": [],
    "every row": [[5, 4, 3], [2, 1, 0]],
}


def expected_sums(table, rows):
    sums = np.zeros((len(rows), table.shape[1]))
    for r, row in enumerate(rows):
        for i in row:
            sums[r] += table[i]
    return sums


def expected_gradient(upstream, rows, num_rows):
    gradient = np.zeros((num_rows, upstream.shape[1]))
    for r, row in enumerate(rows):
        for i in row:
            gradient[i] += upstream[r]
    return gradient


@pytest.fixture(params=BATCHES.values(), ids=BATCHES)
def rows(request):
    return request.param


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_repeated(rows, dtype):
    found = repeated(tf.range(len(rows), dtype=dtype), ragged(rows).row_lengths())
    assert found.dtype == dtype
    assert found.numpy().tolist() == [r for r, row in enumerate(rows) for _ in row]


def test_sum_rows(rows):
    rng = np.random.default_rng(0)
    table = tf.constant(rng.normal(size=(NUM_ROWS, DIM)), tf.float32)
    upstream = rng.normal(size=(len(rows), DIM))
    with tf.GradientTape() as tape:
        tape.watch(table)
        sums = sum_rows(table, ragged(rows))
    gradient = tape.gradient(sums, table, output_gradients=tf.constant(upstream, tf.float32))
    assert sums.shape == (len(rows), DIM) and gradient.shape == table.shape
    assert_allclose(sums, expected_sums(table.numpy(), rows), rtol=1e-5, atol=1e-6)
    assert_allclose(gradient, expected_gradient(upstream, rows, NUM_ROWS), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("indices", [[0, 2, 2, 5, 0, 2], [4], []])
def test_gather_rows(indices):
    rng = np.random.default_rng(0)
    values = tf.constant(rng.normal(size=(NUM_ROWS, DIM)), tf.float32)
    upstream = rng.normal(size=(len(indices), DIM))
    with tf.GradientTape() as tape:
        tape.watch(values)
        gathered = gather_rows(values, tf.constant(indices, tf.int32))
    gradient = tape.gradient(gathered, values, output_gradients=tf.constant(upstream, tf.float32))
    assert_array_equal(gathered, values.numpy()[np.array(indices, int)])
    expected = np.zeros((NUM_ROWS, DIM))
    np.add.at(expected, np.array(indices, int), upstream)
    assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


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


@pytest.mark.parametrize("row_splits", [tf.int32, tf.int64])
def test_to_padded(rows, row_splits):
    ids, mask = to_padded(ragged(rows).with_row_splits_dtype(row_splits))
    time = max([1, *map(len, rows)])
    assert ids.shape == mask.shape == (len(rows), time)
    assert ids.dtype == tf.int32 and mask.dtype == tf.bool
    assert ids.numpy().tolist() == [row + [0] * (time - len(row)) for row in rows]
    assert mask.numpy().tolist() == [[t < len(row) for t in range(time)] for row in rows]


LENGTHS = {
    "plain": (3, 1, 4, 1, 5),
    "empty rows": (0, 2, 0, 0, 3),
    "only empty": (0, 0),
    "one": (7,),
    "none": (),
}


@pytest.mark.parametrize("max_steps", some_now([1, 4, 6, 100], 1, 6))
@pytest.mark.parametrize("per_value", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_groups_change_nothing(max_steps, per_value, in_graph):
    sizes = []

    def function(group):
        padded, _ = to_padded(group)
        if not in_graph:
            assert padded.shape[0] > 0
            sizes.append((tuple(padded.shape), int(tf.reduce_max(group.row_lengths()))))
        totals = tf.cast(tf.reduce_sum(group, axis=1), tf.float32)
        first = tf.cast(group.values, tf.float32) if per_value else totals
        second = tf.gather(totals, group.value_rowids()) if per_value else -totals
        return tf.stack([first, second], axis=1)

    def run(rows):
        return by_length(function, rows, max_steps, 2, per_value=per_value)

    run_groups = tf.function(run, input_signature=[SPEC]) if in_graph else run
    rng = np.random.default_rng(0)
    for name, lengths in LENGTHS.items():
        rows = ragged([rng.integers(0, 9, size=length).tolist() for length in lengths])
        expected = function(rows) if lengths or in_graph else np.zeros((0, 2))
        sizes.clear()
        assert_allclose(run_groups(rows), expected, err_msg=name)
        for (num_rows, time), _ in sizes:
            assert num_rows == 1 or num_rows * time <= max_steps
