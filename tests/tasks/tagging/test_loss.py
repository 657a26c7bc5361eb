"""The loss of a tagger against hand-worked numbers and the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import tagger as reference
from tf_charagram.tasks.tagging.loss import tagging_loss


def loss_and_gradient(logits, labels):
    logits = tf.constant(logits, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tagging_loss(logits, tf.constant(labels, tf.int32))
    return float(loss), tape.gradient(loss, logits).numpy()


def test_by_hand():
    """Probabilities (1/4, 3/4) and (1/2, 1/2): (-log 3/4 - log 1/2) / 2 = (0.28768 + 0.69315) / 2.

    The gradient is (probabilities - one-hot) / 2: (1/4, -1/4) / 2 and (-1/2, 1/2) / 2. A third
    token without a tag changes neither.
    """
    logits = [[0.0, np.log(3.0)], [5.0, 5.0], [9.0, -9.0]]
    for count, labels in ((2, [1, 0]), (3, [1, 0, -1])):
        loss, gradient = loss_and_gradient(logits[:count], labels)
        assert loss == pytest.approx(0.490415, abs=1e-5)
        expected = [[0.125, -0.125], [-0.25, 0.25], [0.0, 0.0]][:count]
        assert_allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("labels", [[], [-1], [-1, -1, -1]], ids=str)
def test_no_known_tag(labels):
    loss, gradient = loss_and_gradient(np.ones((len(labels), 4)), labels)
    assert loss == 0.0 and not gradient.any()


@pytest.mark.parametrize("seed", range(5))
def test_equals_reference(seed):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(scale=5, size=(9, 4)), rng.integers(-1, 4, size=9)
    loss, _ = loss_and_gradient(logits, labels)
    assert loss == pytest.approx(reference.loss(logits, labels), rel=1e-5)
