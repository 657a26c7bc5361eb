"""Scores as distributions over 1..K, and the loss of predicting them (Tai et al. 2015)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def spread_scores(scores: Any, num_classes: int) -> tf.Tensor:
    """Spreads each score over its two neighbouring integers, so that their mean is the score.

    Universal, section 4.4: `p_i = y - floor(y)` at `i = floor(y) + 1`, `floor(y) - y + 1` at
    `i = floor(y)`, else 0; which is `max(0, 1 - |y - i|)`.

    Args:
        scores: y, numbers in 1..K, `(batch,)`.
        num_classes: K.

    Returns:
        float32 `(batch, K)`; each row adds up to 1.

    Example:
        >>> spread_scores([3.25, 5.0], 5).numpy().tolist()
        [[0.0, 0.0, 0.75, 0.25, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    scores = tf.cast(tf.convert_to_tensor(scores), tf.float32)
    return tf.nn.relu(1.0 - tf.abs(scores[:, tf.newaxis] - _classes(num_classes)))


def relatedness_loss(logits: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
    """Computes the mean over the pairs of `KL(target || softmax(logits))`, with `0 log 0 = 0`.

    Args:
        logits: float32 `(batch, K)`.
        targets: float32 `(batch, K)`, each row a distribution.

    Returns:
        Scalar; 0 for an empty batch.

    Example:
        The score 1.5 is `(0.5, 0.5)`. Logits `(log 3, 0)` are `(0.75, 0.25)`, and the loss
        `0.5 log(0.5 / 0.75) + 0.5 log(0.5 / 0.25) = -0.2027 + 0.3466 = 0.1438`.

        >>> loss = relatedness_loss(tf.math.log([[3.0, 1.0]]), spread_scores([1.5], 2))
        >>> round(float(loss), 4)
        0.1438
    """
    divergences = tf.math.xlogy(targets, targets) - targets * tf.nn.log_softmax(logits)
    num_pairs = tf.maximum(tf.shape(logits)[0], 1)
    return tf.reduce_sum(divergences) / tf.cast(num_pairs, divergences.dtype)


def expected_score(logits: tf.Tensor) -> tf.Tensor:
    """Computes the predicted score, `[1..K] . softmax(logits)`, float32 `(batch,)` in 1..K.

    Args:
        logits: float32 `(batch, K)`.

    Example:
        >>> expected_score(tf.constant([[0.0, 0.0, 0.0]])).numpy().tolist()
        [2.0]
    """
    return tf.reduce_sum(tf.nn.softmax(logits) * _classes(logits.shape[-1]), axis=1)


def _classes(num_classes: int) -> tf.Tensor:
    return tf.range(1.0, num_classes + 1.0)
