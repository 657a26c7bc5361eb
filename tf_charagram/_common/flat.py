"""Operations on flat tensors, which stand for ragged ones."""

from __future__ import annotations

import tensorflow as tf


def ranges(starts: tf.Tensor, limits: tf.Tensor, step: int = 1) -> tf.Tensor:
    """Counts from each start to before its limit, one range after the other."""
    deltas = tf.constant(step, starts.dtype)
    return tf.raw_ops.RaggedRange(starts=starts, limits=limits, deltas=deltas).rt_dense_values


def repeated(values: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    """Repeats each value as often as its count says.

    Args:
        values: Integers of 32 bits, also in a wider type, `(n,)`.
        counts: Integers `(n,)`, not negative.
    """
    # Counting below a value in the higher half takes a third of the time of a search for it.
    # `tf.repeat` would repeat all as often as the most frequent one, and drop the rest.
    half = tf.constant(32, tf.int64)
    starts = tf.bitwise.left_shift(tf.cast(values, tf.int64), half)
    counted = ranges(starts, starts + tf.cast(counts, tf.int64))
    return tf.cast(tf.bitwise.right_shift(counted, half), values.dtype)


def between(
    values: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor, splits_dtype: tf.DType = tf.int64
) -> tf.RaggedTensor:
    """Cuts parts out of a tensor: row `i` is `values[starts[i] : ends[i]]`."""
    positions = tf.ragged.range(starts, ends, row_splits_dtype=splits_dtype)
    return positions.with_values(tf.gather(values, positions.values))
