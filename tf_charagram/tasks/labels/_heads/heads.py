"""Heads over the vectors of texts or pairs: a sigmoid layer, then one logit per answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.checks import check_labels
from tf_charagram.errors import ConfigError, check_integers, check_positive
from tf_charagram.layers.base import ConfiguredLayer
from tf_charagram.losses.labels import cross_entropy
from tf_charagram.tasks.labels._heads.relatedness import relatedness_loss, spread_scores

# Initial variance of a hidden unit before the sigmoid, per feature of size 1. All examples are then
# near the middle of the sigmoid, where they have a gradient.
_INITIAL_VARIANCE = 0.03


class _SigmoidHead(ConfiguredLayer):
    """Base of the heads: logits = Wp sigmoid(W1 f1 + ... + b) + bp over features of vectors.

    By default these are features of pairs, and there is a logit for each label.

    Vectors are first divided by `scale`, a weight that `adapt` sets and training does not change.
    Means of word vectors have a size of 0.02 in each dimension, sums of n-grams 0.5 or 5. One
    learning rate does not suit all of these, and large vectors saturate the sigmoid. The factor
    could be part of W, so the set of functions is the same.

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        num_outputs: Number of logits of a head without labels, at least 2.
        hidden_dim: Width of the sigmoid layer.
        seed: Seed of the initial weights.
        **kwargs: Name and dtype of the layer.

    Raises:
        ConfigError: An argument is out of range.
    """

    #: Name of each feature.
    feature_names: ClassVar[tuple[str, ...]] = ("product", "distance")

    labels: tuple[str, ...]

    def __init__(
        self,
        *,
        dim: int,
        labels: Iterable[str] | None = None,
        num_outputs: int | None = None,
        hidden_dim: int = 50,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": "head", **kwargs})
        check_positive(dim=dim, hidden_dim=hidden_dim)
        if num_outputs is None:
            self.labels = check_labels(labels or ())
            num_outputs = len(self.labels)
        self.dim = dim
        self.hidden_dim = hidden_dim
        self.seed = seed
        # Masks of vectors of other layers are ignored.
        self.supports_masking = True
        self.scale = self.add_weight(shape=(), initializer="ones", trainable=False, name="scale")
        self.kernels = [
            self.add_weight(
                shape=(dim, hidden_dim),
                initializer=keras.initializers.VarianceScaling(
                    _INITIAL_VARIANCE, "fan_in", "untruncated_normal", seed=seed + i
                ),
                name=f"{name}_kernel",
            )
            for i, name in enumerate(self.feature_names)
        ]
        self.bias = self.add_weight(shape=(hidden_dim,), initializer="zeros", name="bias")
        self.output_kernel = self.add_weight(
            shape=(hidden_dim, num_outputs),
            initializer=keras.initializers.GlorotUniform(seed=seed + len(self.kernels)),
            name="output_kernel",
        )
        self.output_bias = self.add_weight(
            shape=(num_outputs,), initializer="zeros", name="output_bias"
        )
        self.built = True

    def _features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns features, float32 `(batch, dim)` each: of pairs, lefts first, by default."""
        left, right = tf.split(vectors, 2)
        return left * right, tf.abs(left - right)

    def call(self, vectors: tf.Tensor) -> tf.Tensor:
        """Returns the logits, float32 `(batch, num_outputs)`."""
        features = self._features(vectors / self.scale.value)
        products = [
            feature @ kernel.value for feature, kernel in zip(features, self.kernels, strict=True)
        ]
        hidden = tf.sigmoid(tf.add_n(products) + self.bias.value)
        return hidden @ self.output_kernel.value + self.output_bias.value

    def loss(
        self, logits: tf.Tensor, targets: tf.Tensor, class_weights: tf.Tensor | None
    ) -> tf.Tensor:
        """Computes the loss of a batch, a scalar: the cross entropy of labels by default."""
        return cross_entropy(logits, targets, class_weights)

    def adapt(self, vectors: tf.Tensor | np.ndarray) -> None:
        """Sets `scale` to the root mean square of some vectors, if that is not 0.

        To be called before training, with some of the training vectors.

        Args:
            vectors: float32 `(n, dim)`.
        """
        numbers = np.asarray(vectors, np.float64)
        size = np.sqrt(np.mean(np.square(numbers))) if numbers.size else 0.0
        if np.isfinite(size) and size > 1e-6:
            self.scale.assign(size)


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairScoreHead(_SigmoidHead):
    """Computes logits for pairs of vectors: Wp sigmoid(W* h* + W+ h+ + b) + bp.

    There is one logit per whole score from 1 to K. h* = left * right and h+ = |left - right| do not
    depend on the order of the two vectors (Tai et al. 2015; Universal, section 4.4).

    Args:
        dim: Width of the vectors.
        num_classes: K, at least 2.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.

    Call arguments:
        vectors: The vectors of B pairs, lefts first, then rights, float32 `(2B, dim)`.

    Returns:
        float32 `(B, K)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(self, *, dim: int, num_classes: int = 5, **kwargs: Any) -> None:
        check_integers(num_classes=num_classes)
        if num_classes < 2:
            raise ConfigError(
                f"`num_classes` must be at least 2. Received: num_classes={num_classes}"
            )
        super().__init__(dim=dim, num_outputs=num_classes, **kwargs)
        self.num_classes = num_classes

    def loss(
        self, logits: tf.Tensor, targets: tf.Tensor, class_weights: tf.Tensor | None
    ) -> tf.Tensor:
        """Computes the divergence of the logits from the scores, a scalar."""
        del class_weights
        return relatedness_loss(logits, spread_scores(targets, self.num_classes))


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairLabelHead(_SigmoidHead):
    """Computes logits for pairs of vectors: Wp sigmoid(W* h* + W+ h+ + b) + bp, one per label.

    h* = left * right and h+ = |left - right| do not depend on the order of the two vectors (Tai et
    al. 2015; Universal, section 4.4).

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.

    Call arguments:
        vectors: The vectors of B pairs, lefts first, then rights, float32 `(2B, dim)`.

    Returns:
        float32 `(B, num_labels)`.

    Raises:
        ConfigError: An argument is out of range.
    """


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextHead(_SigmoidHead):
    """Computes logits for vectors: Wp sigmoid(W h + b) + bp, one per label (Universal, 4.4).

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.

    Call arguments:
        vectors: float32 `(batch, dim)`.

    Returns:
        float32 `(batch, num_labels)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    feature_names = ("vector",)

    def _features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        return (vectors,)

    def compute_output_shape(self, vectors_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Returns the shape of the logits, which `keras.layers.TimeDistributed` asks for."""
        return (*vectors_shape[:-1], len(self.labels))
