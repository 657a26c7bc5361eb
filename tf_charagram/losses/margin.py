"""The margin loss of paraphrase pairs and their negatives (Charagram, appendix A)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tf_charagram.losses.similarity import normalize_rows, reciprocal_lengths, swap_halves


def margin_loss(
    embeddings: tf.Tensor, negatives: tf.Tensor, exists: tf.Tensor, margin: float
) -> tf.Tensor:
    """Computes the mean over the pairs of both hinges `max(0, m - cos(x1, x2) + cos(x, t))`.

    A text without a negative adds nothing; for all else see `margin_hinges`.

    Args:
        embeddings: Lefts, then rights, float32 `(2B, dim)`.
        negatives: Index of the negative of each, int64 `(2B,)`.
        exists: Whether there is one, bool `(2B,)`.
        margin: m, in `[0, 2]`.

    Returns:
        Scalar; 0 for an empty batch.

    Raises:
        tf.errors.InvalidArgumentError: As `margin_hinges`.
    """
    hinges = margin_hinges(embeddings, negatives, margin)
    num_pairs = tf.maximum(tf.size(hinges) // 2, 1)
    return tf.reduce_sum(
        hinges * (tf.cast(exists, hinges.dtype) / tf.cast(num_pairs, hinges.dtype))
    )


def margin_hinges(embeddings: tf.Tensor, negatives: tf.Tensor, margin: float) -> tf.Tensor:
    """Computes the hinge `max(0, m - cos(x1, x2) + cos(x, t))` of each text.

    The gradient flows through the negatives as well. A zero vector has cosine 0 with all, and no
    gradient. The gradient is written out, because automatic differentiation takes five times as
    many operations, and at batch 25 their number is what a step costs.

    Args:
        embeddings: Lefts, then rights, float32 `(2B, dim)`.
        negatives: Index of the negative of each, int64 `(2B,)`.
        margin: m, in `[0, 2]`.

    Returns:
        float32 `(2B,)`.

    Raises:
        tf.errors.InvalidArgumentError: When the gradient is taken: it, or a hinge, is not finite.
    """
    # Functions keep arguments of int32 in host memory.
    return _hinges(embeddings, tf.cast(negatives, tf.int64), tf.cast(margin, tf.float32))


# Traced once per process: TensorFlow keeps each graph in which a custom gradient was traced.
@tf.function(
    input_signature=[
        tf.TensorSpec([None, None], tf.float32),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([], tf.float32),
    ],
    autograph=False,
)
def _hinges(embeddings: tf.Tensor, negatives: tf.Tensor, margin: tf.Tensor) -> tf.Tensor:
    @tf.custom_gradient
    def hinges_of(embeddings: tf.Tensor) -> tuple[tf.Tensor, Any]:
        unit = normalize_rows(embeddings)
        partners = swap_halves(unit)
        chosen = tf.gather(unit, negatives)
        hinges = tf.nn.relu(margin + tf.reduce_sum(unit * (chosen - partners), axis=1))

        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            active = tf.where(hinges > 0, upstream, 0.0)
            # A text is pulled to its partner by its own hinge and by that of the partner.
            both = active + swap_halves(active)
            of_chosen = active[:, tf.newaxis] * unit
            of_unit = active[:, tf.newaxis] * chosen - both[:, tf.newaxis] * partners
            of_unit = tf.tensor_scatter_nd_add(of_unit, negatives[:, tf.newaxis], of_chosen)
            along = tf.reduce_sum(unit * of_unit, axis=1, keepdims=True)
            result = (of_unit - unit * along) * reciprocal_lengths(embeddings)
            # A sum is finite only if all its terms are.
            total = tf.debugging.check_numerics(
                tf.reduce_sum(hinges) + tf.reduce_sum(result),
                "The loss or its gradient is not finite",
            )
            with tf.control_dependencies([total]):
                return tf.identity(result)

        return hinges, gradient

    return hinges_of(embeddings)
