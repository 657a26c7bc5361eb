"""The base of the heads of supervised tasks: a sigmoid layer, then one logit per answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers.base import ConfiguredLayer

# Initial variance of a hidden unit before the sigmoid, per feature of size 1. All examples are then
# near the middle of the sigmoid, where they have a gradient.
_INITIAL_VARIANCE = 0.03


class SigmoidHead(ConfiguredLayer):
    """Base of the heads: logits = Wp sigmoid(W1 f1 + ... + b) + bp over features of vectors.

    Vectors are first divided by `scale`, a weight that `adapt` sets and training does not change.
    Means of word vectors have a size of 0.02 in each dimension, sums of n-grams 0.5 or 5. One
    learning rate does not suit all of these, and large vectors saturate the sigmoid. The factor
    could be part of W, so the set of functions is the same.

    Args:
        dim: Width of the vectors.
        num_outputs: Number of logits, at least 2.
        hidden_dim: Width of the sigmoid layer.
        seed: Seed of the initial weights.
        **kwargs: Name and dtype of the layer.

    Raises:
        ConfigError: An argument is out of range.
    """

    #: Name of each feature that `features` returns.
    feature_names: ClassVar[tuple[str, ...]]

    def __init__(
        self, *, dim: int, num_outputs: int, hidden_dim: int = 50, seed: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**{"name": "head", **kwargs})
        check_positive(dim=dim, hidden_dim=hidden_dim)
        self.dim = dim
        self.hidden_dim = hidden_dim
        self.seed = seed
        # Masks of vectors of other layers are ignored.
        self.supports_masking = True
        self.scale = self.add_weight(shape=(), initializer="ones", trainable=False, name="scale")
        self.kernels: list[keras.Variable] = []
        for name in self.feature_names:
            initializer = keras.initializers.VarianceScaling(
                _INITIAL_VARIANCE, "fan_in", "untruncated_normal", seed=seed + len(self.kernels)
            )
            kernel = self.add_weight((dim, hidden_dim), initializer, name=f"{name}_kernel")
            self.kernels.append(kernel)
        self.bias = self.add_weight((hidden_dim,), "zeros", name="bias")
        initializer = keras.initializers.GlorotUniform(seed=seed + len(self.kernels))
        self.output_kernel = self.add_weight(
            (hidden_dim, num_outputs), initializer, name="output_kernel"
        )
        self.output_bias = self.add_weight((num_outputs,), "zeros", name="output_bias")
        self.built = True

    def features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns the features of vectors, float32 `(batch, dim)` each."""
        raise NotImplementedError

    def call(self, vectors: tf.Tensor) -> tf.Tensor:
        """Returns the logits, float32 `(batch, num_outputs)`."""
        features = self.features(vectors / self.scale.value)
        products = []
        for feature, kernel in zip(features, self.kernels, strict=True):
            products.append(feature @ kernel.value)
        hidden = tf.sigmoid(tf.add_n(products) + self.bias.value)
        return hidden @ self.output_kernel.value + self.output_bias.value

    def adapt(self, vectors: tf.Tensor | np.ndarray) -> None:
        """Sets `scale` to the root mean square of some vectors, if that is not 0.

        To be called before training, with some of the training vectors.

        Args:
            vectors: float32 `(n, dim)`.
        """
        numbers = np.asarray(vectors, np.float64)
        size = np.sqrt(np.mean(np.square(numbers)))
        # False for NaN as well.
        if 1e-6 < size < np.inf:
            self.scale.assign(size)


class LabelHead(SigmoidHead):
    """Base of the heads with one logit per label.

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(self, *, dim: int, labels: Iterable[str], **kwargs: Any) -> None:
        labels = checked_labels(labels)
        super().__init__(dim=dim, num_outputs=len(labels), **kwargs)
        self.labels = labels


def checked_labels(labels: Iterable[str], min_labels: int = 2) -> tuple[str, ...]:
    """Returns the labels of a head.

    Raises:
        ConfigError: They are a single string, too few, one is not a string, or one occurs twice.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ConfigError(f"`labels` must be a list of strings. Received: {labels!r}")
    labels = tuple(labels)
    if len(labels) < min_labels or len(set(labels)) < len(labels):
        raise ConfigError(
            f"`labels` must be at least {min_labels}, all different. Received: {list(labels)}"
        )
    if not all(isinstance(label, str) for label in labels):
        raise ConfigError(f"`labels` must be strings. Received: {list(labels)}")
    return labels
