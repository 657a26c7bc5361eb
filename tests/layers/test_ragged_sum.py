"""Sums of rows against loops, values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import row_sparse
from tf_charagram.layers.ragged_sum import RaggedEmbeddingSum, row_ids, sum_rows

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
SPEC = tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=1, row_splits_dtype=tf.int64)


def ragged(rows):
    return tf.RaggedTensor.from_row_lengths(
        tf.constant([i for row in rows for i in row], tf.int32),
        tf.constant([len(row) for row in rows], tf.int64),
    )


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


@pytest.fixture(params=BATCHES, ids=str)
def rows(request):
    return BATCHES[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_row_ids(rows, dtype):
    found = row_ids(tf.cast(ragged(rows), dtype))
    assert found.numpy().tolist() == [r for r, row in enumerate(rows) for _ in row]


def test_sum_rows(rows, rng):
    table = tf.constant(rng.normal(size=(NUM_ROWS, DIM)), tf.float32)
    upstream = rng.normal(size=(len(rows), DIM))
    with tf.GradientTape() as tape:
        tape.watch(table)
        sums = sum_rows(table, ragged(rows))
    gradient = tape.gradient(sums, table, output_gradients=tf.constant(upstream, tf.float32))
    assert sums.shape == (len(rows), DIM) and gradient.shape == table.shape
    assert_allclose(sums, expected_sums(table.numpy(), rows), rtol=1e-5, atol=1e-6)
    assert_allclose(gradient, expected_gradient(upstream, rows, NUM_ROWS), rtol=1e-5, atol=1e-6)


def test_sum_rows_of_an_empty_table():
    sums = sum_rows(tf.zeros([0, DIM]), ragged([[], []]))
    assert_array_equal(sums, np.zeros((2, DIM)))


@pytest.mark.parametrize("training", [False, True])
def test_layer(rows, rng, training):
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    table = rng.normal(size=(NUM_ROWS, DIM))
    layer.table.assign(table)
    _optimizer = row_sparse(layer)
    upstream = rng.normal(size=(len(rows), DIM))

    @tf.function(input_signature=[SPEC])
    def in_graph(ids):
        with tf.GradientTape() as tape:
            sums = layer(ids, training=training)
        return sums, tape.gradient(
            sums, layer.table.value, output_gradients=tf.constant(upstream, tf.float32)
        )

    for function in (in_graph, in_graph.python_function):
        sums, gradient = function(ragged(rows))
        assert isinstance(gradient, tf.IndexedSlices) == training
        if training:
            indices = gradient.indices.numpy().tolist()
            assert len(set(indices)) == len(indices)
            # A batch without any id touches row 0; the values below say that its gradient is zero.
            assert set(indices) == ({i for row in rows for i in row} or {0})
        assert sums.shape == (len(rows), DIM)
        assert_allclose(sums, expected_sums(table, rows), rtol=1e-5, atol=1e-6)
        dense = tf.convert_to_tensor(gradient)
        assert_allclose(dense, expected_gradient(upstream, rows, NUM_ROWS), rtol=1e-5, atol=1e-6)


def test_training_reads_only_the_named_rows(rng):
    """NaN elsewhere in the table reaches neither sums nor gradient."""
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    table = np.full((NUM_ROWS, DIM), np.nan)
    table[[1, 4]] = rng.normal(size=(2, DIM))
    layer.table.assign(table)
    _optimizer = row_sparse(layer)
    with tf.GradientTape() as tape:
        sums = layer(ragged([[1, 4, 1], []]), training=True)
    assert_allclose(sums, [2 * table[1] + table[4], np.zeros(DIM)], rtol=1e-5)
    assert np.isfinite(tape.gradient(sums, layer.table.value).values).all()


def test_config_round_trip():
    layer = RaggedEmbeddingSum(num_rows=7, dim=2, initializer="ones", name="sums")
    restored = RaggedEmbeddingSum.from_config(layer.get_config())
    assert restored.get_config() == layer.get_config()
    assert_array_equal(restored.table, np.ones((7, 2)))
