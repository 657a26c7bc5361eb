"""Sparse gradients of tables and the rows they name, on the CPU and compiled by XLA.

On the CPU, a gradient has as many rows as its batch names. XLA has to know all sizes beforehand.
There, a gradient has a slot for each row that its batch may name, and slots that are left over
name `PADDING`.
"""

from __future__ import annotations

from typing import TypeAlias

import keras
import tensorflow as tf

from tf_charagram.layers._ops.chunked import PADDING, distinct_ids, in_slots
from tf_charagram.layers._ops.xla import in_xla

#: Of a table, a sparse gradient names the rows of the batch.
Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices


def sum_equal_rows(
    gradient: tf.IndexedSlices, table: tf.Variable | keras.Variable
) -> tf.IndexedSlices:
    """Returns the gradient with every row at most once, gradients of equal rows summed.

    Keras' own optimizers skip this, and so move a row that occurs twice by more than the summed
    gradient would. If all rows are distinct already, it costs one pass over the indices.

    Args:
        gradient: Gradient of a table. Compiled by XLA, rows outside the table are left out.
        table: The table, `(num_rows, dim)`.
    """
    if in_xla():
        return _sum_in_slots(gradient, table.shape[0])
    distinct, positions = tf.unique(gradient.indices)
    num_distinct = tf.size(distinct)
    # `keras.layers.Embedding` reads its whole table, which copies nothing as long as no gather of
    # single rows runs at the same time: so no row is read before the gradient is there.
    with tf.control_dependencies([gradient.values]):
        distinct = tf.identity(distinct)
    values = tf.cond(
        num_distinct == tf.size(positions),
        lambda: gradient.values,
        lambda: tf.math.unsorted_segment_sum(gradient.values, positions, num_distinct),
    )
    return tf.IndexedSlices(values, distinct, gradient.dense_shape)


def _sum_in_slots(gradient: tf.IndexedSlices, num_rows: int) -> tf.IndexedSlices:
    """Sums equal rows, with a slot for each index."""
    indices = tf.cast(gradient.indices, tf.int32)
    is_row = (indices >= 0) & (indices < num_rows)
    indices = tf.where(is_row, indices, PADDING)
    num_slots = tf.size(indices)
    numbers, is_last = distinct_ids(indices, num_rows)
    slots = tf.where(is_row, numbers, PADDING)
    sums = tf.math.unsorted_segment_sum(gradient.values, slots, num_slots)
    rows = in_slots(indices, numbers, is_last, num_slots)
    return tf.IndexedSlices(sums, rows, gradient.dense_shape)


def keep_if(condition: tf.Tensor, gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """Leaves out all rows of a sparse gradient unless a condition holds; only compiled by XLA."""
    indices = tf.where(condition, gradient.indices, PADDING)
    return tf.IndexedSlices(gradient.values, indices, gradient.dense_shape)


def read_rows(table: tf.Tensor | tf.Variable, indices: tf.Tensor) -> tf.Tensor:
    """Returns the rows of a table that a gradient names, `(n, dim)`.

    Args:
        table: `(num_rows, dim)`.
        indices: Integer `(n,)`, distinct. Compiled by XLA, slots that are left over give any row.
    """
    if in_xla():
        return tf.gather(table, indices)
    # Bound by memory, not by computation, so it need not wait for the gradient.
    with tf.control_dependencies(None):
        return tf.gather(table, indices)


def values_of(gradient: Gradient) -> tf.Tensor:
    """Returns the numbers of a gradient, of a sparse one without the rows left out."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
