"""The base of the trainers: training steps that are checked before weights are changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.objectives.penalties import L2Penalties
from tf_charagram.optimizers.row_sparse import Gradient, clip_by_global_norm, scaled


class StepModel(keras.Model):
    """Trains the weights of some layers on the loss that a subclass gives.

    Before weights are changed, loss, gradient and learning rate are checked to be finite; if not,
    `fit` raises `tf.errors.InvalidArgumentError` and the weights are those of the update before.

    Attributes:
        step: Number of batches trained on.
        loss_tracker: The mean loss since its last reset.

    Args:
        layers: The trained layers: the encoder, and the head on top of it if there is one. Their
            weights are part of a checkpoint.
    """

    def __init__(self, layers: Sequence[keras.layers.Layer], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._parts = list(layers)
        self.step = tf.Variable(
            0,
            dtype=tf.int64,
            trainable=False,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            name="step",
        )
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.penalties = L2Penalties(self._parts[0])
        self.built = True

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        l2: float = 0.0,
        l2_words: float = 0.0,
        l2_composition: float = 0.0,
        l2_head: float = 0.0,
        pull_back: bool = False,
        dense_l2: bool = False,
        clip_norm: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Configures the updates.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            l2: lambda of `0.5 * lambda * ||weights||^2`, on all weights.
            l2_words: The same for the distance of the word vectors to what they are now.
            l2_composition: The same for all weights of the encoder but the word vectors, or for
                their distance to `encoder.pull_back_targets()`; see `L2Penalties`.
            l2_head: The same for the weights of the head, if there is one.
            pull_back: Whether `l2_composition` pulls weights to what they are now.
            dense_l2: Whether penalties act on all rows at every step, not on touched ones.
            clip_norm: Largest global norm of the gradient; `None` for no clipping.
            **kwargs: Passed to `keras.Model.compile`, for instance `steps_per_execution`.

        Raises:
            ConfigError: An argument is out of range, or no weight is left to train.
        """
        encoder, *heads = self._parts
        penalties = L2Penalties(
            encoder,
            l2=l2,
            l2_words=l2_words,
            l2_composition=l2_composition,
            head=heads[0] if heads else None,
            l2_head=l2_head,
            pull_back=pull_back,
            dense=dense_l2,
        )
        if clip_norm is not None and not clip_norm > 0.0:
            raise ConfigError(f"`clip_norm` must be above 0 or None. Received: {clip_norm}")
        if not self.trained_variables:
            raise ConfigError(f"The encoder '{encoder.name}' has no weight that is trained.")
        # XLA can compile neither ragged nor CSR operations; "auto" would try on a GPU.
        super().compile(optimizer=optimizer, **{"jit_compile": False, **kwargs})
        self.penalties = penalties
        self.clip_norm = clip_norm
        optimizer.build(self.trained_variables)

    @property
    def trained_variables(self) -> list[keras.Variable]:
        """The weights that steps change."""
        return [variable for part in self._parts for variable in part.trainable_variables]

    @property
    def all_weights(self) -> list[keras.Variable]:
        """The weights of the layers, those that are not trained among them."""
        return [weight for part in self._parts for weight in part.weights]

    @property
    def state(self) -> list[tf.Variable]:
        """Variables of a checkpoint besides weights, optimizer and metric.

        The step, and the weights that a penalty pulls back to.
        """
        return [self.step, *self.penalties.targets]

    @property
    def checkpoint_variables(self) -> list[tf.Variable]:
        """Everything that steps change, and `state`, in a fixed order."""
        variables = [
            # Not `weights`, which leaves out the state of the seeds of dropout.
            *(variable for part in self._parts for variable in part.variables),
            *self.optimizer.variables,
            *self.loss_tracker.variables,
        ]
        return [*(variable.value for variable in variables), *self.state]

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The mean loss since the last reset."""
        return [self.loss_tracker]

    #: `loss_of(*batch, training)`, which a subclass has: the loss of a batch, without penalties.
    loss_of: Callable[..., tf.Tensor]

    def assert_finite(self, loss: tf.Tensor, gradients: Sequence[Gradient]) -> tf.Tensor:
        """Returns the loss, once it and all gradients are known to be finite.

        To be overridden where the loss has seen to that already.
        """
        values = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
        # A sum is finite only if all its terms are.
        total = tf.add_n([loss, *(tf.reduce_sum(value) for value in values)])
        total = tf.debugging.check_numerics(total, "The loss or its gradient is not finite")
        with tf.control_dependencies([total]):
            return tf.identity(loss)

    def train_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Trains on one batch; returns the mean loss."""
        done = self.update(lambda: self.loss_of(*data, training=True))
        with tf.control_dependencies([done]):
            self.step.assign_add(1)
        return {metric.name: metric.result() for metric in self.metrics}

    def update(self, loss_of_batch: Callable[[], tf.Tensor]) -> tf.Tensor:
        """Runs one step of the optimizer; returns the loss."""
        variables = [variable.value for variable in self.trained_variables]
        with tf.GradientTape() as tape:
            loss = loss_of_batch()
        # Those of tables in bfloat16 come in that type.
        gradients = [tf.cast(g, tf.float32) for g in tape.gradient(loss, variables)]
        loss = self.assert_finite(loss, gradients)
        gradients = self.penalties.add_gradients(gradients, variables)
        if self.clip_norm is not None:
            gradients = clip_by_global_norm(gradients, self.clip_norm)
        # The optimizer adds up what the replicas give it.
        gradients = scaled(gradients, 1.0 / self.distribute_strategy.num_replicas_in_sync)
        rate = tf.convert_to_tensor(self.optimizer.learning_rate)
        rate = tf.debugging.check_numerics(rate, "The learning rate is not finite")
        with tf.control_dependencies([loss, rate, *gradients]):
            self.optimizer.apply(gradients, self.trained_variables)
            checked = tf.identity(loss)
        self.loss_tracker.update_state(checked)
        return checked

    def test_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Returns the mean loss without training."""
        self.loss_tracker.update_state(self.loss_of(*data, training=False))
        return {metric.name: metric.result() for metric in self.metrics}
