"""Cosine similarity that is defined, and differentiable, for zero vectors too."""

from __future__ import annotations

import tensorflow as tf


def normalize_rows(vectors: tf.Tensor, epsilon: float = 1e-12) -> tf.Tensor:
    """Returns each row divided by its length; a zero row stays zero and gets no gradient.

    Args:
        vectors: float `(n, dim)`.
        epsilon: Squared lengths up to this count as zero.

    Returns:
        float `(n, dim)`.
    """
    squared = tf.reduce_sum(tf.square(vectors), axis=1, keepdims=True)
    is_zero = squared <= epsilon
    # The inner `where` keeps an infinite derivative out of the branch that is not taken.
    scale = tf.math.rsqrt(tf.where(is_zero, tf.ones_like(squared), squared))
    return vectors * tf.where(is_zero, tf.zeros_like(squared), scale)


def paired_cosine(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Returns the cosines of corresponding rows, `(n,)`; 0 where one is a zero vector."""
    return tf.reduce_sum(normalize_rows(left) * normalize_rows(right), axis=1)
