"""The losses of a student against hand-worked numbers and the slow reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import distillation as reference
from tests.reference.paraphrase import numerical_gradient
from tf_charagram.objectives.distillation import cosine_loss, similarity_loss

TEACHER = [[1.0, 0.0], [0.0, 1.0]]


def losses(student, teacher, temperature=0.5):
    student, teacher = tf.constant(student, tf.float32), tf.constant(teacher, tf.float32)
    return (
        float(cosine_loss(student, teacher)),
        float(similarity_loss(student, teacher, temperature)),
    )


def test_by_hand():
    """Cosines 0.6 and 0.8 lose (0.4 + 0.2) / 2 = 0.3.

    At temperature 1, targets are softmax(1, 0) and softmax(0, 1); predictions softmax(0.6, 0.8),
    twice. With p = e / (e + 1), row 1 loses p (1 - 0.6) + (1 - p) (0 - 0.8) - log(e + 1) +
    log(e^0.6 + e^0.8), row 2 the same with p and 1 - p exchanged and 0.6 and 0.8.
    """
    p = math.e / (math.e + 1)
    both = math.log(math.exp(0.6) + math.exp(0.8)) - math.log(math.e + 1)
    expected = (p * 0.4 - (1 - p) * 0.8 + both + p * 0.2 - (1 - p) * 0.6 + both) / 2
    found = losses([[3.0, 4.0], [0.6, 0.8]], TEACHER, 1.0)
    assert_allclose(found, [0.3, expected], rtol=1e-5)


def test_the_teacher_itself_loses_nothing():
    assert_allclose(losses([[5.0, 0.0], [0.0, 0.1]], TEACHER), [0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("number", [0, 1])
def test_equals_numpy_with_its_gradient(number):
    random = np.random.default_rng(number)
    student, teacher = random.normal(size=(2, 5, 4))
    slow = [
        lambda rows: reference.cosine_loss(rows, teacher),
        lambda rows: reference.similarity_loss(rows, teacher, 0.3),
    ][number]
    rows, targets = tf.constant(student), tf.constant(teacher)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        loss = similarity_loss(rows, targets, 0.3) if number else cosine_loss(rows, targets)
    assert_allclose(float(loss), slow(student), rtol=1e-6)
    assert_allclose(tape.gradient(loss, rows), numerical_gradient(slow, student), atol=1e-6)


def test_nothing_and_zero():
    assert losses(np.zeros((0, 2)), np.zeros((0, 2))) == (0.0, 0.0)
    assert losses([[0.0, 0.0]], [[1.0, 0.0]])[0] == 1.0
