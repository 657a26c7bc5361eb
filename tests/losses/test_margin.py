"""The margin loss against hand-worked numbers and the slow reference, and as a Keras loss."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import paraphrase as reference
from tf_charagram.errors import ConfigError
from tf_charagram.losses import normalize_rows
from tf_charagram.losses.margin import MarginLoss, margin_loss

# Lefts (1, 0), (0, 1), then rights (0.8, 0.6), (0.6, 0.8).
UNIT = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8]]


def loss_and_gradient(embeddings, negatives, margin):
    """Returns loss and gradient at the embeddings before they are normalized."""
    embeddings, negatives = tf.constant(embeddings, tf.float32), np.array(negatives)
    exists = negatives != reference.NONE
    with tf.GradientTape() as tape:
        tape.watch(embeddings)
        loss = margin_loss(
            normalize_rows(embeddings),
            tf.constant(np.where(exists, negatives, 0), tf.int32),
            tf.constant(exists),
            margin,
        )
    return float(loss), tape.gradient(loss, embeddings).numpy()


@pytest.mark.parametrize(
    ("negatives", "margin", "expected"),
    [([3, 2, 3, 2], 0.4, 0.76), ([3, 2, 3, 2], 0.1, 0.26), ([3, 2, -1, 2], 0.4, 0.48),
     ([-1] * 4, 0.4, 0.0), ([1, 0, 1, 0], 0.4, 0.2), ([3, 2, 3, 2], 0.0, 0.16)],
)  # fmt: skip
def test_by_hand(negatives, margin, expected):
    """Both pairs have cosine 0.8. Cosines of L0-R1 and L1-R0 0.6, of R0-R1 0.96, of L0-L1 0.

    Negatives R1, R0, R1, R0: each pair max(0, 0.4 - 0.8 + 0.6) + max(0, 0.4 - 0.8 + 0.96) =
    0.2 + 0.56 = 0.76. Margin 0.1: 0 + 0.26; margin 0: 0 + 0.16. Without R0's: (0.2 + 0.76) / 2 =
    0.48. Negatives L1, L0, L1, L0: L0-L1 gives max(0, -0.4) twice, R0-L1 and R1-L0 0.2 each: 0.2.
    """
    loss, _ = loss_and_gradient(UNIT, negatives, margin)
    assert loss == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("strategy", ["max", "random"])
@pytest.mark.parametrize("margin", [0.2, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_equals_reference(seed, margin, strategy):
    rng = np.random.default_rng(seed)
    embeddings, keys = rng.normal(size=(12, 4)), rng.integers(0, 8, size=12)
    mask = reference.candidate_mask(keys[:6].tolist(), keys[6:].tolist())
    if strategy == "max":
        negatives = reference.choose_max(reference.cosine_matrix(embeddings), mask)
    else:
        negatives = reference.choose_random(mask, rng.uniform(size=12))
    negatives[rng.integers(12)] = reference.NONE
    arguments = (embeddings[:6], embeddings[6:], negatives[:6], negatives[6:], margin)
    loss, gradient = loss_and_gradient(embeddings, negatives, margin)
    assert loss == pytest.approx(reference.margin_loss(*arguments), rel=1e-5)
    assert loss > 0
    assert_allclose(gradient, reference.margin_loss_gradient(*arguments), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("zeros", [[0], [2], [0, 2], [0, 1, 2, 3]])
def test_zero_vectors(zeros):
    """Their cosine is 0 and they get no gradient; loss and gradient are the reference's."""
    embeddings = np.array(UNIT)
    embeddings[zeros] = 0.0
    negatives = np.array([3, 2, 3, 2])
    arguments = (embeddings[:2], embeddings[2:], negatives[:2], negatives[2:], 0.4)
    loss, gradient = loss_and_gradient(embeddings, negatives, 0.4)
    assert np.isfinite(loss) and loss == pytest.approx(reference.margin_loss(*arguments), abs=1e-6)
    assert_allclose(gradient, reference.margin_loss_gradient(*arguments), atol=1e-6)
    assert_array_equal(gradient[zeros], 0.0)


def test_empty_batch():
    loss, gradient = loss_and_gradient(np.zeros((0, 3)), np.zeros(0, int), 0.4)
    assert loss == 0.0 and gradient.shape == (0, 3)


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)


