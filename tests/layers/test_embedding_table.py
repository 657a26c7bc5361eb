"""Tables in bfloat16: the same numbers as of a table in float32 that was rounded."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.contracts import ragged, row_sparse
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.layers.padding import PaddedEmbedding
from tf_charagram.layers.ragged_sum import RaggedEmbeddingSum

LAYERS = pytest.mark.parametrize("layer_class", [RaggedEmbeddingSum, PaddedEmbedding])
ROWS = [[1, 3, 3], [], [5]]


def both(layer_class):
    """Returns a layer with a rounded table, and one whose table is in bfloat16."""
    with tables_in("bfloat16"):
        small = layer_class(num_rows=6, dim=3)
    layer = layer_class(num_rows=6, dim=3)
    layer.table.assign(tf.cast(small.table.value, tf.float32))
    return layer, small


def values(outputs):
    return outputs if tf.is_tensor(outputs) else outputs[0]


def test_starts_from_rounded_numbers():
    initializer = keras.initializers.RandomUniform(-0.05, 0.05, seed=3)
    options = {"num_rows": 6, "dim": 3, "initializer": initializer, "name": "sum"}
    layer = RaggedEmbeddingSum(**options)
    with tables_in("bfloat16"):
        small = RaggedEmbeddingSum(**options)
        with tables_in("float32"):
            assert RaggedEmbeddingSum(num_rows=6, dim=3).table.dtype == "float32"
    assert RaggedEmbeddingSum(num_rows=6, dim=3).table.dtype == "float32"
    assert small.table.dtype == "bfloat16" and small.get_config() == layer.get_config()
    assert_array_equal(small.table.value, tf.cast(layer.table.value, tf.bfloat16))


def test_ends_after_an_error():
    with pytest.raises(ZeroDivisionError), tables_in("bfloat16"):
        1 / 0  # noqa: B018
    assert RaggedEmbeddingSum(num_rows=2, dim=3).table.dtype == "float32"


@LAYERS
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("is_row_sparse", [False, True])
def test_computes_in_float32(layer_class, training, is_row_sparse):
    found = []
    for layer in both(layer_class):
        optimizer = row_sparse(layer) if is_row_sparse else None
        with tf.GradientTape() as tape:
            outputs = values(layer(ragged(ROWS), training=training))
            loss = tf.reduce_sum(outputs * tf.range(3.0))
        gradient = tape.gradient(loss, layer.table.value)
        assert outputs.dtype == tf.float32
        if training:
            assert isinstance(gradient, tf.IndexedSlices) == is_row_sparse
        found.append((outputs, tf.convert_to_tensor(tf.cast(gradient, tf.float32))))
        del optimizer
    for expected, small in zip(*found, strict=True):
        # All numbers are small integers, or sums of three numbers of bfloat16.
        np.testing.assert_allclose(small, expected, rtol=1e-6)
