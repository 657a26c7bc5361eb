"""Gradient descent with momentum against NumPy and Keras, on dense and on sparse gradients."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.optimizers.test_lazy import SHAPE, built
from tests.reference import optimizers as reference
from tf_charagram.optimizers import MomentumSgd


def stepper(optimizer, table, in_graph):
    def step(gradients, rows):
        optimizer.apply([tf.IndexedSlices(gradients, rows, tf.constant(SHAPE))], [table])

    specs = [tf.TensorSpec([None, SHAPE[1]]), tf.TensorSpec([None], tf.int32)]
    return tf.function(step, input_signature=specs) if in_graph else step


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_sparse_gradients(in_graph, momentum, seed):
    """Rows are named several times, once or never: those that were named before move on."""
    rng = np.random.default_rng(seed)
    optimizer, expected = MomentumSgd(0.2, momentum), reference.MomentumSgd(0.2, momentum)
    theirs = keras.optimizers.SGD(0.2, momentum)
    w = rng.normal(size=SHAPE)
    (table,), (other,) = built(optimizer, w), built(theirs, w)
    step, their_step = stepper(optimizer, table, in_graph), stepper(theirs, other, in_graph)
    for size in (3, 1, 0, 7, 2):
        rows, gradients = rng.integers(0, 5, size=size), rng.normal(size=(size, SHAPE[1]))
        dense = np.zeros(SHAPE)
        np.add.at(dense, rows, gradients)
        w = expected.step(w, dense)
        arguments = tf.constant(gradients, tf.float32), tf.constant(rows, tf.int32)
        step(*arguments)
        assert_allclose(table, w, rtol=1e-4, atol=1e-5)
        if size and len(set(rows)) == size:
            their_step(*arguments)
        else:
            theirs.apply([tf.constant(dense, tf.float32)], [other])
        assert_allclose(table, other, rtol=1e-4, atol=1e-5)
    assert int(optimizer.iterations) == 5


@pytest.mark.parametrize("nesterov", [False, True])
def test_dense_gradients(nesterov):
    rng = np.random.default_rng(0)
    optimizer = MomentumSgd(0.1, 0.9, nesterov=nesterov)
    theirs = keras.optimizers.SGD(0.1, 0.9, nesterov=nesterov)
    values = [rng.normal(size=shape) for shape in (SHAPE, (3,))]
    ours, others = built(optimizer, *values), built(theirs, *values)
    for _ in range(4):
        gradients = [tf.constant(rng.normal(size=value.shape), tf.float32) for value in values]
        optimizer.apply(gradients, ours)
        theirs.apply(gradients, others)
        for one, other in zip(ours, others, strict=True):
            assert_allclose(one, other, rtol=1e-5, atol=1e-6)
