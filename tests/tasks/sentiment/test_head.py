"""The head of single texts against the formulas."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.layers.heads import check_adapt, check_config, check_not_saturated, randomized
from tests.reference import supervised as reference
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.sentiment.head import TextHead


def make(**settings):
    return TextHead(**{"dim": 4, "labels": ("bad", "good"), "hidden_dim": 3, **settings})


def test_equals_the_formulas():
    head, parameters = randomized(make())
    vectors = np.random.default_rng(1).normal(size=(7, 4))
    probabilities = tf.nn.softmax(head(vectors.astype(np.float32)))
    expected = [reference.text_output(vector, parameters) for vector in vectors]
    assert_allclose(probabilities, expected, rtol=1e-4, atol=1e-6)


def test_config():
    check_config(make)


@pytest.mark.parametrize("factor", [0.01, 20.0])
def test_adapt(factor):
    check_adapt(make(), factor)


@pytest.mark.parametrize("dim", [30, 300, 2400])
def test_not_saturated(dim):
    check_not_saturated(make(dim=dim, hidden_dim=50))


def test_time_distributed():
    head = make()
    vectors = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    inputs = keras.Input((3, 4))
    model = keras.Model(inputs, keras.layers.TimeDistributed(head)(inputs))
    assert_allclose(model(vectors)[:, 1], head(vectors[:, 1]), rtol=1e-6)


def test_errors():
    with pytest.raises(ConfigError, match=r"`labels` must be at least 2, all different. Received"):
        make(labels=["good"])
    with pytest.raises(ConfigError, match=r"`dim` must be at least 1. Received: dim=0"):
        make(dim=0)
