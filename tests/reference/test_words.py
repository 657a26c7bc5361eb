"""Checks the word encoders of the reference against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import words

W = np.array([[1.0, 2.0], [3.0, -4.0]])
TWO = {"W": W, "Wx": np.eye(2), "Wh": 2.0 * np.eye(2), "b": np.array([0.5, 0.0])}


def test_average():
    """(1 + 3 + 3) / 3 and (2 - 4 - 4) / 3."""
    assert_allclose(words.word_average([0, 1, 1], {"W": W}), [7 / 3, -2])


def test_rnn():
    """h1 = (1.5, 2); h2 = (3, -4) + 2 h1 + (0.5, 0) = (6.5, 0), halved for two words."""
    assert_allclose(words.rnn("linear", True)([0, 1], TWO), [3.25, 0.0])
    assert_allclose(words.rnn("relu")([1], TWO), [3.5, 0.0])


def test_lstm_without_weights():
    """All gates 1/2, nothing to write: the state stays 0 and Gran halves the word vectors."""
    p = {"W": W, "Wx": np.zeros((2, 8)), "Wh": np.zeros((2, 8)), "b": np.zeros(8)}
    p |= {"P": np.ones((3, 2)), "Gx": np.zeros((2, 2)), "Gh": np.ones((2, 2)), "g": np.zeros(2)}
    assert_allclose(words.lstm(True)([0, 1], p), [0, 0])
    assert_allclose(words.gran(True)([0, 1], p), [1, -0.5])
    # g = 1: c = 0.5 tanh(1), i and f still 1/2, o = sigmoid(c).
    p["b"] = np.array([0, 0, 0, 0, 1, 1, 0, 0.0])
    c = 0.5 * np.tanh(1)
    assert_allclose(words.lstm(True)([0], p), [np.tanh(c) / (1 + np.exp(-c))] * 2)


@pytest.mark.parametrize(("ids", "expected"), [([0], [2, 1]), ([0, 1], [6, -7]), ([], [0, 0])])
def test_cse(ids, expected):
    """Width 1 gives x[0] + 1, width 2 x[0] + 2 y[1]; of [0, 1] (1 + 1) + (3 + 1) and 1 - 8."""
    p = {"W": W, "K1": np.array([[[1.0], [0.0]]]), "b1": np.array([1.0])}
    p |= {"K2": np.array([[[1.0], [0.0]], [[0.0], [2.0]]]), "b2": np.array([0.0])}
    assert_allclose(words.cse("linear", (1, 2))(ids, p), expected)


def test_gradient():
    """Of (1 + 3 + 3) / 3 a third for row 0 and two for row 1."""
    found = words.embed_gradient(words.word_average, [[0, 1, 1]], {"W": W}, np.array([[3.0, 0]]))
    assert_allclose(found["W"], [[1, 0], [2, 0]], atol=1e-8)
