"""The heads that judge two texts (Tai et al. 2015; Universal, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError, check_integers
from tf_charagram.layers.sigmoid_head import SigmoidHead, checked_labels
from tf_charagram.tasks.pairs.features import pair_features


class PairHead(SigmoidHead):
    """Computes logits for pairs of vectors: Wp hs + bp, with hs = sigmoid(W* h* + W+ h+ + b).

    h* is the product of the two vectors and h+ their distance, see `pair_features`.

    Args:
        dim: Width of the vectors.
        num_outputs: Number of logits, at least 2.
        hidden_dim: Width of hs.
        seed: Seed of the initial weights.
        **kwargs: Name and type, as for every layer.

    Call arguments:
        vectors: The vectors of B pairs, lefts first, then rights, float32 `(2B, dim)`.

    Returns:
        float32 `(B, num_outputs)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    feature_names = ("product", "distance")

    def features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns h* and h+."""
        return pair_features(*tf.split(vectors, 2))


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairScoreHead(PairHead):
    """A `PairHead` for scores from 1 to K: one logit per whole score.

    It maps the vectors of B pairs, float32 `(2B, dim)`, to logits, float32 `(B, num_classes)`.

    Args:
        dim: Width of the vectors.
        num_classes: K, at least 2.
        **kwargs: `hidden_dim`, `seed`, name and type, as for `PairHead`.

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


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairLabelHead(PairHead):
    """A `PairHead` for labels: one logit per label.

    It maps the vectors of B pairs, float32 `(2B, dim)`, to logits, float32 `(B, num_labels)`.

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and type, as for `PairHead`.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(self, *, dim: int, labels: Iterable[str], **kwargs: Any) -> None:
        labels = checked_labels(labels)
        super().__init__(dim=dim, num_outputs=len(labels), **kwargs)
        self.labels = labels
