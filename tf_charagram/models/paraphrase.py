"""The model that trains an encoder on paraphrase pairs."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.objectives.margin import margin_loss
from tf_charagram.objectives.negatives import NegativeSampler
from tf_charagram.objectives.penalties import add_l2_gradient
from tf_charagram.objectives.similarity import normalize_rows
from tf_charagram.optimizers.row_sparse import clip_by_global_norm


class ParaphraseModel(keras.Model):
    """Trains an encoder with the margin loss and negatives mined in the batch.

    `fit` takes a `tf.data.Dataset` of `(ids, text_ids)`: the ids of the 2B texts of B pairs, lefts
    first, then rights, a `tf.RaggedTensor` int32 `(2B, None)`; and int32 `(2B,)`, equal for equal
    texts. One forward pass over the 2B texts serves mining, loss and gradient. Before the weights
    are changed, loss, gradient and learning rate are checked to be finite; if not, `fit` raises
    `tf.errors.InvalidArgumentError` and the weights are those of the step before.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
    """

    def __init__(self, encoder: keras.layers.Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.encoder = encoder
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False, name="step")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.built = True

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        margin: float = 0.4,
        negatives: str | NegativeSampler = "max",
        l2: float = 0.0,
        dense_l2: bool = False,
        clip_norm: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Sets how to train.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            margin: m of the loss, in [0, 2].
            negatives: `"max"`, `"mix"`, `"random"`, or a sampler with further settings.
            l2: lambda of `0.5 * lambda * ||weights||^2`.
            dense_l2: Whether the penalty acts on all rows at every step, not on touched ones.
            clip_norm: Largest global norm of the gradient; `None` for no clipping.
            **kwargs: Passed to `keras.Model.compile`, for instance `steps_per_execution`.

        Raises:
            ConfigError: An argument is out of range.
        """
        if not 0.0 <= margin <= 2.0:
            raise ConfigError(f"`margin` must be in [0, 2]. Received: margin={margin}")
        if l2 < 0.0:
            raise ConfigError(f"`l2` must not be negative. Received: l2={l2}")
        if clip_norm is not None and not clip_norm > 0.0:
            raise ConfigError(f"`clip_norm` must be above 0 or None. Received: {clip_norm}")
        # XLA can compile neither ragged nor CSR operations; "auto" would try on a GPU.
        super().compile(optimizer=optimizer, **{"jit_compile": False, **kwargs})
        self.margin = margin
        self.negatives = NegativeSampler(negatives) if isinstance(negatives, str) else negatives
        self.l2 = l2
        self.dense_l2 = dense_l2
        self.clip_norm = clip_norm
        optimizer.build(self.encoder.trainable_variables)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The mean loss since the last reset."""
        return [self.loss_tracker]

    def loss_of(self, ids: tf.RaggedTensor, text_ids: tf.Tensor, training: bool) -> tf.Tensor:
        """Returns the margin loss of a batch, without the penalty."""
        embeddings = self.encoder(ids, training=training)
        normalized = normalize_rows(tf.stop_gradient(embeddings))
        chosen, exists = self.negatives(normalized, text_ids, self.step)
        return margin_loss(embeddings, chosen, exists, self.margin)

    def train_step(self, data: tuple[tf.RaggedTensor, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Runs one step of training; returns the mean loss."""
        ids, text_ids = data
        variables = [variable.value for variable in self.encoder.trainable_variables]
        with tf.GradientTape() as tape:
            loss = self.loss_of(ids, text_ids, training=True)
        gradients = tape.gradient(loss, variables)
        gradients = [
            add_l2_gradient(gradient, variable, self.l2, dense=self.dense_l2)
            for gradient, variable in zip(gradients, variables, strict=True)
        ]
        if self.clip_norm is not None:
            gradients = clip_by_global_norm(gradients, self.clip_norm)
        rate = tf.convert_to_tensor(self.optimizer.learning_rate)
        rate = tf.debugging.check_numerics(rate, "The learning rate is not finite")
        with tf.control_dependencies([loss, rate, *gradients]):
            self.optimizer.apply(gradients, self.encoder.trainable_variables)
            self.step.assign_add(1)
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data: tuple[tf.RaggedTensor, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Returns the mean loss without training."""
        self.loss_tracker.update_state(self.loss_of(*data, training=False))
        return {"loss": self.loss_tracker.result()}
