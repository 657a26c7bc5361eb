"""Stochastic rounding to bfloat16, by which updates too small for its 8 bits still count."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.text.keys import mix64

# Any odd numbers without a pattern: sums of small multiples of them are all different.
_SEED, _SALT = 0x9E3779B97F4A7C15, 0xDA942042E4DD58B5
_STEP, _INDEX = np.uint64(0xD1342543DE82EF95), np.uint64(0xAF251AF3B0F025B5)


def stochastic_round(
    values: tf.Tensor, rows: tf.Tensor, step: tf.Tensor, *, seed: int = 0, salt: int = 0
) -> tf.Tensor:
    """Rounds each number to one of its two neighbours in bfloat16, at random.

    The nearer one has the larger probability, so that the expectation is the number itself (Gupta
    et al. 2015, section 3.1). To the nearest, a weight that moves by less than a 512th of itself
    would stay where it is at every step. Numbers of bfloat16 stay as they are, infinities and NaN
    among them.

    What is drawn depends on the arguments only: a resumed run rounds as it would have anyway, and
    the order of the rows does not matter.

    Args:
        values: float32 `(n, dim)`, `dim` known.
        rows: Which row of a table each is, integer `(n,)`, not negative.
        step: Number of the step, integer scalar.
        seed: Seed of all draws.
        salt: Number of the table, so that tables are rounded independently.

    Returns:
        bfloat16 `(n, dim)`.
    """
    bits = tf.bitcast(values, tf.uint32)
    # A bfloat16 is the upper half of a float32. What is added to the lower half carries into the
    # upper one with the right probability; then the lower half, first in memory, is cut off.
    bits += tf.cast(_draws(rows, values.shape[1], step, seed, salt), tf.uint32)
    return tf.bitcast(tf.bitcast(bits, tf.uint16)[..., 1], tf.bfloat16)


def _draws(rows: tf.Tensor, dim: int, step: tf.Tensor, seed: int, salt: int) -> tf.Tensor:
    """Returns uniform numbers, uint16 `(n, dim)`, any two of them independent.

    Each is the sum of a draw of its row and one of its column, modulo 2^16. Any sum of rounding
    errors has the variance of independent draws, at a tenth of their price.
    """
    columns = -1 - tf.range(dim, dtype=tf.int64)
    indices = tf.bitcast(tf.concat([tf.cast(rows, tf.int64), columns], axis=0), tf.uint64)
    start = np.uint64((seed * _SEED + salt * _SALT) % 2**64)
    mixed = mix64(indices * _INDEX + (tf.cast(step, tf.uint64) * _STEP + start))
    draws = tf.cast(tf.bitwise.right_shift(mixed, np.uint64(48)), tf.uint16)
    return draws[:-dim, tf.newaxis] + draws[-dim:]
