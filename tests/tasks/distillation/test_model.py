"""The trainer of a student: its loss, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts import ragged
from tests.reference import distillation, paraphrase
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers import make_optimizer
from tf_charagram.tasks.distillation.model import DistillModel

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
    model.compile(make_optimizer("adam", 0.05, None), **options)
    return model


def batch(with_pairs=True):
    texts = LINES + (LEFTS + RIGHTS if with_pairs else [])
    keys = tf.constant(KEYS if with_pairs else [], tf.int64)
    neighbors = (tf.constant(NEIGHBORS), tf.constant(COSINES))
    return ragged(texts), tf.constant(VECTORS), *neighbors, keys


@pytest.mark.parametrize(
    "weights", [(1.0, 0.3, 0.0, 2.0), (0.0, 1.0, 3.0, 0.5), (0.5, 0.0, 0.0, 0.0)], ids=str
)
def test_loss_is_the_weighted_sum(encoder, weights):
    first, second, third, fourth = weights
    model = compiled(
        encoder, cosine_weight=first, similarity_weight=second, neighbors_weight=third,
        pairs_weight=fourth, temperature=0.2, margin=0.4,
    )  # fmt: skip
    embedded = encoder(ragged(LINES + LEFTS + RIGHTS)).numpy()
    lines, lefts, rights = embedded[:3], embedded[3:5], embedded[5:]
    rows = np.concatenate([lefts, rights])
    similarity = paraphrase.cosine_matrix(rows)
    mask = paraphrase.candidate_mask(["a", "b"], ["c", "d"])
    chosen = paraphrase.choose_max(similarity, mask)
    expected = (
        first * distillation.cosine_loss(lines, VECTORS)
        + second * distillation.similarity_loss(lines, VECTORS, 0.2)
        + third * distillation.correlation_loss(lines, COSINES, NEIGHBORS)
        + fourth * paraphrase.margin_loss(lefts, rights, chosen[:2], chosen[2:], 0.4)
    )
    assert float(model.loss_of(*batch(), training=True)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("with_pairs", [True, False])
def test_it_learns_the_vectors(encoder, with_pairs):
    model = compiled(encoder, pairs_weight=0.1 if with_pairs else 0.0)
    data = tf.data.Dataset.from_tensors(batch(with_pairs)).repeat(150)
    model.fit(data, verbose=0)
    embedded = encoder(ragged(LINES)).numpy()
    assert distillation.cosine_loss(embedded, VECTORS) < 0.02
    assert int(model.step.numpy()) == 150
