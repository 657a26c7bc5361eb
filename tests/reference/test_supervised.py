"""Checks the heads, targets and losses of the supervised tasks against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import relatedness, supervised

OUTPUT = {
    "Wp": np.array([[0.0, 4 / 3 * np.log(2), 0.0], [0.0, 0.0, 2 * np.log(5)]]),
    "bp": np.array([np.log(2), 0.0, 0.0]),
}
"""Makes logits log 2, log 2 and log 5 of hs = (3/4, 1/2): the output is (2, 2, 5) / 9."""


def test_pair_head_by_hand():
    """Products (1, 2) * (3, -1) = (3, -2), distances (2, 3); all but b in units of log 2.

    Products times W*: (3 - 2, -2) = (1, -2). Distances times W+: (4 - 3, 2 + 3) = (1, 5).
    Together (2, 3), that is log 4 and log 8; b makes log 3 and 0 of them: hs = (3/4, 1/2).
    The mean score of (2, 2, 5) / 9 is (2 + 4 + 15) / 9 = 7/3.
    """
    p = OUTPUT | {
        "W*": np.log(2) * np.array([[1.0, 0.0], [1.0, 1.0]]),
        "W+": np.log(2) * np.array([[2.0, 1.0], [-1.0, 1.0]]),
        "b": np.log([3 / 4, 1 / 8]),
    }
    output = supervised.pair_output(np.array([1.0, 2.0]), np.array([3.0, -1.0]), p)
    assert_allclose(output, [2 / 9, 2 / 9, 5 / 9])
    assert supervised.score(output) == pytest.approx(7 / 3)


def test_text_head_by_hand():
    """(1, 2) times W is (1, 1 - 2) log 3, and with b (1, 0) log 3: hs = (3/4, 1/2)."""
    p = OUTPUT | {
        "W": np.log(3) * np.array([[1.0, 1.0], [0.0, -1.0]]),
        "b": np.array([0.0, np.log(3)]),
    }
    output = supervised.text_output(np.array([1.0, 2.0]), p)
    assert_allclose(output, [2 / 9, 2 / 9, 5 / 9])


@pytest.mark.parametrize("target", [supervised.target, relatedness.spread])
def test_target_by_hand(target):
    """2 * 3/4 + 3 * 1/4 = 2.25."""
    assert_allclose(target(2.25, 4), [0, 3 / 4, 1 / 4, 0])
    assert_allclose(target(1.0, 2), [1, 0])
    assert_allclose(target(2.0, 2), [0, 1])


@pytest.mark.parametrize("softmax", [supervised.softmax, relatedness.softmax])
def test_softmax_by_hand(softmax):
    """e^0 and e^log 3 are 1 and 3 of 4, wherever 0 is."""
    for offset in (0.0, 1000.0, -1000.0):
        assert_allclose(softmax(np.array([0.0, np.log(3)]) + offset), [1 / 4, 3 / 4])


def test_relatedness_by_hand():
    """Score 1.5 is (1/2, 1/2) and score 2 is (0, 1).

    From (1/4, 3/4): 1/2 log 2 + 1/2 log(2/3) = 1/2 log(4/3) = 0.1438410.
    From (1/2, 1/2): 0 + log 2 = 0.6931472. Their mean is 0.4184941.
    The gradient of the logits is half of (1/4 - 1/2, 3/4 - 1/2) and of (1/2 - 0, 1/2 - 1).
    """
    outputs = [np.array([1 / 4, 3 / 4]), np.array([1 / 2, 1 / 2])]
    assert supervised.kl_loss(outputs, [1.5, 2.0]) == pytest.approx(0.4184941)
    logits = np.array([[0.0, np.log(3)], [5.0, 5.0]])
    targets = np.array([[1 / 2, 1 / 2], [0.0, 1.0]])
    assert relatedness.loss(logits, targets) == pytest.approx(0.4184941)
    gradient = relatedness.loss_gradient(logits, targets)
    assert_allclose(gradient, [[-1 / 8, 1 / 8], [1 / 4, -1 / 4]])


def test_label_loss_by_hand():
    """-log 1/4 and -log 1/2 are 2 and 1 times log 2.

    Their mean is 3/2 log 2; if label 0 weighs 3 and label 1 weighs 1, (3 * 2 + 1 * 1) / 4 log 2.
    """
    outputs = [np.array([1 / 4, 3 / 4]), np.array([1 / 2, 1 / 2])]
    assert supervised.label_loss(outputs, [0, 1]) == pytest.approx(3 / 2 * np.log(2))
    weighted = supervised.label_loss(outputs, [0, 1], [3.0, 1.0])
    assert weighted == pytest.approx(7 / 4 * np.log(2))


def test_gradients_by_hand():
    """d (a^2 b) = (2 a b, a^2) = (12, 4) at a = 2, b = 3."""
    p = {"a": np.array([2.0]), "b": np.array([3.0])}
    found = supervised.gradients(lambda p: float(p["a"][0] ** 2 * p["b"][0]), p)
    assert_allclose(found["a"], [12.0])
    assert_allclose(found["b"], [4.0])
