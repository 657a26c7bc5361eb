"""Tables in huge pages keep their numbers."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.layers.memory import aligned_empty, shared_tensor, use_huge_pages


@pytest.mark.parametrize("num_rows", [0, 1, 7_000, 100_000])
def test_numbers_stay(num_rows):
    values = np.random.default_rng(0).normal(size=(num_rows, 75)).astype(np.float32)
    table = tf.Variable(values)
    use_huge_pages(table)
    np.testing.assert_array_equal(table, values)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 4), (7, 5), (1_100_001, 3)])
def test_a_variable_takes_over_an_array(shape):
    array = aligned_empty(shape)
    array[...] = np.arange(array.size).reshape(shape)
    expected = array.copy()
    variable = tf.Variable(tf.zeros(shape))
    variable.assign(shared_tensor(array))
    assert array.ctypes.data % 64 == 0 or not array.size
    del array
    np.testing.assert_array_equal(variable, expected)
    variable.assign_add(tf.ones(shape))
    np.testing.assert_array_equal(variable, expected + 1)


def test_nothing_is_copied_until_rows_are_updated():
    array = aligned_empty([100, 3])
    array[...] = 1
    variable = tf.Variable(tf.zeros([100, 3]))
    variable.assign(shared_tensor(array))
    assert np.shares_memory(np.asarray(memoryview(variable.read_value())), array)
    variable.scatter_update(tf.IndexedSlices(tf.fill([1, 3], 5.0), [7]))
    np.testing.assert_array_equal(array, np.ones([100, 3]))
    np.testing.assert_array_equal(variable[7], [5, 5, 5])
    np.testing.assert_array_equal(variable[8], [1, 1, 1])
