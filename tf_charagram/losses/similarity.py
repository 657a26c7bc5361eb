"""Cosine similarity that is defined, and differentiable, for zero vectors too."""

from __future__ import annotations

import tensorflow as tf

# Squared lengths up to this count as zero.
_EPSILON = 1e-12


def reciprocal_lengths(vectors: tf.Tensor) -> tf.Tensor:
    """Computes 1 / length of each row, `(n, 1)`; 0, without a gradient, for a zero row.

    Args:
        vectors: float `(n, dim)`.
    """
    squared = tf.reduce_sum(tf.square(vectors), axis=1, keepdims=True)
    is_zero = squared <= _EPSILON
    # The inner `where` keeps an infinite derivative out of the branch that is not taken.
    return tf.where(is_zero, 0.0, tf.math.rsqrt(tf.where(is_zero, 1.0, squared)))


def normalize_rows(vectors: tf.Tensor) -> tf.Tensor:
    """Returns each row divided by its length, float `(n, dim)`; a zero row stays zero."""
    return vectors * reciprocal_lengths(vectors)


def paired_cosine(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Computes the cosines of corresponding rows, `(n,)`; 0 where one is a zero vector."""
    return tf.reduce_sum(normalize_rows(left) * normalize_rows(right), axis=1)


def swap_halves(values: tf.Tensor) -> tf.Tensor:
    """Returns the second half of the rows, then the first: of 2B texts, each one's partner."""
    return tf.roll(values, tf.shape(values)[0] // 2, axis=0)
