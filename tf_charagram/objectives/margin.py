"""The margin loss of paraphrase pairs and their negatives (Charagram, appendix A)."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.layers.ragged_sum import gather_rows


def margin_loss(
    normalized: tf.Tensor, negatives: tf.Tensor, exists: tf.Tensor, margin: float
) -> tf.Tensor:
    """Returns the mean over the pairs of both hinges `max(0, m - cos(x1, x2) + cos(x, t))`.

    The gradient flows through the negatives as well. A text without a negative adds nothing.

    Args:
        normalized: Embeddings of unit length (or zero), lefts then rights, float `(2B, dim)`.
        negatives: Index of the negative of each, int32 `(2B,)`.
        exists: Whether there is one, bool `(2B,)`.
        margin: m, in `[0, 2]`.

    Returns:
        Scalar; 0 for an empty batch.
    """
    num_pairs = tf.shape(normalized)[0] // 2
    positive = tf.reduce_sum(normalized[:num_pairs] * normalized[num_pairs:], axis=1)
    negative = tf.reduce_sum(normalized * gather_rows(normalized, negatives), axis=1)
    hinges = tf.nn.relu(margin - tf.tile(positive, [2]) + negative)
    hinges = tf.where(exists, hinges, tf.zeros_like(hinges))
    return tf.reduce_sum(hinges) / tf.cast(tf.maximum(num_pairs, 1), hinges.dtype)
