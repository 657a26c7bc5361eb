"""The losses of a student against hand-worked numbers and NumPy, and its training steps."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import ragged
from tests.reference import distillation, paraphrase
from tests.reference.paraphrase import numerical_gradient
from tests.variants import some_now
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.distillation._teachers.step import (
    DistillModel,
    correlation_loss,
    cosine_loss,
    similarity_loss,
)

LINES = [[0, 1], [2], [3, 3, 4]]
LEFTS, RIGHTS = [[0], [1, 2]], [[4, 5], [5]]
VECTORS = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
NEIGHBORS = [(0, 2), (1, 0), (2, 1)]
COSINES = np.array([0.3, -0.6, 0.5], np.float32)
KEYS = [1, 2, 3, 4]


@pytest.fixture
def encoder():
    encoder = Charagram(num_rows=6, dim=4, seed=1)
    encoder.ngram_table.assign(np.random.default_rng(1).normal(size=(6, 4)))
    return encoder


def compiled(encoder, **options):
    model = DistillModel(encoder)
    model.compile(make_optimizer("adam", 0.05), **options)
    return model


def batch(with_pairs=True):
    texts = LINES + (LEFTS + RIGHTS if with_pairs else [])
    keys = tf.constant(KEYS if with_pairs else [], tf.int64)
    neighbors = (tf.constant(NEIGHBORS), tf.constant(COSINES))
    return ragged(texts), tf.constant(VECTORS), *neighbors, keys


@pytest.mark.parametrize("weights", [(0.3, 0.0, 2.0), (1.0, 3.0, 0.5), (0.0, 0.0, 0.0)], ids=str)
def test_loss_is_the_weighted_sum(encoder, weights):
    first, second, third = weights
    model = compiled(
        encoder, similarity_weight=first, neighbors_weight=second, pairs_weight=third,
        temperature=0.2, margin=0.4,
    )  # fmt: skip
    embedded = encoder(ragged(LINES + LEFTS + RIGHTS)).numpy()
    lines, lefts, rights = embedded[:3], embedded[3:5], embedded[5:]
    rows = np.concatenate([lefts, rights])
    similarity = paraphrase.cosine_matrix(rows)
    mask = paraphrase.candidate_mask(["a", "b"], ["c", "d"])
    chosen = paraphrase.choose_max(similarity, mask)
    expected = (
        distillation.cosine_loss(lines, VECTORS)
        + first * distillation.similarity_loss(lines, VECTORS, 0.2)
        + second * distillation.correlation_loss(lines, COSINES, NEIGHBORS)
        + third * paraphrase.margin_loss(lefts, rights, chosen[:2], chosen[2:], 0.4)
    )
    assert float(model.loss_of(*batch(), training=True)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("with_pairs", some_now([True, False], True))
def test_it_learns_the_vectors(encoder, with_pairs):
    model = compiled(encoder, pairs_weight=0.1 if with_pairs else 0.0)
    data = tf.data.Dataset.from_tensors(batch(with_pairs)).repeat(150)
    model.fit(data, verbose=0)
    embedded = encoder(ragged(LINES)).numpy()
    assert distillation.cosine_loss(embedded, VECTORS) < 0.02
    assert int(model.step.numpy()) == 150


TEACHER = [[1.0, 0.0], [0.0, 1.0]]


def both_losses(student, teacher, temperature=0.5):
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
    found = both_losses([[3.0, 4.0], [0.6, 0.8]], TEACHER, 1.0)
    assert_allclose(found, [0.3, expected], rtol=1e-5)


def test_the_teacher_itself_loses_nothing():
    assert_allclose(both_losses([[5.0, 0.0], [0.0, 0.1]], TEACHER), [0.0, 0.0], atol=1e-6)


PAIR_ROWS = np.array([(0, 1), (2, 0), (3, 4), (1, 4)], np.int32)


@pytest.mark.parametrize(
    ("fast", "slow", "options"),
    [
        (cosine_loss, distillation.cosine_loss, []),
        (similarity_loss, distillation.similarity_loss, [0.3]),
        (correlation_loss, distillation.correlation_loss, [PAIR_ROWS]),
    ],
)
def test_equals_numpy_with_its_gradient(fast, slow, options):
    random = np.random.default_rng(len(options))
    student, teacher = random.normal(size=(2, 5, 4))
    if fast is correlation_loss:
        teacher = random.uniform(-1, 1, size=len(PAIR_ROWS))
    slow = functools.partial(lambda rows, loss: loss(rows, teacher, *options), loss=slow)
    rows = tf.constant(student)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        loss = fast(rows, tf.constant(teacher), *options)
    assert_allclose(float(loss), slow(student), rtol=1e-6)
    gradient = tf.convert_to_tensor(tape.gradient(loss, rows))
    assert_allclose(gradient, numerical_gradient(slow, student), atol=1e-6)


def test_nothing_and_zero():
    assert both_losses(np.zeros((0, 2)), np.zeros((0, 2))) == (0.0, 0.0)
    assert both_losses([[0.0, 0.0]], [[1.0, 0.0]])[0] == 1.0


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
