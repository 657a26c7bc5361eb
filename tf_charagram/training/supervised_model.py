"""The trainer of an encoder and the head on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.training.step_model import StepModel


class SupervisedModel(StepModel):
    """Trains an encoder and the head on top of it, or only the head (Universal, section 4.4).

    `fit` takes a `tf.data.Dataset` of `(ids, targets)`. The ids are a `tf.RaggedTensor` int32: of B
    texts `(B, None)`, or of the 2B texts of B pairs `(2B, None)`, lefts first, then rights. Targets
    are scores float32 `(B,)` or indices of labels int32 `(B,)`, whichever `head.loss` expects.
    Without an encoder, batches have vectors instead of ids, float32 `(B, dim)` or `(2B, dim)`.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`; `None` to train only the head.
        head: Keras layer from vectors to logits, with `loss(logits, targets, class_weights)`.
    """

    def __init__(
        self, encoder: keras.layers.Layer | None, head: keras.layers.Layer, **kwargs: Any
    ) -> None:
        super().__init__([head] if encoder is None else [encoder, head], **kwargs)
        # Batches of vectors have no ids to cut into chunks.
        self.can_use_xla = encoder is not None
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
            class_weights: Weight of the examples of each label, `(num_labels,)`.
            **kwargs: Penalties, clipping and other options of `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range.
        """
        self.class_weights = None
        if class_weights is not None:
            self.class_weights = tf.constant(np.asarray(class_weights, np.float32))
        if self.encoder is None:
            # The head is the only layer, and takes the place of the encoder.
            kwargs["l2_composition"] = kwargs.pop("l2_head", 0.0)
        super().compile(optimizer, **kwargs)

    def adapt(self, inputs: tf.RaggedTensor | tf.Tensor) -> None:
        """Scales the inputs of the head by the root mean square of the vectors.

        Args:
            inputs: Ids or vectors, as in batches. A few hundred texts are enough.
        """
        self.head.adapt(self._vectors(inputs, training=False))

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the loss of a batch, without penalties."""
        inputs, targets = batch
        logits = self.head(self._vectors(inputs, training))
        return self.head.loss(logits, targets, self.class_weights)

    def _vectors(self, inputs: Any, training: bool) -> tf.Tensor:
        return inputs if self.encoder is None else self.vectors_of(inputs, training)
