"""L2 penalties as terms of the gradient, so that a sparse gradient can stay sparse."""

from __future__ import annotations

from typing import TypeAlias

import tensorflow as tf

Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices


def add_l2_gradient(
    gradient: Gradient, variable: tf.Variable, strength: float, *, dense: bool = False
) -> Gradient:
    """Adds the gradient of `0.5 * strength * ||variable||^2`.

    Args:
        gradient: Of the loss with respect to `variable`; dense, or sparse with distinct rows.
        variable: The weights.
        strength: lambda of the papers, whose code has the factor 0.5 too.
        dense: Whether a sparse gradient becomes dense, so that every row decays at every step.
            By default only the rows the batch touched do, which costs nothing.

    Returns:
        A gradient of the same kind, or a dense tensor if asked for.
    """
    if strength == 0.0:
        return gradient
    if isinstance(gradient, tf.IndexedSlices) and dense:
        gradient = tf.convert_to_tensor(gradient)
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient + strength * variable
    decay = strength * tf.gather(variable, gradient.indices)
    return tf.IndexedSlices(gradient.values + decay, gradient.indices, gradient.dense_shape)
