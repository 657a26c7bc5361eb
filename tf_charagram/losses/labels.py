"""The loss of labels."""

from __future__ import annotations

import tensorflow as tf


def cross_entropy(
    logits: tf.Tensor, labels: tf.Tensor, class_weights: tf.Tensor | None = None
) -> tf.Tensor:
    """Computes the weighted mean of `-log softmax(logits)[label]` over the examples.

    The weighted sum is divided by the sum of the weights, so only their ratios matter.

    Args:
        logits: float32 `(batch, num_labels)`.
        labels: Indices of labels, int32 `(batch,)`.
        class_weights: Weight of an example of each label, float32 `(num_labels,)`. Default: 1.

    Returns:
        Scalar; 0 for an empty batch, or if all weights are 0.

    Examples:
        Logits `(log 3, 0)` are `(0.75, 0.25)`. Labels 0 and 1 cost `-log 0.75 = 0.2877` and
        `-log 0.25 = 1.3863`: 0.8370 on average, `(0.2877 + 3 * 1.3863) / 4 = 1.1116` with
        weights 1 and 3.

        >>> logits, labels = tf.math.log([[3.0, 1.0], [3.0, 1.0]]), tf.constant([0, 1])
        >>> round(float(cross_entropy(logits, labels)), 4)
        0.837
        >>> round(float(cross_entropy(logits, labels, tf.constant([1.0, 3.0]))), 4)
        1.1116
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    if class_weights is None:
        weights = tf.ones_like(losses)
    else:
        weights = tf.gather(class_weights, labels)
    weighted_sum = tf.reduce_sum(weights * losses)
    return tf.math.divide_no_nan(weighted_sum, tf.reduce_sum(weights))
