"""The model that trains an encoder, or only a head, on examples with scores or labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.losses.cross_entropy import cross_entropy
from tf_charagram.losses.relatedness import relatedness_loss, spread_scores
from tf_charagram.tasks.pairs.head import PairScoreHead
from tf_charagram.training.step_model import StepModel


class SupervisedModel(StepModel):
    """Trains an encoder and the head on top of it, or the head alone (Universal, section 4.4).

    `fit` takes a `tf.data.Dataset` of `(ids, targets)`. The ids are a `tf.RaggedTensor` int32, of
    the B texts `(B, None)`, or of the 2B texts of B pairs `(2B, None)`, lefts first, then rights:
    one forward pass serves both sides. Targets are scores float32 `(B,)` for a `PairScoreHead`,
    with the loss `relatedness_loss`; else indices of labels int32 `(B,)`, with `cross_entropy`.
    Without an encoder, batches have float32 vectors in place of ids, `(B, dim)` or `(2B, dim)`:
    frozen features, which are computed only once.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`; `None` to train the head alone.
        head: Keras layer from vectors to logits.
    """

    def __init__(
        self, encoder: keras.layers.Layer | None, head: keras.layers.Layer, **kwargs: Any
    ) -> None:
        super().__init__([head] if encoder is None else [encoder, head], **kwargs)
        self.encoder = encoder
        self.head = head

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        class_weights: Sequence[float] | np.ndarray | None = None,
        **kwargs: Any,
    ) -> None:
        """Configures training.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            class_weights: Weight of the examples of each label, `(num_labels,)`; only for labels.
            **kwargs: As for `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range, or is about an encoder that is not trained.
        """
        self.class_weights = self._checked_weights(class_weights)
        if self.encoder is None:
            if any(kwargs.get(name) for name in ("l2_words", "l2_composition", "pull_back")):
                raise ConfigError(
                    "`l2_words`, `l2_composition` and `pull_back` are about an encoder, and the "
                    "head is trained alone. Leave them out."
                )
            # The only layer takes the place of the encoder.
            kwargs["l2_composition"] = kwargs.pop("l2_head", 0.0)
        super().compile(optimizer, **kwargs)

    def _checked_weights(self, weights: Any) -> tf.Tensor | None:
        if weights is None:
            return None
        if isinstance(self.head, PairScoreHead):
            raise ConfigError("`class_weights` is for labels. This head gives scores.")
        values = np.asarray(weights, np.float32)
        if values.shape != (len(self.head.labels),):
            raise ConfigError(
                f"`class_weights` must have a number for each of the {len(self.head.labels)} "
                f"labels. Received: shape {values.shape}"
            )
        if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
            raise ConfigError(
                "`class_weights` must be finite, not negative and not all 0. "
                f"Received: {values.tolist()}"
            )
        return tf.constant(values)

    def adapt(self, inputs: tf.RaggedTensor | tf.Tensor) -> None:
        """Sets the scale of the head to the size of some vectors; see `SigmoidHead.adapt`.

        Args:
            inputs: Ids, or vectors, as in batches; a few hundred texts are enough.
        """
        self.head.adapt(self._vectors(inputs, training=False))

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the loss of a batch, without penalties."""
        inputs, targets = batch
        logits = self.head(self._vectors(inputs, training))
        if isinstance(self.head, PairScoreHead):
            return relatedness_loss(logits, spread_scores(targets, self.head.num_classes))
        return cross_entropy(logits, targets, self.class_weights)

    def _vectors(self, inputs: Any, training: bool) -> tf.Tensor:
        return inputs if self.encoder is None else self.encode(inputs, training=training)
