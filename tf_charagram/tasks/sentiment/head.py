"""The head that judges one text (Universal, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers.sigmoid_head import SigmoidHead, checked_labels


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextHead(SigmoidHead):
    """Computes logits for vectors: Wp sigmoid(W h + b) + bp, one per label.

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and type, as for `SigmoidHead`.

    Call arguments:
        vectors: float32 `(batch, dim)`.

    Returns:
        float32 `(batch, num_labels)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    feature_names = ("vector",)

    def __init__(self, *, dim: int, labels: Iterable[str], **kwargs: Any) -> None:
        labels = checked_labels(labels)
        super().__init__(dim=dim, num_outputs=len(labels), **kwargs)
        self.labels = labels

    def compute_output_shape(self, vectors_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Returns the shape of the logits, as `keras.layers.TimeDistributed` asks for it."""
        return (*vectors_shape[:-1], len(self.labels))

    def features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns the vectors themselves."""
        return (vectors,)
