"""Rows of ragged tensors."""

from __future__ import annotations

import tensorflow as tf


def gather_ragged(ids: tf.RaggedTensor, rows: tf.Tensor) -> tf.RaggedTensor:
    """Gathers rows of a ragged tensor where it is; `tf.gather` does so on the CPU only.

    Args:
        ids: `(num_rows, None)`.
        rows: int64 `(n,)`, values in `[0, num_rows)`.

    Returns:
        `(n, None)`.
    """
    starts = tf.gather(ids.row_splits, rows)
    lengths = tf.gather(ids.row_splits, rows + 1) - starts
    steps = tf.range(tf.maximum(tf.reduce_max(lengths), 0))
    positions = tf.boolean_mask(starts[:, tf.newaxis] + steps, steps < lengths[:, tf.newaxis])
    splits = tf.concat([tf.zeros([1], lengths.dtype), tf.cumsum(lengths)], axis=0)
    values = tf.gather(ids.values, positions)
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)
