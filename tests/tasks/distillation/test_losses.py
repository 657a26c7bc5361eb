"""The losses of a student against hand-worked numbers and the slow reference."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import distillation as reference
from tests.reference.paraphrase import numerical_gradient
from tf_charagram.tasks.distillation.losses import correlation_loss, cosine_loss, similarity_loss

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


PAIRS = np.array([(0, 1), (2, 0), (3, 4), (1, 4)], np.int32)


@pytest.mark.parametrize(
    ("fast", "slow", "options"),
    [
        (cosine_loss, reference.cosine_loss, []),
        (similarity_loss, reference.similarity_loss, [0.3]),
        (correlation_loss, reference.correlation_loss, [PAIRS]),
    ],
)
def test_equals_numpy_with_its_gradient(fast, slow, options):
    random = np.random.default_rng(len(options))
    student, teacher = random.normal(size=(2, 5, 4))
    if fast is correlation_loss:
        teacher = random.uniform(-1, 1, size=len(PAIRS))
    slow = functools.partial(lambda rows, loss: loss(rows, teacher, *options), loss=slow)
    rows = tf.constant(student)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        loss = fast(rows, tf.constant(teacher), *options)
    assert_allclose(float(loss), slow(student), rtol=1e-6)
    gradient = tf.convert_to_tensor(tape.gradient(loss, rows))
    assert_allclose(gradient, numerical_gradient(slow, student), atol=1e-6)


def test_nothing_and_zero():
    assert losses(np.zeros((0, 2)), np.zeros((0, 2))) == (0.0, 0.0)
    assert losses([[0.0, 0.0]], [[1.0, 0.0]])[0] == 1.0


@pytest.mark.parametrize("cosines", [[0.5, -0.2], [0.7, 0.7]], ids=str)
@pytest.mark.parametrize("pairs", [np.zeros((0, 2)), [[0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 2]]])
def test_cosines_that_do_not_vary_have_no_correlation(cosines, pairs):
    student = tf.constant([[2.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch(student)
        expected = tf.constant(cosines[: len(pairs)], tf.float32)
        loss = correlation_loss(student, expected, tf.constant(pairs, tf.int32))
    assert float(loss) == 1.0
    assert_allclose(tf.convert_to_tensor(tape.gradient(loss, student)), np.zeros((3, 2)))
