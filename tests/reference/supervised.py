"""Heads and losses of the supervised tasks (Universal, section 4.4; Tai et al. 2015).

One pair, or one text, at a time. Parameters by name: "W*" and "W+" `(dim, hidden)`, or "W" for
texts, "b" `(hidden,)`, "Wp" `(hidden, num_outputs)`, "bp" `(num_outputs,)`. Vectors are rows, so
that a matrix stands behind its vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .lstm import sigmoid
from .paraphrase import numerical_gradient

Parameters = dict[str, np.ndarray]


def softmax(z: np.ndarray) -> np.ndarray:
    """exp(z) / sum(exp(z)), of one row."""
    powers = np.exp(z - np.max(z))
    return powers / powers.sum()


def pair_output(hL: np.ndarray, hR: np.ndarray, p: Parameters) -> np.ndarray:
    """softmax(Wp hs + bp), hs = sigmoid(W* (hL * hR) + W+ |hL - hR| + b)."""
    hs = sigmoid((hL * hR) @ p["W*"] + np.abs(hL - hR) @ p["W+"] + p["b"])
    return softmax(hs @ p["Wp"] + p["bp"])


def text_output(h: np.ndarray, p: Parameters) -> np.ndarray:
    """softmax(Wp sigmoid(W h + b) + bp)."""
    return softmax(sigmoid(h @ p["W"] + p["b"]) @ p["Wp"] + p["bp"])


def score(output: np.ndarray) -> float:
    """[1..K] . p."""
    return float(np.dot(np.arange(1, len(output) + 1), output))


def target(y: float, num_classes: int) -> np.ndarray:
    """The distribution on the two neighbours of y whose mean is y."""
    p = np.zeros(num_classes)
    floor = math.floor(y)
    for i in range(1, num_classes + 1):
        if i == floor + 1:
            p[i - 1] = y - floor
        if i == floor:
            p[i - 1] = floor - y + 1
    return p


def kl_loss(outputs: Sequence[np.ndarray], scores: Sequence[float]) -> float:
    """The mean of KL(target || output)."""
    total = 0.0
    for output, y in zip(outputs, scores, strict=True):
        for wanted, given in zip(target(y, len(output)), output, strict=True):
            if wanted > 0:
                total += wanted * math.log(wanted / given)
    return total / len(scores)


def label_loss(
    outputs: Sequence[np.ndarray], labels: Sequence[int], weights: Sequence[float] | None = None
) -> float:
    """The weighted mean of -log output[label]; the weights of the examples add up to 1."""
    own = [1.0 if weights is None else weights[label] for label in labels]
    total = 0.0
    for output, label, weight in zip(outputs, labels, own, strict=True):
        total -= weight * math.log(output[label])
    return total / sum(own)


def gradients(loss: Callable[[Parameters], float], p: Parameters) -> Parameters:
    """Differentiates a loss with respect to each of its parameters, numerically."""
    return {
        name: numerical_gradient(lambda moved, name=name: loss({**p, name: moved}), value)
        for name, value in p.items()
    }
