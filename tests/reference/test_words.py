"""Checks the word encoders of the reference against hand-worked numbers; more on the LSTM in
`test_lstm.py`.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import words

W = np.array([[1.0, 2.0], [3.0, -4.0]])
TWO = {"W": W, "Wx": np.eye(2), "Wh": 2.0 * np.eye(2), "b": np.array([0.5, 0.0])}


def test_average():
    """(1 + 3 + 3) / 3 and (2 - 4 - 4) / 3."""
    assert_allclose(words.word_average([0, 1, 1], {"W": W}), [7 / 3, -2])


def test_dense_layers():
    """Mean (2, -1); times K1 plus b1 (2 + 2, 4 + 1) + (-5, 1) = (-1, 6).

    Times K2 plus b2 -1 + 18 - 16 = 1, or 2 if relu made 0 of the -1.
    """
    p = {"W": W, "K1": np.array([[1.0, 2.0], [-2.0, -1.0]]), "b1": np.array([-5.0, 1.0])}
    p |= {"K2": np.array([[1.0], [3.0]]), "b2": np.array([-16.0])}
    assert_allclose(words.dense_layers("linear", 1)([0, 1], p), [-1, 6])
    assert_allclose(words.dense_layers("relu", 1)([0, 1], p), [0, 6])
    assert_allclose(words.dense_layers("linear", 2)([0, 1], p), [1])
    assert_allclose(words.dense_layers("relu", 2)([0, 1], p), [2])
    assert_allclose(words.dense_layers("tanh", 1)([], p), [-np.tanh(5), np.tanh(1)])


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


def test_gran():
    """The LSTM looks at its biases only: i = 3/4, tanh(g) = 4/3 log 2, f = 1/2.

    c = log 2, then 1/2 log 2 + log 2; h = tanh(c) = (4 - 1) / (4 + 1), then (8 - 1) / (8 + 1),
    and times Gh 27/8 and 35/8 of log 2. With g, -27/8, and x Gx, 2 and -1, the gates are
    sigmoid(2 log 2) = 4/5 and sigmoid(0) = 1/2: (2 * 4/5 - 1 * 1/2) / 2 = 0.55.
    """
    p = {"W": np.array([[2.0], [-1.0]]), "Wx": np.zeros((1, 3)), "Wh": np.zeros((1, 3))}
    p |= {"b": np.array([np.log(3), 0.0, np.arctanh(4 / 3 * np.log(2))])}
    gate = {"Gx": [[1.0]], "Gh": [[45 / 8]], "g": [-27 / 8]}
    p |= {name: np.log(2) * np.array(value) for name, value in gate.items()}
    assert_allclose(words.gran(False)([0, 1], p), [0.55])


@pytest.mark.parametrize(
    ("f", "ids", "expected"),
    [
        ("linear", [0], [2, 1]),
        ("linear", [0, 1], [6, -7]),
        ("linear", [0, 1, 0], [8, 0]),
        ("relu", [0, 1, 0], [8, 7]),
        ("linear", [], [0, 0]),
    ],
)
def test_cse(f, ids, expected):
    """Width 1 gives x[0] + 1, width 2 x[0] + 2 y[1]; of [0, 1] (1 + 1) + (3 + 1) and 1 - 8.

    Of [0, 1, 0] width 2 gives -7 and 3 + 4 = 7, which relu must not add up first.
    """
    p = {"W": W, "K1": np.array([[[1.0], [0.0]]]), "b1": np.array([1.0])}
    p |= {"K2": np.array([[[1.0], [0.0]], [[0.0], [2.0]]]), "b2": np.array([0.0])}
    assert_allclose(words.cse(f, (1, 2))(ids, p), expected)


def test_gradient():
    """Of (1 + 3 + 3) / 3 a third for row 0 and two for row 1."""
    found = words.embed_gradient(words.word_average, [[0, 1, 1]], {"W": W}, np.array([[3.0, 0]]))
    assert_allclose(found["W"], [[1, 0], [2, 0]], atol=1e-8)


def test_runs():
    """Ids up to 2 begin words. Row sums (1 + 3, 2 - 4) and (1, 2): their mean is (2.5, 0)."""
    assert words.word_runs([1, 0, 5, 6, 2], 2) == [[1], [0, 5, 6], [2]]
    assert words.word_runs([5, 1], 2) == [[5], [1]]
    assert_allclose(words.of_runs(words.word_average, 0)([0, 1, 0], {"W": W}), [2.5, 0])
    assert_allclose(words.of_runs(words.word_average, 0)([], {"W": W}), [0, 0])


def test_ids_of_words():
    """Of ' dot ', after 0: 'do' 3 and 'dot' 4 at one place, 'ot' 2 at the next."""
    found = words.ids_of_words(["dot", "cat"], ["cat"], ["ot", "do", "dot"], (3, 2))
    assert found == [0, 3, 4, 2, 1]
