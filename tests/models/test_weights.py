"""Weights that take over arrays without a copy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.models._storage.weights import _aligned_empty, _shared_tensor


@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 4), (7, 5), (1_100_001, 3)])
def test_a_variable_takes_over_an_array(shape):
    array = _aligned_empty(shape)
    array[...] = np.arange(array.size).reshape(shape)
    expected = array.copy()
    variable = tf.Variable(tf.zeros(shape))
    variable.assign(_shared_tensor(array))
    assert array.ctypes.data % 64 == 0 or not array.size
    del array
    np.testing.assert_array_equal(variable, expected)
    variable.assign_add(tf.ones(shape))
    np.testing.assert_array_equal(variable, expected + 1)


def test_nothing_is_copied_until_rows_are_updated():
    array = _aligned_empty([100, 3])
    array[...] = 1
    variable = tf.Variable(tf.zeros([100, 3]))
    variable.assign(_shared_tensor(array))
    assert np.shares_memory(np.asarray(memoryview(variable.read_value())), array)
    variable.scatter_update(tf.IndexedSlices(tf.fill([1, 3], 5.0), [7]))
    np.testing.assert_array_equal(array, np.ones([100, 3]))
    np.testing.assert_array_equal(variable[7], [5, 5, 5])
    np.testing.assert_array_equal(variable[8], [1, 1, 1])
