"""Sums of equal rows and clipping, against the slow reference."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import optimizers as reference
from tf_charagram.layers._ops.chunked import PADDING
from tf_charagram.layers._ops.row_gradients import sum_equal_rows
from tf_charagram.layers._ops.xla import in_xla
from tf_charagram.optimizers import LazyAdagrad, LazyAdam
from tf_charagram.optimizers.row_sparse import clip_by_global_norm


def slices(rows, gradients, num_rows=6):
    gradients = tf.constant(gradients, tf.float32)
    shape = tf.constant([num_rows, gradients.shape[1]])
    return tf.IndexedSlices(gradients, tf.constant(rows, tf.int32), shape)


@pytest.mark.parametrize("rows", [[3, 1, 3, 3, 0], [2, 0, 1], [5], []])
def test_sum_equal_rows(rows):
    gradients = np.random.default_rng(0).normal(size=(len(rows), 2))
    found = sum_equal_rows(slices(rows, gradients), tf.Variable(tf.zeros([6, 2])))
    distinct, sums = reference.sum_rows(rows, gradients)
    order = np.argsort(found.indices.numpy())
    assert_array_equal(found.indices.numpy()[order], distinct)
    assert_allclose(found.values.numpy()[order], sums, rtol=1e-6, atol=1e-7)
    assert found.dense_shape.numpy().tolist() == [6, 2]


def test_sum_equal_rows_compiled_by_xla():
    """There is a slot for each row; those that are left over, and padding, name no row."""
    rows = [3, PADDING, 1, 3, 3, 0]
    gradients = np.random.default_rng(0).normal(size=(len(rows), 2))
    table = tf.Variable(tf.zeros([6, 2]))

    @tf.function(jit_compile=True, autograph=False)
    def summed(gradient):
        assert in_xla()
        return sum_equal_rows(gradient, table)

    assert not in_xla()
    found = summed(slices(rows, gradients))
    real = [0, 2, 3, 4, 5]
    distinct, sums = reference.sum_rows([rows[i] for i in real], gradients[real])
    order = np.argsort(found.indices.numpy())
    assert found.indices.numpy()[order].tolist() == [*distinct, PADDING, PADDING, PADDING]
    assert_allclose(found.values.numpy()[order][: len(sums)], sums, rtol=1e-6, atol=1e-7)


def test_clip_by_hand():
    """(3, 0) and (4) have norm 5: clipped at 1 all numbers are divided by 5."""
    clipped = clip_by_global_norm([tf.constant([3.0, 0.0]), slices([2], [[4.0]])], 1.0)
    assert_allclose(clipped[0], [0.6, 0.0])
    assert isinstance(clipped[1], tf.IndexedSlices)
    assert_allclose(clipped[1].values, [[0.8]])
    assert clipped[1].indices.numpy().tolist() == [2]


@pytest.mark.parametrize("clip_norm", [0.5, 3.0, 1e6])
def test_clip_equals_reference(clip_norm):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(3, 3))]
    gradients = [slices([5, 0, 2, 1], arrays[0]), *(tf.constant(a, tf.float32) for a in arrays[1:])]
    clipped = clip_by_global_norm(gradients, clip_norm)
    for found, expected in zip(
        clipped, reference.clip_by_global_norm(arrays, clip_norm), strict=True
    ):
        values = found.values if isinstance(found, tf.IndexedSlices) else found
        assert_allclose(values, expected, rtol=1e-5)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e30])
def test_a_norm_that_is_not_finite(value):
    with pytest.raises(tf.errors.InvalidArgumentError, match="norm of the gradient is not finite"):
        clip_by_global_norm([tf.constant([1.0, value])], 1.0)


@pytest.mark.parametrize(
    "clip", [{}, {"clipnorm": 0.5}, {"global_clipnorm": 0.5}, {"clipvalue": 0.3}]
)
@pytest.mark.parametrize(
    ("lazy", "dense"),
    [(LazyAdam, keras.optimizers.Adam), (LazyAdagrad, keras.optimizers.Adagrad)],
)
def test_repeated_ids_count_as_their_sum(lazy, dense, clip):
    """Keras squares and clips each occurrence: 0.10 where the dense gradient moves by 0.30."""
    tables = []
    for optimizer_class in (lazy, dense):
        table = keras.Variable(np.zeros((2, 2), np.float32))
        optimizer = optimizer_class(0.1, **clip)
        optimizer.build([table])
        for step in range(3):
            gradient = slices([0, 0, 1], [[1.0, 0.2], [-0.6, 0.4], [0.5, step]], num_rows=2)
            if optimizer_class is dense:
                gradient = tf.convert_to_tensor(gradient)
            optimizer.apply([gradient], [table])
        tables.append(table.numpy())
    assert_allclose(*tables, atol=1e-5)
