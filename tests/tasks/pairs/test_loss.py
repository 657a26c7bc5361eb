"""The targets and the loss of relatedness against the slow reference, value and gradient."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import relatedness as reference
from tf_charagram.tasks.pairs.model import expected_score, relatedness_loss, spread_scores


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
    expected = [reference.spread(score, num_classes) for score in scores]
    assert_allclose(found, expected, atol=1e-6)
    assert_allclose(tf.reduce_sum(found, axis=1), np.ones(len(scores)), atol=1e-6)
    # The mean of a target is its score.
    assert_allclose(found.numpy() @ np.arange(1, num_classes + 1), scores, rtol=1e-6)


def test_spread_of_integers_and_of_nothing():
    assert_array_equal(spread_scores([1, 2], 2), np.eye(2))
    assert spread_scores(np.empty(0), 5).shape == (0, 5)


@pytest.mark.parametrize("num_classes", [2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_equals_reference(seed, num_classes):
    random = np.random.default_rng(seed)
    logits = 3 * random.normal(size=(8, num_classes))
    # Whole scores have a target with all its weight in one place.
    scores = np.round(random.uniform(1, num_classes, 8), 1)
    scores[:2] = [1, num_classes]
    targets = np.array([reference.spread(score, num_classes) for score in scores])
    loss, gradient = loss_and_gradient(logits, targets)
    assert loss == pytest.approx(reference.loss(logits, targets), rel=1e-5)
    assert_allclose(gradient, reference.loss_gradient(logits, targets), atol=1e-6)


def test_the_loss_of_the_right_distribution_is_0():
    targets = spread_scores([1.2, 2.5, 3.9], 4)
    loss, gradient = loss_and_gradient(np.log(np.maximum(targets, 1e-30)), targets)
    assert loss == pytest.approx(0, abs=1e-6)
    assert_allclose(gradient, np.zeros((3, 4)), atol=1e-6)


def test_huge_logits():
    """The softmax is (1, 0): KL of (0.5, 0.5) is 0.5 * 2000 - log 2, and nothing overflows."""
    loss, gradient = loss_and_gradient([[1000.0, -1000.0]], [[0.5, 0.5]])
    assert loss == pytest.approx(1000 - np.log(2), rel=1e-6)
    assert_allclose(gradient, [[0.5, -0.5]])


def test_an_empty_batch():
    loss, gradient = loss_and_gradient(np.zeros((0, 5)), np.zeros((0, 5)))
    assert loss == 0.0 and gradient.shape == (0, 5)


def test_expected_score():
    logits = np.random.default_rng(0).normal(size=(6, 5))
    expected = [reference.softmax(row) @ np.arange(1, 6) for row in logits]
    assert_allclose(expected_score(tf.constant(logits, tf.float32)), expected, rtol=1e-5)
    # The scores that targets stand for come back.
    scores = [1.0, 2.25, 5.0]
    found = expected_score(tf.math.log(tf.maximum(spread_scores(scores, 5), 1e-30)))
    assert_allclose(found, scores, rtol=1e-5)
