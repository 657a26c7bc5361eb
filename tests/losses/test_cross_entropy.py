"""Cross entropy against the slow reference, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import supervised as reference
from tests.reference.paraphrase import numerical_gradient
from tf_charagram.losses import cross_entropy


@pytest.mark.parametrize("weights", [None, [1.0, 1.0, 1.0], [0.5, 3.0, 0.0]])
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient(weights, seed):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(scale=2.0, size=(6, 3)), [0, 1, 2, 1, 0, 0]

    def expected(logits):
        return reference.label_loss([reference.softmax(row) for row in logits], labels, weights)

    class_weights = None if weights is None else tf.constant(weights)
    inputs = tf.constant(logits, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = cross_entropy(inputs, tf.constant(labels), class_weights)
    assert float(loss) == pytest.approx(expected(logits), rel=1e-5)
    gradient = tape.gradient(loss, inputs)
    assert_allclose(gradient, numerical_gradient(expected, logits), rtol=1e-3, atol=1e-5)


def test_large_logits_are_finite():
    logits = tf.constant([[1e4, -1e4]])
    assert_allclose(cross_entropy(logits, tf.constant([1])), 2e4)
    assert float(cross_entropy(logits, tf.constant([0]))) == 0.0


def test_nothing_counts():
    no_labels = tf.zeros([0], tf.int32)
    assert float(cross_entropy(tf.zeros([0, 3]), no_labels)) == 0.0
    assert float(cross_entropy(tf.zeros([1, 2]), tf.constant([0]), tf.constant([0.0, 1.0]))) == 0.0
