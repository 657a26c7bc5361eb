"""The targets and the loss of a score as a distribution (Universal, section 4.4)."""

from __future__ import annotations

import math

import numpy as np


def spread(score: float, num_classes: int) -> np.ndarray:
    """Returns the distribution over 1..K of a score, case by case as in the paper.

    Args:
        score: In 1..K.
        num_classes: K.

    Returns:
        `(K,)`.
    """
    target = np.zeros(num_classes)
    floor = math.floor(score)
    for i in range(1, num_classes + 1):
        if i == floor + 1:
            target[i - 1] = score - floor
        elif i == floor:
            target[i - 1] = floor - score + 1
    return target


def softmax(logits: np.ndarray) -> np.ndarray:
    """Returns the distribution of the logits `(K,)`."""
    exponentials = np.exp(np.asarray(logits, float) - np.max(logits))
    return exponentials / exponentials.sum()


def loss(logits: np.ndarray, targets: np.ndarray) -> float:
    """Returns the mean over the rows of KL(target || softmax(logits)), with 0 log 0 = 0.

    Args:
        logits: `(batch, K)`.
        targets: `(batch, K)`.
    """
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        for p, q in zip(target, softmax(row), strict=True):
            if p > 0:
                total += p * math.log(p / q)
    return total / len(logits)


def loss_gradient(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Differentiates the loss by the logits: (softmax - target) / batch, `(batch, K)`."""
    rows = [softmax(row) - target for row, target in zip(logits, targets, strict=True)]
    return np.array(rows) / len(logits)
