"""Cosines against the slow reference, zero vectors included."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import paraphrase as reference
from tf_charagram.losses import normalize_rows, paired_cosine


@pytest.mark.parametrize("seed", range(5))
def test_paired_cosine(seed):
    left, right = np.random.default_rng(seed).normal(size=(2, 7, 4)).astype(np.float32)
    left[2] = right[3] = left[4] = right[4] = 0.0
    left_, right_ = tf.constant(left), tf.constant(right)
    with tf.GradientTape() as tape:
        tape.watch([left_, right_])
        cosines = paired_cosine(left_, right_)
    pairs = list(zip(left, right, strict=True))
    assert_allclose(cosines, [reference.cosine(u, v) for u, v in pairs], atol=1e-6)
    gradients = tape.gradient(cosines, [left_, right_])
    assert_allclose(gradients[0], [reference.cosine_gradient(u, v) for u, v in pairs], atol=1e-5)
    assert_allclose(gradients[1], [reference.cosine_gradient(v, u) for u, v in pairs], atol=1e-5)


def test_normalize_rows_by_hand():
    """(3, 4) has length 5; a length of 1e-7 counts as zero, one of 1e-5 does not."""
    rows = tf.constant([[3.0, 4.0], [0.0, 0.0], [1e-7, 0.0], [1e-5, 0.0], [3e18, 4e18]])
    expected = [[0.6, 0.8], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.6, 0.8]]
    assert_allclose(normalize_rows(rows), expected, rtol=1e-6)
