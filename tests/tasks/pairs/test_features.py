"""What pairs of vectors are compared by."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from numpy.testing import assert_array_equal

from tf_charagram.tasks.pairs.features import pair_features


def test_by_hand():
    product, distance = pair_features(tf.constant([[1.0, -2.0]]), tf.constant([[4.0, 3.0]]))
    assert_array_equal(product, [[4.0, -6.0]])
    assert_array_equal(distance, [[3.0, 5.0]])


def test_sides_can_be_swapped():
    left, right = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    for one, other in zip(pair_features(left, right), pair_features(right, left), strict=True):
        assert_array_equal(one, other)


def test_equal_vectors_have_no_distance_and_a_finite_gradient():
    vectors = tf.constant([[1.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(vectors)
        _, distance = pair_features(vectors, tf.constant([[1.0, 0.0]]))
    assert_array_equal(distance, [[0.0, 0.0]])
    assert_array_equal(tape.gradient(distance, vectors), [[0.0, 0.0]])
