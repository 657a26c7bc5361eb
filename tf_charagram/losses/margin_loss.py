"""The losses of the package as Keras losses, for `compile` and `add_loss`."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.checks import check_margin
from tf_charagram.errors import ConfigError
from tf_charagram.losses.margin import margin_hinges
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.losses.similarity import normalize_rows


@keras.saving.register_keras_serializable(package="tf_charagram")
class MarginLoss(keras.losses.Loss):
    """The margin loss of pairs, with negatives chosen in the batch (Charagram, appendix A).

    For models with two towers that give the vectors of both sides of a pair.

    Args:
        margin: m, in [0, 2].
        negatives: `"max"`, the most similar text of another pair, `"random"`, or `"mix"` of both.
        seed: Seed of the random choices.
        name: Name of the loss.
        **kwargs: As for `keras.losses.Loss`.

    Call arguments:
        y_true: Integers `(batch,)`: pairs with the same number are never negatives of each other,
            such as those of one product. `tf.range(batch)` if all pairs are different.
        y_pred: The vectors of left and right, float `(batch, 2, dim)`, as
            `keras.ops.stack([left, right], axis=1)` gives them.

    Returns:
        Scalar, the mean over the pairs, of which each counts as often as its `sample_weight` says.

    Raises:
        ConfigError: An argument is out of range, or `y_pred` has another shape.

    Example:
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
        # Keras makes them float32, in which numbers above 2^24 may become the same.
        _, places = tf.unique(tf.reshape(y_true, [-1]))
        return super().__call__(places, y_pred, sample_weight)

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        """Returns the loss of each pair, float32 `(batch,)`."""
        if y_pred.shape.rank != 3 or y_pred.shape[1] != 2:
            raise ConfigError(
                "`y_pred` must be the vectors of pairs, (batch, 2, dim). Received: shape "
                f"{tuple(y_pred.shape)}. Stack both sides: keras.ops.stack([left, right], axis=1)."
            )
        embeddings = tf.concat(tf.unstack(tf.cast(y_pred, tf.float32), axis=1), axis=0)
        numbers = tf.tile(tf.cast(tf.reshape(y_true, [-1]), tf.int64), [2])
        step = tf.constant(0, tf.int64)
        if self._draws is not None:
            step = self._draws.uniform([], maxval=2**31, dtype=tf.int64)
        chosen, exists = self._sampler(normalize_rows(embeddings), numbers, step)
        hinges = margin_hinges(embeddings, chosen, self.margin) * tf.cast(exists, tf.float32)
        return tf.reduce_sum(tf.reshape(hinges, [2, -1]), axis=0)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "margin": self.margin,
            "negatives": self.negatives,
            "seed": self.seed,
        }