def test_is_the_margin_loss():
    """Pair 0 and 1 have one number, so that the negatives of both are texts of pair 2."""
    vectors = tf.constant(normal(3, 2, 4), tf.float32)
    flat = tf.reshape(tf.transpose(vectors, [1, 0, 2]), [6, 4])
    unit = flat / tf.norm(flat, axis=1, keepdims=True)
    cosines = (unit @ tf.transpose(unit)).numpy()
    candidates = {0: (2, 5), 1: (2, 5), 2: (0, 1, 3, 4)}
    chosen = [max(candidates[i % 3], key=cosines[i].__getitem__) for i in range(6)]
    expected = margin_loss(flat, tf.constant(chosen), tf.ones(6, tf.bool), 0.5)
    loss = MarginLoss(margin=0.5)
    for numbers in ([7, 7, 8], [[7], [7], [8]]):
        np.testing.assert_allclose(loss(tf.constant(numbers), vectors), expected, rtol=1e-6)
    assert float(loss(tf.constant([1, 1, 1]), vectors)) == 0.0


def test_pairs_have_weights():
    vectors, numbers = tf.constant(normal(6, 2, 4), tf.float32), tf.range(6)
    losses = MarginLoss(1.0, reduction="none")(numbers, vectors).numpy()
    weights = np.linspace(0.1, 0.9, 6)
    assert losses.shape == (6,) and losses.min() > 0.0
    loss = MarginLoss(1.0)
    np.testing.assert_allclose(loss(numbers, vectors), losses.mean(), rtol=1e-6)
    for shape in (6, (6, 1)):
        weighted = loss(numbers, vectors, sample_weight=weights.reshape(shape))
        np.testing.assert_allclose(weighted, (losses * weights).mean(), rtol=1e-6)


@pytest.mark.parametrize("first", [2**24, 2**53, -(2**62)])
def test_large_numbers_stay_different(first):
    """As float32, to which Keras casts targets, they would all be the same."""
    vectors = tf.constant(normal(3, 2, 4), tf.float32)
    loss, numbers = MarginLoss(margin=1.5), first + np.arange(3)
    model = keras.Sequential([keras.Input((2, 4)), keras.layers.Identity()])
    model.compile(loss=loss, jit_compile=False)
    for found in (loss(numbers, vectors), model.evaluate(vectors, numbers, verbose=0)):
        np.testing.assert_allclose(found, loss(np.arange(3), vectors), rtol=1e-6)


@pytest.mark.parametrize("negatives", ["mix", "random"])
def test_negatives_differ_between_calls(negatives):
    vectors = tf.constant(normal(20, 2, 4), tf.float32)
    losses = [
        [float(loss(tf.range(20), vectors)) for _ in range(4)]
        for loss in (MarginLoss(negatives=negatives, seed=3), MarginLoss(0.4, negatives, seed=3))
    ]
    assert losses[0] == losses[1] and len(set(losses[0])) > 1


def test_trains_and_is_saved(tmp_path):
    left, right = keras.Input((3,)), keras.Input((3,))
    dense = keras.layers.Dense(2, use_bias=False)
    model = keras.Model([left, right], keras.ops.stack([dense(left), dense(right)], axis=1))
    model.compile("adam", MarginLoss(margin=1.0, negatives="mix", seed=2), jit_compile=False)
    sides = [*normal(2, 8, 3).astype(np.float32)]
    assert np.isfinite(model.train_on_batch(sides, np.arange(8)))
    model.save(tmp_path / "model.keras")
    loss = keras.models.load_model(tmp_path / "model.keras").loss
    assert loss.get_config() == model.loss.get_config()
    assert (loss.margin, loss.negatives, loss.seed) == (1.0, "mix", 2)


def test_errors_of_margin_loss():
    with pytest.raises(ConfigError, match=r"`margin` must be in \[0, 2\]\. Received: margin=-0\.4"):
        MarginLoss(-0.4)
    with pytest.raises(ConfigError, match="Unknown negatives 'most'"):
        MarginLoss(negatives="most")
    with pytest.raises(ConfigError, match=r"\(batch, 2, dim\)\. Received: shape \(4, 3\)\. Stack"):
        MarginLoss()(tf.range(4), tf.zeros([4, 3]))
