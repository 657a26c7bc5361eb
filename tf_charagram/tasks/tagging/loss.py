"""The loss of a tagger: cross entropy of the tags (Charagram, section 4.2)."""

from __future__ import annotations

import tensorflow as tf

#: The label of a token whose tag is not known; it has no part in the loss.
UNKNOWN = -1


def tagging_loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Computes the mean of `-log softmax(logits)[label]` over the tokens whose label is known.

    Args:
        logits: float32 `(num_tokens, num_labels)`.
        labels: int32 `(num_tokens,)`; -1 where the tag is not known.

    Returns:
        float32 `()`; 0 where no label is known.
    """
    is_known = tf.not_equal(labels, UNKNOWN)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.where(is_known, labels, 0), logits)
    is_known = tf.cast(is_known, losses.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * is_known), tf.reduce_sum(is_known))
