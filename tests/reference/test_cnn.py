"""Checks the convolution and its pooling against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import cnn

STEPS = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 4.0]])

ONE = np.array([[[1.0, 0.0], [1.0, -1.0]]]), np.array([0.0, 1.0])
"""Two filters of width 1: x[0] + x[1], and 1 - x[1]."""

TWO = np.array([[[1.0], [0.0]], [[0.0], [2.0]]]), np.array([-2.0])
"""One filter of width 2: x[0] + 2 y[1] - 2, y the step after x."""


@pytest.mark.parametrize(
    ("f", "pooling", "expected"),
    [
        ("linear", "max", [3, 2, 9]),
        ("linear", "sum", [7, -2, 6]),
        ("relu", "max", [3, 2, 9]),
        ("relu", "sum", [7, 2, 9]),
    ],
)
def test_pooled_by_hand(f, pooling, expected):
    """Width 1: 1 + 2, 3 - 1, -2 + 4 = 3, 2, 2 and 1 - 2, 1 + 1, 1 - 4 = -1, 2, -3.

    Width 2: 1 + 2 (-1) - 2 = -3 and 3 + 2 (4) - 2 = 9. The sums are 7, -2 and 6; relu takes
    -1, -3 and -3 out of them.
    """
    assert_allclose(cnn.pooled(STEPS, [ONE, TWO], f, pooling), expected)


@pytest.mark.parametrize(("pooling", "expected"), [("max", 4 / 5), ("sum", 7 / 5)])
def test_tanh_comes_before_pooling(pooling, expected):
    """Tanh(log 2) = (4 - 1) / (4 + 1) = 3/5 and tanh(log 3) = (9 - 1) / (9 + 1) = 4/5."""
    identity = np.ones((1, 1, 1)), np.zeros(1)
    inputs = np.log([[2.0], [3.0]])
    assert_allclose(cnn.pooled(inputs, [identity], "tanh", pooling), [expected])


@pytest.mark.parametrize("pooling", ["max", "sum"])
def test_short_inputs_by_hand(pooling):
    """(1, 2) alone: 1 + 2, 1 - 2, and with zeros behind it 1 + 2 (0) - 2."""
    assert_allclose(cnn.pooled(STEPS[:1], [ONE, TWO], pooling=pooling), [3, -1, -1])
    assert_allclose(cnn.pooled(STEPS[:0], [ONE, TWO], pooling=pooling), [0, 0, 0])
