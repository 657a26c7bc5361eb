"""What the tests of heads share: what every head must keep to."""

from __future__ import annotations

import json

import numpy as np
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import supervised as reference

NAMES = {
    "product_kernel": "W*", "distance_kernel": "W+", "vector_kernel": "W", "bias": "b",
    "output_kernel": "Wp", "output_bias": "bp",
}  # fmt: skip


def randomized(head, seed=0):
    """Returns a head with random weights, and these by the names of the reference."""
    rng = np.random.default_rng(seed)
    for weight in head.trainable_variables:
        weight.assign(rng.normal(size=weight.shape))
    return head, {NAMES[w.name]: w.numpy().astype(float) for w in head.trainable_variables}


def check_config(make):
    """The configuration goes through JSON, and the seed fixes the weights."""
    head = make()
    config = json.loads(json.dumps(head.get_config()))
    restored = type(head).from_config(config)
    assert restored.get_config() == head.get_config()
    for name in config:
        assert hasattr(head, name) or name == "dtype", f"no attribute for the argument {name}"
    paths = [weight.path for weight in head.weights]
    assert len(set(paths)) == len(paths)
    for one, other in zip(head.weights, restored.weights, strict=True):
        assert one.path == other.path
        assert_array_equal(one, other)


def check_adapt(head, factor):
    """Vectors of any size give the logits that vectors of size 1 do."""
    vectors = np.random.default_rng(0).normal(size=(40, head.dim)).astype(np.float32)
    vectors /= np.sqrt(np.mean(np.square(vectors)))
    head.adapt(vectors)
    assert_allclose(head.scale, 1.0, rtol=1e-5)
    expected = head(vectors).numpy()
    head.adapt(factor * vectors)
    assert_allclose(head.scale, factor, rtol=1e-5)
    assert_allclose(head(factor * vectors), expected, rtol=1e-4, atol=1e-5)
    for nothing in (vectors[:0], np.zeros((3, head.dim)), np.full((1, head.dim), np.inf)):
        head.adapt(nothing)
        assert_allclose(head.scale, factor, rtol=1e-5)


def check_not_saturated(head):
    """At the start, the sigmoid of each example is near its middle, for vectors of any width."""
    vectors = np.random.default_rng(0).normal(size=(200, head.dim)).astype(np.float32)
    features = head.features(tf.constant(vectors))
    inside = sum(f @ k for f, k in zip(features, head.kernels, strict=True))
    hidden = reference.sigmoid(inside.numpy())
    assert hidden.min() > 0.1 and hidden.max() < 0.9
    assert hidden.std(axis=0).min() > 0.01
