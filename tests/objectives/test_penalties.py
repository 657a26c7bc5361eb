"""L2 as a term of the gradient, against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import optimizers as reference
from tf_charagram.objectives.penalties import add_l2_gradient

ROWS = [4, 0, 2]


@pytest.fixture
def table():
    return tf.Variable(np.random.default_rng(0).normal(size=(6, 3)), dtype=tf.float32)


@pytest.fixture
def sparse():
    values = tf.constant(np.random.default_rng(1).normal(size=(3, 3)), tf.float32)
    return tf.IndexedSlices(values, tf.constant(ROWS), tf.constant([6, 3]))


def test_by_hand():
    """Weights (1, -2), strength 0.1: (10, 10) + (0.1, -0.2)."""
    gradient = add_l2_gradient(tf.constant([10.0, 10.0]), tf.Variable([1.0, -2.0]), 0.1)
    assert_allclose(gradient, [10.1, 9.8])


def test_dense_gradient(table):
    gradient = tf.ones([6, 3])
    for dense in (False, True):
        found = add_l2_gradient(gradient, table, 0.3, dense=dense)
        assert_allclose(found, 1 + reference.l2_gradient(table.numpy(), 0.3), rtol=1e-6)


def test_touched_rows(table, sparse):
    found = add_l2_gradient(sparse, table, 0.3)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.numpy().tolist() == ROWS
    expected = tf.convert_to_tensor(sparse) + reference.l2_gradient(table.numpy(), 0.3, rows=ROWS)
    assert_allclose(tf.convert_to_tensor(found), expected, rtol=1e-5, atol=1e-6)


def test_all_rows(table, sparse):
    found = add_l2_gradient(sparse, table, 0.3, dense=True)
    assert isinstance(found, tf.Tensor)
    expected = tf.convert_to_tensor(sparse) + reference.l2_gradient(table.numpy(), 0.3)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dense", [False, True])
def test_strength_0_changes_nothing(table, sparse, dense):
    assert add_l2_gradient(sparse, table, 0.0, dense=dense) is sparse
