"""The cosine of most losses, defined and smooth for zero vectors too."""

from __future__ import annotations

import tensorflow as tf

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
