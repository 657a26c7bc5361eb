"""Relatedness of pairs as a score from 1 to K (Tai et al. 2015): loss, prediction, evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import ArrayLike
from rich.table import Table

from tf_charagram.evaluation._scores.statistics import (
    Floats,
    MetricScore,
    hundredfold,
    intervals_of,
    pearson,
    resampled_pearson,
    resampled_spearman,
    spearman,
)
from tf_charagram.evaluation._scores.tables import metric_table


def spread_scores(scores: Any, num_classes: int) -> tf.Tensor:
    """Spreads each score over its two neighbouring integers, so that their mean is the score.

    Universal, section 4.4: `p_i = y - floor(y)` at `i = floor(y) + 1`, `floor(y) - y + 1` at
    `i = floor(y)`, else 0; which is `max(0, 1 - |y - i|)`.

    Args:
        scores: y, numbers in 1..K, `(batch,)`.
        num_classes: K.

    Returns:
        float32 `(batch, K)`; each row adds up to 1.

    Examples:
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

    Examples:
        The score 1.5 is `(0.5, 0.5)`. Logits `(log 3, 0)` are `(0.75, 0.25)`, and the loss
        `0.5 log(0.5 / 0.75) + 0.5 log(0.5 / 0.25) = -0.2027 + 0.3466 = 0.1438`.

        >>> loss = relatedness_loss(tf.math.log([[3.0, 1.0]]), spread_scores([1.5], 2))
        >>> round(float(loss), 4)
        0.1438
    """
    # Terms of the divergence, over which the last line sums; `xlogy(0, 0)` is 0.
    divergences = tf.math.xlogy(targets, targets) - targets * tf.nn.log_softmax(logits)
    num_pairs = tf.maximum(tf.shape(logits)[0], 1)
    return tf.reduce_sum(divergences) / tf.cast(num_pairs, divergences.dtype)


def expected_score(logits: tf.Tensor) -> tf.Tensor:
    """Computes the predicted score, `[1..K] . softmax(logits)`, float32 `(batch,)` in 1..K.

    Args:
        logits: float32 `(batch, K)`.

    Examples:
        >>> expected_score(tf.constant([[0.0, 0.0, 0.0]])).numpy().tolist()
        [2.0]
    """
    return tf.reduce_sum(tf.nn.softmax(logits) * _classes(logits.shape[-1]), axis=1)


def _classes(num_classes: int) -> tf.Tensor:
    return tf.range(1.0, num_classes + 1.0)


def score_relatedness(
    gold: ArrayLike, predicted: ArrayLike, *, num_resamples: int = 1000, seed: int = 0
) -> MetricScore:
    """Compares predicted scores with human scores.

    The metrics are `pearson` and `spearman`, x 100 and `None` if one side is constant, and `mse`,
    the mean squared error, in squared units of the scale.

    Args:
        gold: The human scores, `(num_pairs,)`.
        predicted: The predicted scores on the same scale, `(num_pairs,)`.
        num_resamples: Bootstrap resamples; 0 for no intervals.
        seed: Seed of the resamples.
    """
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
    errors = (predicted - gold) ** 2
    metrics = {
        "pearson": hundredfold(pearson(predicted, gold)),
        "spearman": hundredfold(spearman(predicted, gold)),
        "mse": float(errors.mean()),
    }

    def resampled(counts: Floats) -> Iterator[Floats]:
        yield 100.0 * resampled_pearson(predicted, gold, counts)
        yield 100.0 * resampled_spearman(predicted, gold, counts)
        yield counts @ errors / len(errors)

    intervals = intervals_of(
        [*metrics], len(gold), resampled, num_resamples=num_resamples, seed=seed
    )
    return MetricScore(len(gold), metrics, intervals)


def relatedness_table(scores: Sequence[tuple[str, MetricScore]]) -> Table:
    """Returns a table with correlations x 100 and the squared error, one row per set."""
    metrics = {
        "pearson": ("Pearson", ".2f"),
        "spearman": ("Spearman", ".2f"),
        "mse": ("MSE", ".4f"),
    }
    table = metric_table("Relatedness: correlations x 100", ("set", "pairs"), metrics, scores)
    table.caption = "MSE: in squared units of the scale."
    return table
