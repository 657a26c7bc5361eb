"""The word encoders (Universal, section 3; CSE, section 3.1) and numerical gradients.

Every encoder is a function of one text, given as word ids, and of its parameters by name: `W`, the
word vectors `(num_rows, dim)`, and others as its docstring says. Vectors are rows, so that a matrix
stands behind its vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .lstm import numerical_gradients, sigmoid, states

Parameters = dict[str, np.ndarray]
Encoder = Callable[[Sequence[int], Parameters], np.ndarray]

FUNCTIONS = {
    "linear": lambda z: z,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0.0),
}


def word_average(ids: Sequence[int], p: Parameters) -> np.ndarray:
    """The mean of the word vectors; zeros without words."""
    total = np.zeros(p["W"].shape[1])
    for word in ids:
        total = total + p["W"][word]
    return total / max(len(ids), 1)


def dense_layers(f: str, num_layers: int) -> Encoder:
    """f(x K + b) applied `num_layers` times to the mean; "K1", "b1" and perhaps "K2", "b2"."""

    def encode(ids: Sequence[int], p: Parameters) -> np.ndarray:
        x = word_average(ids, p)
        for layer in range(1, num_layers + 1):
            x = FUNCTIONS[f](x @ p[f"K{layer}"] + p[f"b{layer}"])
        return x

    return encode


def rnn(f: str, is_divided: bool = False) -> Encoder:
    """The last h_t = f(x_t Wx + h_{t-1} Wh + b), if asked over the number of words."""

    def encode(ids: Sequence[int], p: Parameters) -> np.ndarray:
        h = np.zeros(p["b"].shape)
        for word in ids:
            h = FUNCTIONS[f](p["W"][word] @ p["Wx"] + h @ p["Wh"] + p["b"])
        return h / max(len(ids), 1) if is_divided else h

    return encode


def lstm_states(ids: Sequence[int], p: Parameters, has_output_gate: bool) -> np.ndarray:
    """The states h_1 ... h_n of an LSTM with "Wx", "Wh", "b" and, with peepholes, "P"."""
    return states(p["W"][list(ids)], p["Wx"], p["Wh"], p["b"], p.get("P"), has_output_gate)


def lstm(has_output_gate: bool) -> Encoder:
    """The last state; zeros without words."""

    def encode(ids: Sequence[int], p: Parameters) -> np.ndarray:
        return lstm_states(ids, p, has_output_gate)[-1] if ids else np.zeros(len(p["Wh"]))

    return encode


def gran(has_output_gate: bool) -> Encoder:
    """The mean of x_t * sigmoid(x_t Gx + h_t Gh + g), h_t from an LSTM."""

    def encode(ids: Sequence[int], p: Parameters) -> np.ndarray:
        total = np.zeros(p["W"].shape[1])
        for word, h in zip(ids, lstm_states(ids, p, has_output_gate), strict=True):
            x = p["W"][word]
            total = total + x * sigmoid(x @ p["Gx"] + h @ p["Gh"] + p["g"])
        return total / max(len(ids), 1)

    return encode


def cse(f: str, widths: Sequence[int]) -> Encoder:
    """The sums over all windows of f(window K + b), one width after the other.

    "K2" `(2, dim, num_filters)` and "b2" `(num_filters,)` are those of width 2. A text shorter than
    a width is padded with zero vectors to one window; one without words gives zeros.
    """

    def encode(ids: Sequence[int], p: Parameters) -> np.ndarray:
        features = []
        for width in widths:
            x = np.zeros((max(len(ids), width), p["W"].shape[1]))
            x[: len(ids)] = p["W"][list(ids)]
            K, b = p[f"K{width}"], p[f"b{width}"]
            total = np.zeros(len(b))
            for start in range(len(x) - width + 1 if ids else 0):
                window = x[start : start + width]
                total += FUNCTIONS[f](np.einsum("wd,wdk->k", window, K) + b)
            features.append(total)
        return np.concatenate(features)

    return encode


def embed(encode: Encoder, rows: Sequence[Sequence[int]], p: Parameters) -> np.ndarray:
    """Embeds texts one by one, `(batch, dim)`."""
    return np.stack([encode(ids, p) for ids in rows])


def embed_gradient(
    encode: Encoder, rows: Sequence[Sequence[int]], p: Parameters, upstream: np.ndarray
) -> Parameters:
    """Differentiates sum(upstream * embed(...)) numerically."""
    return numerical_gradients(lambda **moved: embed(encode, rows, moved), p, upstream, 1e-5)
