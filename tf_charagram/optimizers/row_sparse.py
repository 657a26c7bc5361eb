"""What row-sparse updates have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import tensorflow as tf

Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices


def sum_equal_rows(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """Returns the gradient with every row at most once, gradients of equal rows summed.

    Keras' own optimizers skip this, and so move a row that occurs twice by more than the summed
    gradient would. Where all rows are distinct already, it costs one pass over the indices.
    """
    distinct, positions = tf.unique(gradient.indices)
    num_distinct = tf.shape(distinct)[0]
    values = tf.cond(
        num_distinct == tf.shape(positions)[0],
        lambda: gradient.values,
        lambda: tf.math.unsorted_segment_sum(gradient.values, positions, num_distinct),
    )
    return tf.IndexedSlices(values, distinct, gradient.dense_shape)


def clip_by_global_norm(gradients: Sequence[Gradient], clip_norm: float) -> list[Gradient]:
    """Scales gradients so that their joint L2 norm is at most `clip_norm`.

    Args:
        gradients: Dense tensors, or sparse ones with distinct rows.
        clip_norm: Largest norm, above 0.
    """
    squares = [
        tf.reduce_sum(tf.square(g.values if isinstance(g, tf.IndexedSlices) else g))
        for g in gradients
    ]
    norm = tf.sqrt(tf.add_n(squares))
    scale = clip_norm / tf.maximum(norm, clip_norm)
    return [
        tf.IndexedSlices(g.values * scale, g.indices, g.dense_shape)
        if isinstance(g, tf.IndexedSlices)
        else g * scale
        for g in gradients
    ]
