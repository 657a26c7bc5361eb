"""Features of pairs of vectors."""

from __future__ import annotations

import tensorflow as tf


def pair_features(left: tf.Tensor, right: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes h* = left * right and h+ = |left - right| (Tai et al. 2015; Universal, section 4.4).

    Both are the same whichever side is the left one.

    Args:
        left: float32 `(batch, dim)`.
        right: float32 `(batch, dim)`.

    Returns:
        The product and the distance, float32 `(batch, dim)` each.

    Example:
        >>> product, distance = pair_features(tf.constant([[1.0, 2.0]]), tf.constant([[3.0, -1.0]]))
        >>> product.numpy().tolist(), distance.numpy().tolist()
        ([[3.0, -2.0]], [[2.0, 3.0]])
    """
    return left * right, tf.abs(left - right)
