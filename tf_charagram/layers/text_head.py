"""The head that judges one text (Universal, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from tf_charagram.layers.sigmoid_head import SigmoidHead, checked_labels


class TextHead(SigmoidHead):
    """Gives logits for vectors: Wp sigmoid(W h + b) + bp, one for each label.

    Args:
        dim: Width of the vectors.
        labels: At least 2, all different.
        hidden_dim: Width of the sigmoid layer.
        seed: Seed of the initial weights.
        **kwargs: Name and type, as for every layer.

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

    def features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns the vectors themselves."""
        return (vectors,)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "labels": list(self.labels)}
