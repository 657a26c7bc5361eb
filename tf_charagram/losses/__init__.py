"""Losses, and the cosine of most of them, defined and smooth for zero vectors too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tf_charagram.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.losses.margin import MarginLoss
else:
    _HOMES = {"MarginLoss": "tf_charagram.losses.margin"}
    __getattr__ = lazy_names(__name__, _HOMES, needs_tensorflow=True)

__all__ = ["MarginLoss"]

# Squared lengths up to this count as zero.
_EPSILON = 1e-12


def reciprocal_lengths(vectors: tf.Tensor) -> tf.Tensor:
    """Computes 1 / length of each row of `(n, dim)`, float `(n, 1)`; 0 for a zero row.

    A zero row gets no gradient.
    """
    squared = tf.reduce_sum(tf.square(vectors), axis=1, keepdims=True)
    is_zero = squared <= _EPSILON
    # Without this `where`, an infinite derivative would reach the branch that is not taken.
    positive = tf.where(is_zero, 1.0, squared)
    return tf.where(is_zero, 0.0, tf.math.rsqrt(positive))


def normalize_rows(vectors: tf.Tensor) -> tf.Tensor:
    """Divides each row by its length, float `(n, dim)`; a zero row stays zero."""
    return vectors * reciprocal_lengths(vectors)


def paired_cosine(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Computes the cosines of corresponding rows, `(n,)`; 0 if one of them is a zero vector."""
    products = normalize_rows(left) * normalize_rows(right)
    return tf.reduce_sum(products, axis=1)


def swap_halves(values: tf.Tensor) -> tf.Tensor:
    """Swaps the two halves of the rows: the partner of each text, given lefts, then rights."""
    half = tf.shape(values)[0] // 2
    return tf.roll(values, half, axis=0)


def cross_entropy(
    logits: tf.Tensor, labels: tf.Tensor, class_weights: tf.Tensor | None = None
) -> tf.Tensor:
    """Computes the weighted mean of `-log softmax(logits)[label]` over the examples.

    The weighted sum is divided by the sum of the weights, so only their ratios matter.

    Args:
        logits: float32 `(batch, num_labels)`.
        labels: Indices of labels, int32 `(batch,)`.
        class_weights: Weight of an example of each label, float32 `(num_labels,)`. Default: 1.

    Returns:
        Scalar; 0 for an empty batch, or if all weights are 0.

    Examples:
        Logits `(log 3, 0)` are `(0.75, 0.25)`. Labels 0 and 1 cost `-log 0.75 = 0.2877` and
        `-log 0.25 = 1.3863`: 0.8370 on average, `(0.2877 + 3 * 1.3863) / 4 = 1.1116` with
        weights 1 and 3.

        >>> logits, labels = tf.math.log([[3.0, 1.0], [3.0, 1.0]]), tf.constant([0, 1])
        >>> round(float(cross_entropy(logits, labels)), 4)
        0.837
        >>> round(float(cross_entropy(logits, labels, tf.constant([1.0, 3.0]))), 4)
        1.1116
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    if class_weights is None:
        weights = tf.ones_like(losses)
    else:
        weights = tf.gather(class_weights, labels)
    weighted_sum = tf.reduce_sum(weights * losses)
    return tf.math.divide_no_nan(weighted_sum, tf.reduce_sum(weights))
