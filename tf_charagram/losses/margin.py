"""The margin loss of paraphrase pairs and their negatives (Charagram, appendix A)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram._common.checks import check_margin
from tf_charagram.errors import ConfigError
from tf_charagram.losses.cosine import normalize_rows, reciprocal_lengths, swap_halves
from tf_charagram.losses.negatives import NegativeSampler


@keras.saving.register_keras_serializable(package="tf_charagram")
class MarginLoss(keras.losses.Loss):
    """Margin loss of pairs with in-batch negatives, for two-tower Keras models.

    Args:
        margin: m, in [0, 2].
        negatives: `"max"`, the most similar text of another pair; `"random"`; or `"mix"` of both.
        seed: Seed of the random negatives.
        name: Name of the loss.
        **kwargs: Arguments of `keras.losses.Loss`, such as `reduction`.

    Call arguments:
        y_true: Integers `(batch,)`. Pairs with the same number are never negatives of each other,
            for example pairs about one product. Use `tf.range(batch)` if all pairs are different.
        y_pred: Vectors of lefts and rights, float `(batch, 2, dim)`, as made by
            `keras.ops.stack([left, right], axis=1)`.

    Returns:
        Scalar: the mean over the pairs, weighted by `sample_weight`.

    Raises:
        ConfigError: An argument is out of range, or `y_pred` has another shape.

    Examples:
        >>> vectors = tf.constant([[[1.0, 0], [1, 0]], [[0, 1], [0, 1]]])
        >>> float(MarginLoss(margin=0.4)(tf.range(2), vectors))
        0.0
        >>> float(MarginLoss(margin=1.5)(tf.range(2), vectors))
        1.0
    """

    def __init__(
        self,
        margin: float = 0.4,
        negatives: str = "max",
        *,
        seed: int = 0,
        name: str = "margin_loss",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        check_margin(margin)
        self.margin = margin
        self.negatives = negatives
        self.seed = seed
        self._sampler = NegativeSampler(negatives, seed=seed)
        self._draws = tf.random.Generator.from_seed(seed) if negatives != "max" else None

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tf.Tensor:
        """Computes the loss of a batch."""
        # Keras casts targets to float32, where different numbers above 2^24 may become equal.
        _, groups = tf.unique(tf.reshape(y_true, [-1]))
        return super().__call__(groups, y_pred, sample_weight)

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        """Returns the loss of each pair, float32 `(batch,)`."""
        if y_pred.shape.rank != 3 or y_pred.shape[1] != 2:
            raise ConfigError(
                "`y_pred` must be the vectors of pairs, (batch, 2, dim). Received: shape "
                f"{tuple(y_pred.shape)}. Stack both sides: keras.ops.stack([left, right], axis=1)."
            )
        sides = tf.unstack(tf.cast(y_pred, tf.float32), axis=1)
        embeddings = tf.concat(sides, axis=0)
        groups = tf.cast(tf.reshape(y_true, [-1]), tf.int64)
        groups = tf.tile(groups, [2])
        step = tf.constant(0, tf.int64)
        if self._draws is not None:
            step = self._draws.uniform([], maxval=2**31, dtype=tf.int64)
        chosen, exists = self._sampler(normalize_rows(embeddings), groups, step)
        hinges = _margin_hinges(embeddings, chosen, self.margin)
        hinges *= tf.cast(exists, tf.float32)
        # A pair has the hinges of its left and its right text.
        return tf.reduce_sum(tf.reshape(hinges, [2, -1]), axis=0)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "margin": self.margin,
            "negatives": self.negatives,
            "seed": self.seed,
        }


def margin_loss(
    embeddings: tf.Tensor, negatives: tf.Tensor, exists: tf.Tensor, margin: float
) -> tf.Tensor:
    """Computes the mean over pairs of both hinges `max(0, m - cos(x1, x2) + cos(x, t))`.

    Args:
        embeddings: Lefts, then rights, float32 `(2B, dim)`.
        negatives: Index of the negative of each text, int64 `(2B,)`.
        exists: Whether the text has a negative, bool `(2B,)`. Without one its hinge is 0.
        margin: m, in `[0, 2]`.

    Returns:
        Scalar; 0 for an empty batch.

    Raises:
        tf.errors.InvalidArgumentError: While taking the gradient, if it or a hinge is not finite.
    """
    hinges = _margin_hinges(embeddings, negatives, margin)
    num_pairs = tf.maximum(tf.size(hinges) // 2, 1)
    weights = tf.cast(exists, hinges.dtype) / tf.cast(num_pairs, hinges.dtype)
    return tf.reduce_sum(hinges * weights)


def _margin_hinges(embeddings: tf.Tensor, negatives: tf.Tensor, margin: float) -> tf.Tensor:
    """Computes the hinge `max(0, m - cos(x1, x2) + cos(x, t))` of each text.

    The gradient flows through the negatives as well. A zero vector has cosine 0 with every vector,
    and no gradient. The gradient is written by hand: automatic differentiation needs five times as
    many operations, and their number decides the cost of a step at batch size 25.

    Args:
        embeddings: Lefts, then rights, float32 `(2B, dim)`.
        negatives: Index of the negative of each text, int64 `(2B,)`.
        margin: m, in `[0, 2]`.

    Returns:
        float32 `(2B,)`.

    Raises:
        tf.errors.InvalidArgumentError: While taking the gradient, if it or a hinge is not finite.
    """
    # tf.function keeps int32 arguments in host memory.
    return _hinges(embeddings, tf.cast(negatives, tf.int64), tf.cast(margin, tf.float32))


# Traced once per process: TensorFlow keeps every graph in which a custom gradient was traced.
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
        # One sum for both cosines.
        differences = tf.reduce_sum(unit * (chosen - partners), axis=1)
        hinges = tf.nn.relu(margin + differences)

        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            active = tf.where(hinges > 0, upstream, 0.0)
            # A text is pulled to its partner by its own hinge and by the partner's.
            both = active + swap_halves(active)
            active_column = tf.expand_dims(active, axis=1)
            both_column = tf.expand_dims(both, axis=1)
            of_chosen = active_column * unit
            of_unit = active_column * chosen - both_column * partners
            rows = tf.expand_dims(negatives, axis=1)
            of_unit = tf.tensor_scatter_nd_add(of_unit, rows, of_chosen)
            # The derivative of x / |x| removes the part along x, and divides by |x|.
            along = tf.reduce_sum(unit * of_unit, axis=1, keepdims=True)
            across = of_unit - unit * along
            result = across * reciprocal_lengths(embeddings)
            # A sum is finite only if all its terms are.
            total = tf.reduce_sum(hinges) + tf.reduce_sum(result)
            message = "The loss or its gradient is not finite"
            checked = tf.debugging.check_numerics(total, message)
            with tf.control_dependencies([checked]):
                return tf.identity(result)

        return hinges, gradient

    return hinges_of(embeddings)
