"""Padded ids and their vectors against loops."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import SPEC, ragged, row_sparse
from tf_charagram.errors import ConfigError
from tf_charagram.layers.padding import PaddedEmbedding, gather_rows, to_padded

NUM_ROWS, DIM = 6, 3
BATCHES = {
    "plain": [[0, 1], [2], [5, 4, 3]],
    "repeated ids": [[1, 1, 1], [2, 1], [2, 2, 0, 2]],
    "empty rows": [[], [], [1, 2], [], [3], [], []],
    "one text": [[3, 3]],
    "no ids": [[], [], []],
    "empty batch": [],
}


@pytest.fixture(params=BATCHES.values(), ids=BATCHES)
def rows(request):
    return request.param


@pytest.mark.parametrize("row_splits", [tf.int32, tf.int64])
def test_to_padded(rows, row_splits):
    ids, mask = to_padded(ragged(rows).with_row_splits_dtype(row_splits))
    time = max([1, *map(len, rows)])
    assert ids.shape == mask.shape == (len(rows), time)
    assert ids.dtype == tf.int32 and mask.dtype == tf.bool
    assert ids.numpy().tolist() == [row + [0] * (time - len(row)) for row in rows]
    assert mask.numpy().tolist() == [[t < len(row) for t in range(time)] for row in rows]


def test_embedding(rows):
    """Values, and a gradient that names each row once; NaN elsewhere in the table stays there."""
    layer, rng = PaddedEmbedding(num_rows=NUM_ROWS, dim=DIM), np.random.default_rng(0)
    used = sorted({i for row in rows for i in row})
    table = np.full((NUM_ROWS, DIM), np.nan)
    table[used] = rng.normal(size=(len(used), DIM))
    layer.table.assign(table)
    _optimizer = row_sparse(layer)
    time = max([1, *map(len, rows)])
    expected = np.zeros((len(rows), time, DIM))
    upstream, slope = rng.normal(size=expected.shape), np.zeros((NUM_ROWS, DIM))
    for r, row in enumerate(rows):
        for t, i in enumerate(row):
            expected[r, t] = table[i]
            slope[i] += upstream[r, t]

    @tf.function(input_signature=[SPEC])
    def in_graph(ids):
        with tf.GradientTape() as tape:
            vectors, mask = layer(ids)
        target = tf.constant(upstream, tf.float32)
        return vectors, mask, tape.gradient(vectors, layer.table.value, output_gradients=target)

    for function in (in_graph, in_graph.python_function):
        vectors, mask, gradient = function(ragged(rows))
        assert_array_equal(mask, to_padded(ragged(rows))[1])
        assert_allclose(vectors, expected, rtol=1e-6)
        assert isinstance(gradient, tf.IndexedSlices)
        assert sorted(gradient.indices.numpy().tolist()) == used
        assert_allclose(tf.convert_to_tensor(gradient), slope, rtol=1e-5, atol=1e-6)


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


def test_config_round_trip():
    layer = PaddedEmbedding(num_rows=7, dim=2, initializer="ones", name="vectors")
    restored = PaddedEmbedding.from_config(json.loads(json.dumps(layer.get_config())))
    assert restored.get_config() == layer.get_config()
    assert_array_equal(restored.table, np.ones((7, 2)))


@pytest.mark.parametrize("name", ["num_rows", "dim"])
def test_errors(name):
    with pytest.raises(ConfigError, match=rf"`{name}` must be at least 1. Received: {name}=0"):
        PaddedEmbedding(**{"num_rows": 2, "dim": 2, name: 0})
