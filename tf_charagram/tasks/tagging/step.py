"""Training steps of a tagger."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.losses.cross_entropy import cross_entropy
from tf_charagram.training.step_model import StepModel


class TaggingModel(StepModel):
    """Trains a tagger with the mean cross entropy of the tags (Charagram, section 4.2).

    `fit` takes a `tf.data.Dataset` of `(ids, capitals, positions, labels)`, where each distinct
    word is composed once: the ids of the distinct words of some sentences, `tf.RaggedTensor` int32
    `(num_distinct, None)`; whether they have a capital, bool `(num_distinct,)`; the indices of the
    words of each sentence, `tf.RaggedTensor` int32 `(num_sentences, None)`; and the labels of all
    words in this order, int32 `(num_tokens,)`.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
        head: A `TaggingHead`.
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
        return cross_entropy(self.head(vectors, capitals, positions, training=training), labels)
