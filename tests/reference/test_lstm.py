"""Checks both LSTMs of the reference, and differences, against hand-worked numbers.

All gates are sigmoid(log k) = k / (k + 1), and tanh(log k) = (k^2 - 1) / (k^2 + 1).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import lstm, words


def of_inputs(kernel, recurrent_kernel, bias, peepholes, output_gate):
    """Returns the states for x_1 = 0 and x_2 = 1."""
    inputs = np.array([[0.0], [1.0]])
    return lstm.states(inputs, kernel, recurrent_kernel, bias, peepholes, output_gate)


def of_words(kernel, recurrent_kernel, bias, peepholes, output_gate):
    """Returns the same, the inputs being word vectors."""
    p = {"W": np.array([[0.0], [1.0]]), "Wx": kernel, "Wh": recurrent_kernel, "b": bias}
    p |= {} if peepholes is None else {"P": peepholes}
    return words.lstm_states([0, 1], p, output_gate)


@pytest.mark.parametrize("states", [of_inputs, of_words])
@pytest.mark.parametrize(
    ("output_gate", "h_1", "h_2"), [(True, 2 / 5, 3 / 5), (False, 3 / 5, 4 / 5)]
)
def test_two_steps_with_peepholes_by_hand(states, output_gate, h_1, h_2):
    """The peepholes of i, f and o are 1, -1 and 1.

    Step 1, from h = c = 0 and x = 0, so only the bias and the peephole of o count:
    i = sigmoid(log 3) = 3/4; tanh(g) = 4/3 log 2; c = 3/4 * 4/3 log 2 = log 2, whatever f is;
    o = sigmoid(0 + c) = 2/3; tanh(c) = 3/5; h = 2/3 * 3/5 = 2/5, or 3/5 without output gate.

    Step 2, i and f look at the old c = log 2:
    i = sigmoid(log 3 - log 6 + log 2 + c) = sigmoid(log 2) = 2/3;
    f = sigmoid(log 5 + log 2/5 + log 3 - c) = sigmoid(log 3) = 3/4;
    tanh(g) = 3/2 (log 3 - 3/4 log 2);
    c = 3/4 log 2 + 2/3 * 3/2 (log 3 - 3/4 log 2) = log 3;
    o looks at this c: o = sigmoid(0 - log 2 + log 2 + c) = sigmoid(log 3) = 3/4;
    tanh(c) = 4/5; h = 3/4 * 4/5 = 3/5, or 4/5 without output gate.
    """
    first_g = np.arctanh(4 / 3 * np.log(2))
    second_g = np.arctanh(3 / 2 * (np.log(3) - 3 / 4 * np.log(2)))
    bias = np.array([np.log(3), np.log(5), first_g, 0.0])
    kernel = np.array([-np.log(6), np.log(2 / 5), second_g - first_g - np.log(7), -np.log(2)])
    recurrent = np.array([np.log(2), np.log(3), np.log(7), np.log(2)]) / h_1
    peepholes = np.array([1.0, -1.0, 1.0])
    blocks = 4 if output_gate else 3

    # A second unit without weights stays 0, if each block holds all units.
    def two_units(row):
        return np.kron(row[:blocks], [1.0, 0.0])

    found = states(
        two_units(kernel)[None],
        np.stack([two_units(recurrent), np.zeros(2 * blocks)]),
        two_units(bias),
        np.stack([peepholes, np.zeros(3)], axis=1)[: blocks - 1],
        output_gate,
    )
    assert_allclose(found, [[h_1, 0.0], [h_2, 0.0]], atol=1e-12)


@pytest.mark.parametrize("states", [of_inputs, of_words])
def test_without_peepholes_by_hand(states):
    """i = 3/4 and tanh(g) = 4/3 log 2 give c = log 2; o = sigmoid(0) = 1/2; h = 1/2 * 3/5.

    Then i = 1/2 and tanh(g) = 0 leave f c = 1/2 log 2 with f = 1/2; o = 3/4:
    tanh(log sqrt 2) = (2 - 1) / (2 + 1), h = 3/4 * 1/3 = 1/4.
    """
    bias = np.array([np.log(3), 0.0, np.arctanh(4 / 3 * np.log(2)), 0.0])
    kernel = np.array([[-np.log(3), 0.0, -bias[2], np.log(3)]])
    found = states(kernel, np.zeros((1, 4)), bias, None, True)
    assert_allclose(found, [[3 / 10], [1 / 4]])


def test_nothing_has_no_states():
    states = lstm.states(np.zeros((0, 3)), np.zeros((3, 8)), np.zeros((2, 8)), np.zeros(8))
    assert states.shape == (0, 2)


def test_numerical_gradients_by_hand():
    """Of 1 a_0^2 b_0 + 10 a_1^2 b_1 at a = (1, 2), b = (3, 4): 2 a b and a^2, times 1 and 10."""
    arguments = {"a": np.array([1, 2]), "b": np.array([3, 4])}
    found = lstm.numerical_gradients(lambda a, b: a**2 * b, arguments, np.array([1.0, 10.0]))
    assert_allclose(found["a"], [6.0, 160.0])
    assert_allclose(found["b"], [1.0, 40.0])
