"""What a student loses where its vectors are not those of its teacher."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tests.reference.paraphrase import cosine


def cosine_loss(student: np.ndarray, teacher: np.ndarray) -> float:
    """Returns the mean of 1 - cosine of corresponding rows, both `(batch, dim)`."""
    return sum(1.0 - cosine(s, t) for s, t in zip(student, teacher, strict=True)) / len(student)


def _softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def similarity_loss(student: np.ndarray, teacher: np.ndarray, temperature: float) -> float:
    """Returns the mean over rows i of KL(p_i || q_i).

    p_i is the softmax over j of cosine(teacher i, teacher j) / temperature, and q_i that of
    cosine(student i, teacher j) / temperature.
    """
    total = 0.0
    for s, t in zip(student, teacher, strict=True):
        p = _softmax([cosine(t, other) / temperature for other in teacher])
        q = _softmax([cosine(s, other) / temperature for other in teacher])
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    return total / len(student)


def correlation_loss(
    student: np.ndarray, cosines: Sequence[float], pairs: Sequence[tuple[int, int]]
) -> float:
    """Returns 1 - Pearson correlation over pairs (i, j) of cosine(student i, student j) and of the
    teacher's cosine.
    """
    found = [cosine(student[i], student[j]) for i, j in pairs]
    return 1.0 - float(np.corrcoef(found, cosines)[0, 1])
