"""The base of the trainers: training steps that are checked before they change weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram._common.checks import check_clip_norm
from tf_charagram.errors import ConfigError, check_switches
from tf_charagram.layers._ops.chunked import ChunkedIds, Ids, WeightedIds, unpacked
from tf_charagram.layers._ops.row_gradients import (
    Gradient,
    values_of,
)
from tf_charagram.layers._ops.xla import check_finite, in_xla
from tf_charagram.layers.embedding_table import use_huge_pages
from tf_charagram.losses.penalties import L2Penalties
from tf_charagram.optimizers.row_sparse import clip_by_global_norm, scaled
from tf_charagram.training._loop.replicas import MeanLoss, encode_in_shares, mean_gradients


class StepModel(keras.Model):
    """Trains the weights of some layers on the loss of a subclass.

    If loss, gradient or learning rate are not finite, `fit` raises
    `tf.errors.InvalidArgumentError`, and the weights are those of the update before.

    Attributes:
        step: Number of batches trained on.
        loss_tracker: The mean loss since its last reset.

    Args:
        layers: The trained layers: the encoder, and the head on top of it if there is one.
        has_weights: Whether the highest bits of ids are weights, as in `training_ids` of a
            vectorizer.
    """

    #: Whether all batches of a stream but the last of an epoch have equal shapes, ids apart.
    can_use_xla = True
    #: The layer that is trained, or that the head is on top of.
    encoder: Any

    def __init__(
        self, layers: Sequence[keras.layers.Layer], *, has_weights: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._parts = list(layers)
        self.has_weights = has_weights
        self.step = tf.Variable(
            0,
            dtype=tf.int64,
            trainable=False,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            name="step",
        )
        self.loss_tracker = MeanLoss(name="loss")
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
            l2_words: The same for the distance of the word vectors to their current values.
            l2_composition: The same for all other weights of the encoder, or for their distance to
                `encoder.pull_back_targets()`.
            l2_head: The same for the weights of the head, if there is one.
            pull_back: Whether `l2_composition` pulls weights to their current values.
            dense_l2: Whether penalties act on all rows at every step, not only on touched ones.
            clip_norm: Maximum global norm of the gradient; `None` for no clipping.
            **kwargs: Passed to `keras.Model.compile`, for instance `steps_per_execution`.

        Raises:
            ConfigError: An argument is out of range, or no weight is left to train.
        """
        check_clip_norm(clip_norm)
        check_switches(pull_back=pull_back, dense_l2=dense_l2)
        encoder, *heads = self._parts
        penalties = L2Penalties(
            encoder,
            l2=l2,
            l2_words=l2_words,
            l2_composition=l2_composition,
            l2_head=l2_head,
            head=heads[0] if heads else None,
            pull_back=pull_back,
            dense=dense_l2,
        )
        if not self.trained_variables:
            raise ConfigError(f"The encoder '{encoder.name}' has no weight that is trained.")
        # XLA can compile neither ragged nor CSR operations; "auto" would try on a GPU.
        optimizer = keras.optimizers.get(optimizer)
        super().compile(optimizer=optimizer, **{"jit_compile": False, **kwargs})
        self.penalties = penalties
        self.clip_norm = clip_norm
        optimizer.build(self.trained_variables)

    def get_config(self) -> dict[str, Any]:
        """Raises a `ConfigError`: an archive would lack the step and the arguments of `compile`."""
        raise ConfigError(
            f"A {type(self).__name__} is neither saved whole nor copied. Save or "
            "export the model that it trains, such as the embedder; or save its weights by "
            "`save_weights(path)`, in a ModelCheckpoint by save_weights_only=True."
        )

    @property
    def trained_variables(self) -> list[keras.Variable]:
        """The weights that steps change."""
        return [variable for part in self._parts for variable in part.trainable_variables]

    @property
    def shares_batches(self) -> bool:
        """Whether there are several replicas, which get every batch whole."""
        return self.distribute_strategy.num_replicas_in_sync > 1

    @property
    def all_weights(self) -> list[keras.Variable]:
        """The weights of the layers, including those that are not trained."""
        return [weight for part in self._parts for weight in part.weights]

    @property
    def state(self) -> list[tf.Variable]:
        """The step, and the weights that a penalty pulls back to."""
        return [self.step, *self.penalties.targets]

    @property
    def checkpoint_variables(self) -> list[tf.Variable]:
        """All that steps change, and `state`, in a fixed order."""
        variables = [
            # Not `weights`, which lack the state of the seeds of dropout.
            *(variable for part in self._parts for variable in part.variables),
            *self.optimizer.variables,
            *self.loss_tracker.variables,
        ]
        return [*(variable.value for variable in variables), *self.state]

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The mean loss since the last reset."""
        return [self.loss_tracker]

    def vectors_of(self, ids: Ids, training: bool) -> tf.Tensor:
        """Returns the vectors of texts; replicas that share a batch encode a part of it each."""

        def encode(ids: Ids) -> tf.Tensor:
            inputs: Ids | WeightedIds = ids
            # Chunks are unpacked already.
            if self.has_weights and not isinstance(ids, ChunkedIds):
                values, weights = unpacked(ids.values)
                inputs = WeightedIds(ids.with_values(values), weights)
            return self._parts[0](inputs, training=training)

        # A head is adapted outside of the replicas, where there are no shares.
        has_share = self.shares_batches and not tf.distribute.in_cross_replica_context()
        return encode_in_shares(encode, ids) if has_share else encode(ids)

    #: `loss_of(*batch, training)` of a subclass: the loss of a batch, without penalties.
    loss_of: Callable[..., tf.Tensor]

    def assert_finite(self, loss: tf.Tensor, gradients: Sequence[Gradient]) -> tf.Tensor:
        """Returns the loss after a check that it and all gradients are finite.

        Overridden if the loss has its own check.
        """
        # A sum is finite only if all its terms are.
        total = tf.add_n([loss, *(tf.reduce_sum(values_of(gradient)) for gradient in gradients)])
        total = check_finite(total, "The loss or its gradient is not finite")
        with tf.control_dependencies([total]):
            return tf.identity(loss)

    def fit(self, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """Trains as `keras.Model.fit` does."""
        if self.compiled and not self.shares_batches:
            # Not once for all: restoring a checkpoint moves variables to other memory.
            for variable in self.checkpoint_variables:
                use_huge_pages(variable)
        return super().fit(*args, **kwargs)

    def train_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Trains on one batch; returns the mean loss."""
        self.step_on(data)
        return {metric.name: metric.result() for metric in self.metrics}

    def step_on(self, batch: tuple[Any, ...]) -> None:
        """Trains on one batch whose ragged tensors are in one piece."""
        done = self.update(lambda: self.loss_of(*batch, training=True))
        with tf.control_dependencies([done]):
            self.step.assign_add(1)

    def loss_and_gradients(
        self, loss_of_batch: Callable[[], tf.Tensor]
    ) -> tuple[tf.Tensor, list[Gradient]]:
        """Returns the loss of a batch, and the gradients that the optimizer is to apply."""
        variables = [variable.value for variable in self.trained_variables]
        with tf.GradientTape() as tape:
            loss = loss_of_batch()
        gradients = tape.gradient(loss, variables)
        if self.shares_batches:
            gradients = mean_gradients(gradients, variables)
        if in_xla() and not getattr(self.optimizer, "sums_equal_rows", False):
            # On the CPU, tables ask for the optimizer before they choose the kind of gradient.
            gradients = [_dense(*pair) for pair in zip(gradients, variables, strict=True)]
        loss = self.assert_finite(loss, gradients)
        gradients = self.penalties.add_gradients(gradients, variables)
        if self.clip_norm is not None:
            gradients = clip_by_global_norm(gradients, self.clip_norm)
        # The optimizer sums over the replicas.
        return loss, scaled(gradients, 1.0 / self.distribute_strategy.num_replicas_in_sync)

    def update(self, loss_of_batch: Callable[[], tf.Tensor]) -> tf.Tensor:
        """Runs one step of the optimizer; returns the loss."""
        loss, gradients = self.loss_and_gradients(loss_of_batch)
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


def _dense(gradient: Gradient, variable: tf.Variable) -> tf.Tensor:
    """Returns the dense gradient of a variable; only compiled by XLA, which leaves out padding."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, variable.shape[0])
