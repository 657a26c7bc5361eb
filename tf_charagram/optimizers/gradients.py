"""Operations on dense and row-sparse gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from tf_charagram.layers.embedding_table import Gradient


def sum_equal_rows(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """Returns the gradient with every row at most once, gradients of equal rows summed.

    Keras' own optimizers skip this, and so move a row that occurs twice by more than the summed
    gradient would. If all rows are distinct already, it costs one pass over the indices.
    """
    distinct, positions = tf.unique(gradient.indices)
    num_distinct = tf.shape(distinct)[0]
    values = tf.cond(
        num_distinct == tf.shape(positions)[0],
        lambda: gradient.values,
        lambda: tf.math.unsorted_segment_sum(gradient.values, positions, num_distinct),
    )
    return tf.IndexedSlices(values, distinct, gradient.dense_shape)


def clip_by_global_norm(
    gradients: Sequence[Gradient],
    clip_norm: float,
    is_part: Sequence[bool] | None = None,
    sum_parts: Callable[[tf.Tensor], tf.Tensor] = tf.identity,
) -> list[Gradient]:
    """Scales gradients so that their joint L2 norm is at most `clip_norm`.

    Args:
        gradients: Dense tensors, or sparse ones with distinct rows.
        clip_norm: Maximum norm, above 0 and finite.
        is_part: Whether each gradient is a part of one that is divided over workers. Default: none
            is.
        sum_parts: Sums a scalar over the workers.

    Raises:
        tf.errors.InvalidArgumentError: The norm, whose square is a float32, is not finite.
    """
    whole: list[tf.Tensor] = [tf.zeros([])]
    parts: list[tf.Tensor] = [tf.zeros([])]
    for gradient, belongs in zip(gradients, is_part or [False] * len(gradients), strict=True):
        (parts if belongs else whole).append(tf.reduce_sum(tf.square(values_of(gradient))))
    norm = tf.sqrt(tf.add_n([*whole, sum_parts(tf.add_n(parts))]))
    norm = tf.debugging.check_numerics(norm, "The norm of the gradient is not finite")
    return scaled(gradients, clip_norm / tf.maximum(norm, clip_norm))


def values_of(gradient: Gradient) -> tf.Tensor:
    """Returns the numbers of a gradient; those of a sparse one without the rows left out."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def scaled(gradients: Sequence[Gradient], scale: float | tf.Tensor) -> list[Gradient]:
    """Returns gradients times a number; a factor of 1 costs nothing."""
    if isinstance(scale, float) and scale == 1.0:
        return list(gradients)
    return [
        tf.IndexedSlices(gradient.values * scale, gradient.indices, gradient.dense_shape)
        if isinstance(gradient, tf.IndexedSlices)
        else gradient * scale
        for gradient in gradients
    ]
