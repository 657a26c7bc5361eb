"""The model that trains an encoder and a tagging head on tagged sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.models.step_model import StepModel, check_finite
from tf_charagram.objectives.penalties import L2Penalties
from tf_charagram.objectives.tagging import tagging_loss
from tf_charagram.optimizers.row_sparse import Gradient


class TaggingModel(StepModel):
    """Trains a tagger with the mean cross entropy of the tags (Charagram, section 4.2).

    `fit` takes a `tf.data.Dataset` of `(ids, capitals, positions, labels)`: the ids of the distinct
    words of some sentences, a `tf.RaggedTensor` int32 `(num_distinct, None)`; which of them have a
    capital, bool `(num_distinct,)`; which of them stands where, a `tf.RaggedTensor` int32
    `(num_sentences, None)`; and the labels of all words in this order, int32 `(num_tokens,)`, -1
    where the tag is not known. Each distinct word is composed once.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
        head: From word vectors to logits.
    """

    def __init__(
        self, encoder: keras.layers.Layer, head: keras.layers.Layer, **kwargs: Any
    ) -> None:
        super().__init__([encoder, head], **kwargs)
        self.encoder = encoder
        self.head = head

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        l2: float = 0.0,
        l2_words: float = 0.0,
        l2_composition: float = 0.0,
        l2_head: float = 0.0,
        dense_l2: bool = False,
        clip_norm: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Sets how to train.

        Args:
            optimizer: One of `tf_charagram.optimizers`.
            l2: lambda of `0.5 * lambda * ||weights||^2`.
            l2_words: The same for the distance of word vectors to what they are now.
            l2_composition: The same for all other weights of the encoder.
            l2_head: The same for the weights of the head.
            dense_l2: Whether penalties act on all rows at every step, not on touched ones.
            clip_norm: Largest global norm of the gradient; `None` for no clipping.
            **kwargs: Passed to `keras.Model.compile`, for instance `steps_per_execution`.

        Raises:
            ConfigError: An argument is out of range, or no weight is left to train.
        """
        penalties = L2Penalties(
            self.encoder,
            l2=l2,
            l2_words=l2_words,
            l2_composition=l2_composition,
            head=self.head,
            l2_head=l2_head,
            dense=dense_l2,
        )
        self.prepare(optimizer, penalties=penalties, clip_norm=clip_norm, **kwargs)

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the mean cross entropy of a batch, without penalties."""
        ids, capitals, positions, labels = batch
        vectors = self.encoder(ids, training=training)
        return tagging_loss(self.head(vectors, capitals, positions, training=training), labels)

    def checked(self, loss: tf.Tensor, gradients: Sequence[Gradient]) -> tf.Tensor:
        """Returns the loss, once it and `gradients` are known to be finite."""
        return check_finite(loss, gradients)
