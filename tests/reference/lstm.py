"""The LSTM with peepholes of Gers et al. (2003), and gradients by differences."""

from collections.abc import Callable

import numpy as np


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def states(
    inputs: np.ndarray,
    kernel: np.ndarray,
    recurrent_kernel: np.ndarray,
    bias: np.ndarray,
    peepholes: np.ndarray | None = None,
    output_gate: bool = True,
) -> np.ndarray:
    """Computes the states h_1, h_2, ... of one sequence.

    Args:
        inputs: x_1, x_2, ..., `(time, dim)`.
        kernel: `(dim, blocks * units)`, blocks in the order i, f, g, o; without output gate no o.
        recurrent_kernel: `(units, blocks * units)`.
        bias: `(blocks * units,)`.
        peepholes: Those of i, f and, if there is one, o, `(blocks - 1, units)`; None for none.
        output_gate: Whether h_t is o_t * tanh(c_t), not tanh(c_t).

    Returns:
        `(time, units)`.
    """
    units = len(recurrent_kernel)
    blocks = 4 if output_gate else 3
    if peepholes is None:
        peepholes = np.zeros((blocks - 1, units))
    h, c = np.zeros(units), np.zeros(units)
    result = []
    for x in inputs:
        i, f, g, *o = np.split(x @ kernel + h @ recurrent_kernel + bias, blocks)
        i = sigmoid(i + peepholes[0] * c)
        f = sigmoid(f + peepholes[1] * c)
        c = f * c + i * np.tanh(g)
        h = np.tanh(c)
        if output_gate:
            h = sigmoid(o[0] + peepholes[2] * c) * h
        result.append(h)
    return np.array(result).reshape(len(inputs), units)


def numerical_gradients(
    function: Callable[..., np.ndarray],
    arguments: dict[str, np.ndarray],
    upstream: np.ndarray,
    step: float = 1e-6,
) -> dict[str, np.ndarray]:
    """Differentiates sum(upstream * function(**arguments)) by central differences."""
    gradients = {}
    for name, value in arguments.items():
        gradients[name] = np.zeros(value.shape)
        for place in np.ndindex(value.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = value.astype(float)
                moved[place] += sign * step
                ends.append(np.sum(upstream * function(**{**arguments, name: moved})))
            gradients[name][place] = (ends[0] - ends[1]) / (2.0 * step)
    return gradients
