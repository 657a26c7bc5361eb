"""Embedding tables: sums and padded vectors against loops, and sparse gradients."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import SPEC, ragged, row_sparse
from tests.layers.test_ragged import (
    BATCHES,
    DIM,
    NUM_ROWS,
    expected_gradient,
    expected_sums,
)
from tf_charagram.errors import ConfigError
from tf_charagram.layers import embedding_table as table_module
from tf_charagram.layers._ops.ragged import to_padded
from tf_charagram.layers.embedding_table import (
    PaddedEmbedding,
    RaggedEmbeddingSum,
    use_huge_pages,
)

LAYERS = pytest.mark.parametrize("layer_class", [RaggedEmbeddingSum, PaddedEmbedding])


@pytest.fixture(params=BATCHES.values(), ids=BATCHES)
def rows(request):
    return request.param


@functools.cache
def sums_in_graph(training):
    """Returns a layer, its optimizer, and a function to its sums and the gradient of its table."""
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    optimizer = row_sparse(layer)

    @tf.function(input_signature=[SPEC, tf.TensorSpec([None, DIM])])
    def in_graph(ids, upstream):
        with tf.GradientTape() as tape:
            sums = layer(ids, training=training)
        return sums, tape.gradient(sums, layer.table.value, output_gradients=upstream)

    return layer, optimizer, in_graph


@pytest.mark.parametrize("training", [False, True])
def test_sums(rows, training):
    rng = np.random.default_rng(0)
    layer, _, in_graph = sums_in_graph(training)
    table = rng.normal(size=(NUM_ROWS, DIM))
    layer.table.assign(table)
    upstream = rng.normal(size=(len(rows), DIM)).astype(np.float32)
    for function in (in_graph, in_graph.python_function):
        sums, gradient = function(ragged(rows), tf.constant(upstream))
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


def test_training_reads_only_the_named_rows():
    """NaN elsewhere in the table reaches neither sums nor gradient."""
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    table = np.full((NUM_ROWS, DIM), np.nan)
    table[[1, 4]] = np.random.default_rng(0).normal(size=(2, DIM))
    layer.table.assign(table)
    _optimizer = row_sparse(layer)
    with tf.GradientTape() as tape:
        sums = layer(ragged([[1, 4, 1], []]), training=True)
    assert_allclose(sums, [2 * table[1] + table[4], np.zeros(DIM)], rtol=1e-5)
    assert np.isfinite(tape.gradient(sums, layer.table.value).values).all()


@functools.cache
def vectors_in_graph():
    """Returns a layer, its optimizer, and a function to its vectors, mask and gradient."""
    layer = PaddedEmbedding(num_rows=NUM_ROWS, dim=DIM)
    optimizer = row_sparse(layer)

    @tf.function(input_signature=[SPEC, tf.TensorSpec([None, None, DIM])])
    def in_graph(ids, upstream):
        with tf.GradientTape() as tape:
            vectors, mask = layer(ids)
        gradient = tape.gradient(vectors, layer.table.value, output_gradients=upstream)
        return vectors, mask, gradient

    return layer, optimizer, in_graph


def test_embedding(rows):
    """Values, and a gradient that names each row once; NaN elsewhere in the table stays there."""
    rng = np.random.default_rng(0)
    layer, _, in_graph = vectors_in_graph()
    used = sorted({i for row in rows for i in row})
    table = np.full((NUM_ROWS, DIM), np.nan)
    table[used] = rng.normal(size=(len(used), DIM))
    layer.table.assign(table)
    time = max([1, *map(len, rows)])
    expected = np.zeros((len(rows), time, DIM))
    upstream, slope = rng.normal(size=expected.shape), np.zeros((NUM_ROWS, DIM))
    for r, row in enumerate(rows):
        for t, i in enumerate(row):
            expected[r, t] = table[i]
            slope[i] += upstream[r, t]
    for function in (in_graph, in_graph.python_function):
        vectors, mask, gradient = function(ragged(rows), tf.constant(upstream, tf.float32))
        assert_array_equal(mask, to_padded(ragged(rows))[1])
        assert_allclose(vectors, expected, rtol=1e-6)
        assert isinstance(gradient, tf.IndexedSlices)
        assert sorted(gradient.indices.numpy().tolist()) == used
        assert_allclose(tf.convert_to_tensor(gradient), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("is_row_sparse", [False, True])
def test_reads_only_the_named_rows_of_another_device(training, is_row_sparse, monkeypatch):
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    _optimizer = row_sparse(layer) if is_row_sparse else None
    batches = [ragged(rows) for rows in BATCHES.values()]
    expected = [layer(ids) for ids in batches]
    monkeypatch.setattr(table_module, "_is_elsewhere", lambda variable: True)

    @tf.function(input_signature=[SPEC])
    def sums(ids):
        return layer(ids, training=training)

    for ids, vectors in zip(batches, expected, strict=True):
        assert_allclose(sums(ids), vectors, rtol=1e-6)
    reads = {op.type for op in sums.get_concrete_function().graph.get_operations()}
    assert "ReadVariableOp" not in reads and reads & {"ResourceGather", "ResourceGatherNd"}


@LAYERS
def test_config_round_trip(layer_class):
    layer = layer_class(num_rows=7, dim=2, initializer="ones", name="vectors")
    restored = layer_class.from_config(json.loads(json.dumps(layer.get_config())))
    assert restored.get_config() == layer.get_config()
    assert_array_equal(restored.table, np.ones((7, 2)))
    for name in ("num_rows", "dim"):
        with pytest.raises(ConfigError, match=rf"`{name}` must be at least 1. Received: {name}=0"):
            layer_class(**{"num_rows": 2, "dim": 2, name: 0})


@pytest.mark.parametrize("num_rows", [0, 1, 7_000, 100_000])
def test_huge_pages_keep_the_numbers(num_rows):
    values = np.random.default_rng(0).normal(size=(num_rows, 75)).astype(np.float32)
    table = tf.Variable(values)
    use_huge_pages(table)
    np.testing.assert_array_equal(table, values)
