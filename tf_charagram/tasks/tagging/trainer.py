"""The model that trains an encoder and a tagging head on tagged sentences."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.tasks.tagging.loss import tagging_loss
from tf_charagram.training.step_model import StepModel


class TaggingModel(StepModel):
    """Trains a tagger with the mean cross entropy of the tags (Charagram, section 4.2).

    `fit` takes a `tf.data.Dataset` of `(ids, capitals, positions, labels)`: the ids of the distinct
    words of some sentences, a `tf.RaggedTensor` int32 `(num_distinct, None)`; which of them have a
    capital, bool `(num_distinct,)`; the indices of the words of each sentence, a `tf.RaggedTensor`
    int32 `(num_sentences, None)`; and the labels of all words in this order, int32 `(num_tokens,)`,
    -1 where the tag is not known. Each distinct word is composed once.

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

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the mean cross entropy of a batch, without penalties."""
        ids, capitals, positions, labels = batch
        vectors = self.encode(ids, training=training)
        return tagging_loss(self.head(vectors, capitals, positions, training=training), labels)
