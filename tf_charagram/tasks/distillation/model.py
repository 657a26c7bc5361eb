"""The model that trains an encoder on the vectors of a teacher, and on pairs beside them."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.losses.margin import margin_loss
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.losses.similarity import normalize_rows
from tf_charagram.tasks.distillation.losses import correlation_loss, cosine_loss, similarity_loss
from tf_charagram.training.step_model import StepModel


class DistillModel(StepModel):
    """Trains an encoder so that its vectors are those of a teacher.

    `fit` takes the batches of a `DistillStream`. The loss is the sum of these, each with a weight:
    the cosine distance of each line to its vector; the divergence of the similarities in the batch;
    the correlation of the cosines of lines with their neighbors; the margin loss of the pairs, with
    negatives from the pairs of the batch. One forward pass over all texts serves them all.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
    """

    def __init__(self, encoder: keras.layers.Layer, **kwargs: Any) -> None:
        super().__init__([encoder], **kwargs)
        self.encoder = encoder

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        cosine_weight: float = 1.0,
        similarity_weight: float = 0.3,
        temperature: float = 0.07,
        neighbors_weight: float = 0.0,
        pairs_weight: float = 1.0,
        margin: float = 0.4,
        negatives: NegativeSampler | None = None,
        **kwargs: Any,
    ) -> None:
        """Configures training.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            cosine_weight: Weight of `cosine_loss`.
            similarity_weight: Weight of `similarity_loss`.
            temperature: Of `similarity_loss`.
            neighbors_weight: Weight of `correlation_loss`.
            pairs_weight: Weight of `margin_loss`.
            margin: m of `margin_loss`.
            negatives: Chooses them. Default: the most similar ones.
            **kwargs: As for `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range.
        """
        super().compile(optimizer, **kwargs)
        self.cosine_weight = cosine_weight
        self.similarity_weight, self.temperature = similarity_weight, temperature
        self.neighbors_weight = neighbors_weight
        self.pairs_weight, self.margin = pairs_weight, margin
        self.negatives = negatives or NegativeSampler("max")

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the loss of a batch of a `DistillStream`, without the penalty."""
        ids, vectors, neighbors, cosines, keys = batch
        embeddings = self.encode(ids, training=training)
        num_lines = tf.shape(vectors)[0]
        lines, pairs = embeddings[:num_lines], embeddings[num_lines:]
        loss = tf.zeros([], embeddings.dtype)
        if self.cosine_weight:
            loss += self.cosine_weight * cosine_loss(lines, vectors)
        if self.similarity_weight:
            loss += self.similarity_weight * similarity_loss(lines, vectors, self.temperature)
        if self.neighbors_weight:
            loss += self.neighbors_weight * correlation_loss(lines, cosines, neighbors)
        if self.pairs_weight:
            normalized = normalize_rows(tf.stop_gradient(pairs))
            chosen, exists = self.negatives(normalized, keys, self.step)
            loss += self.pairs_weight * margin_loss(pairs, chosen, exists, self.margin)
        return loss
