"""The targets of relatedness against the slow reference, and its loss where numbers are large."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import supervised as reference
from tf_charagram.tasks.labels._heads.relatedness import (
    expected_score,
    relatedness_loss,
    spread_scores,
)


def loss_and_gradient(logits, targets):
    logits = tf.constant(logits, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = relatedness_loss(logits, tf.constant(targets, tf.float32))
    return float(loss), tape.gradient(loss, logits).numpy()


@pytest.mark.parametrize("num_classes", [2, 5, 11])
def test_spread_equals_reference(num_classes):
    scores = np.concatenate(
        [np.arange(1, num_classes + 1), np.random.default_rng(0).uniform(1, num_classes, 50)]
    )
    found = spread_scores(scores, num_classes)
    assert found.dtype == tf.float32
    assert_allclose(found, [reference.target(y, num_classes) for y in scores], atol=1e-6)
    # The scores that targets stand for come back.
    assert_allclose(expected_score(tf.math.log(tf.maximum(found, 1e-30))), scores, rtol=1e-5)


def test_huge_logits():
    """The softmax is (1, 0): KL of (0.5, 0.5) is 0.5 * 2000 - log 2, and nothing overflows."""
    loss, gradient = loss_and_gradient([[1000.0, -1000.0]], [[0.5, 0.5]])
    assert loss == pytest.approx(1000 - np.log(2), rel=1e-6)
    assert_allclose(gradient, [[0.5, -0.5]])


def test_an_empty_batch():
    loss, gradient = loss_and_gradient(np.zeros((0, 5)), np.zeros((0, 5)))
    assert loss == 0.0 and gradient.shape == (0, 5)
