"""Convolution over a sequence and pooling over its positions (Charagram 3, Kim 2014, CSE 3.1)."""

from collections.abc import Sequence

import numpy as np

from .charagram import ACTIVATIONS


def pooled(
    inputs: np.ndarray,
    filters: Sequence[tuple[np.ndarray, np.ndarray]],
    f: str = "linear",
    pooling: str = "max",
) -> np.ndarray:
    """Applies filters to one sequence.

    A sequence shorter than a filter is filled up with zeros; one without steps gives zeros.

    Args:
        inputs: `(time, dim)`.
        filters: For each width a kernel `(width, dim, number)` and a bias `(number,)`.
        f: Activation, "linear", "tanh" or "relu".
        pooling: "max" or "sum" over the positions where the filter fits.

    Returns:
        `(total number of filters,)`.
    """
    function, _ = ACTIVATIONS[f]
    results = []
    for kernel, bias in filters:
        width, dim, number = kernel.shape
        text = inputs
        if 0 < len(text) < width:
            text = np.concatenate([text, np.zeros((width - len(text), dim))])
        values = [
            function(np.einsum("wd,wdn->n", text[start : start + width], kernel) + bias)
            for start in range(len(text) - width + 1 if len(text) else 0)
        ]
        pool = np.max if pooling == "max" else np.sum
        results.append(pool(values, axis=0) if values else np.zeros(number))
    return np.concatenate(results)
