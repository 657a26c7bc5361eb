"""Checks what a student loses against hand-worked numbers."""

import math

import numpy as np
import pytest

from . import distillation

TEACHER = np.eye(2)


def test_cosine_loss_by_hand():
    """Cosines 0.6 and 0.8 lose (0.4 + 0.2) / 2."""
    student = np.array([[3.0, 4.0], [0.6, 0.8]])
    assert distillation.cosine_loss(student, TEACHER) == pytest.approx(0.3)


def test_similarity_loss_by_hand():
    """At temperature 1 / log 3 a cosine of 1 has 3 times the probability of one of 0.

    The teacher's p are (3, 1) / 4 and (1, 3) / 4. Row 1 of the student is the teacher's other one:
    3/4 log 3 + 1/4 log 1/3 = 1/2 log 3 = 0.5493061. Row 2 is as near to both, q = (1, 1) / 2:
    1/4 log 1/2 + 3/4 log 3/2 = 3/4 log 3 - log 2 = 0.1308120. Their mean is 0.3400591.
    """
    student = np.array([[0.0, 2.0], [1.0, 1.0]])
    found = distillation.similarity_loss(student, TEACHER, 1 / math.log(3))
    assert found == pytest.approx(0.3400591)


def test_correlation_loss_by_hand():
    """The student's cosines are 0, 0.6 and 0.8, the teacher's 0, 0.5 and 0.1.

    Deviations (-7, 2, 5) / 15 and (-0.2, 0.3, -0.1): products 1.4 + 0.6 - 0.5 = 1.5, squares
    49 + 4 + 25 = 78 and 0.04 + 0.09 + 0.01 = 0.14; 1 - 1.5 / sqrt(78 * 0.14) = 0.5460794.
    """
    student = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
    pairs = [(0, 1), (0, 2), (2, 1)]
    found = distillation.correlation_loss(student, [0.0, 0.5, 0.1], pairs)
    assert found == pytest.approx(0.5460794)
