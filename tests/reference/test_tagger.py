"""Checks the tagger against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import tagger

VECTORS = {"a": np.log([3.0]), "b": np.log([2.0]), "A": np.log([2.0])}
WEIGHTS = {
    "forward_K": np.array([[0.0, 0.0, 1.0, 0.0]]),
    "backward_K": np.array([[0.0, 0.0, -1.0, 0.0]]),
    **{f"{side}_R": np.zeros((1, 4)) for side in ("forward", "backward")},
    **{f"{side}_b": np.zeros(4) for side in ("forward", "backward")},
    "H": np.array([[2.0], [-4.0]]),
    "bh": np.array([-1.0]),
    "S": np.array([[1.0, -2.0]]),
    "bs": np.array([0.5, 0.0]),
}
"""All gates are 1/2: c_t = 1/2 c_{t-1} + 1/2 tanh(+-x_t) and h_t = 1/2 tanh(c_t).

Tanh(log 3) = 4/5 and tanh(log 2) = 3/5.
"""


def test_logits_by_hand():
    """The sentence a b, one without words, and the sentence b.

    Forward c: a 2/5, b 1/2 * 2/5 + 3/10 = 1/2; alone 3/10.
    Backward c: b -3/10, then a 1/2 (-3/10) - 2/5 = -11/20; alone -3/10.
    2 h_forward - 4 h_backward - 1, then tanh:
    a  tanh 0.4 + 2 tanh 0.55 - 1 = 0.3799490 + 2 * 0.5005202 - 1 = 0.3809894, 0.3635664;
    b  tanh 0.5 + 2 tanh 0.3 - 1 = 0.4621172 + 2 * 0.2913126 - 1 = 0.0447424, 0.0447125;
    b  tanh 0.3 + 2 tanh 0.3 - 1 = 3 * 0.2913126 - 1 = -0.1260622, -0.1253986.
    The first tag has that plus 0.5, the second -2 times that.
    """
    found = tagger.logits([["a", "b"], [], ["b"]], VECTORS.get, WEIGHTS)
    y = np.array([0.3635664, 0.0447125, -0.1253986])
    assert_allclose(found, np.stack([y + 0.5, -2 * y], axis=1), atol=2e-7)
    assert tagger.logits([[]], VECTORS.get, WEIGHTS).shape == (0, 2)


def test_a_capital_and_a_peephole_by_hand():
    """The input of A is (log 2, 1) and g log 2 + log 3/2 = log 3: c = 2/5; that of b as before.

    Forward, 5/2 log 3 from the cell makes o = sigmoid(log 3) = 3/4: h = 3/4 tanh(2/5).
    Backward, g is -log 2 and o is 1/2: h = -1/2 tanh(3/10).
    2 h_forward - 4 h_backward - 1 = 3/2 * 0.3799490 + 2 * 0.2913126 - 1 = 0.1525487, of which tanh
    is 0.1513763.
    """
    capital = {"forward_K": [0.0, 0.0, np.log(3 / 2), 0.0], "backward_K": np.zeros(4)}
    weights = WEIGHTS | {name: np.vstack([WEIGHTS[name], row]) for name, row in capital.items()}
    weights["forward_p"] = np.array([[0.0], [0.0], [5 / 2 * np.log(3)]])
    found = tagger.logits([["A"]], VECTORS.get, weights, use_capitals=True)
    assert_allclose(found, [[0.1513763 + 0.5, -2 * 0.1513763]], atol=2e-7)


def test_loss_by_hand():
    """-log 3/4, and -log 1/2 of two equal scores, however large; label -1 doesn't count.

    (0.2876821 + 0.6931472) / 2 = 0.4904146.
    """
    scores = np.array([[0.0, np.log(3)], [5.0, -5.0], [1000.0, 1000.0]])
    assert tagger.loss(scores, [1, -1, 0]) == pytest.approx(0.4904146)
    assert tagger.loss(scores, [-1, -1, -1]) == 0.0
