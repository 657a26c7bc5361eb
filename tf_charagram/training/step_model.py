"""The base of the trainers: training steps that are checked before they change weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.checks import check_clip_norm
from tf_charagram.errors import ConfigError, check_switches
from tf_charagram.layers.chunked import Ids
from tf_charagram.layers.row_gradients import (
    Gradient,
    keep_if,
    values_of,
)
from tf_charagram.layers.xla import check_finite, in_xla
from tf_charagram.losses.penalties import L2Penalties
from tf_charagram.optimizers.row_sparse import RowSparseOptimizer, clip_by_global_norm, scaled
from tf_charagram.training.compiled import CompiledSteps, has_gpu
from tf_charagram.training.replicas import (
    MeanLoss,
    SharedSteps,
    encode_in_shares,
    mean_gradients,
)


class StepModel(keras.Model):
    """Trains the weights of some layers on the loss of a subclass.

    If loss, gradient or learning rate are not finite, `fit` raises
    `tf.errors.InvalidArgumentError`, and the weights are those of the update before.

    Attributes:
        step: Number of batches trained on.
        loss_tracker: The mean loss since its last reset.
        shares_batches: Whether the step that is being traced gets the same batch in all replicas.

    Args:
        layers: The trained layers: the encoder, and the head on top of it if there is one.
    """

    #: Whether all batches of a stream but the last of an epoch have equal shapes, ids apart.
    can_use_xla = True

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
        self.loss_tracker = MeanLoss(name="loss")
        self._compiled_steps: CompiledSteps | None = None
        self._shared_steps: SharedSteps | None = None
        self.shares_batches = False
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
        use_xla: bool | None = None,
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
            use_xla: Whether `train_on` runs many steps in one program compiled by XLA. Default: if
                there is a GPU.
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
        self.use_xla = has_gpu() and self.can_use_xla if use_xla is None else use_xla
        self._compiled_steps = None
        self._shared_steps = None
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
    def _changing_variables(self) -> list[tf.Variable]:
        """All that steps change, including metrics."""
        frozen = {id(weight.value) for part in self._parts for weight in part.non_trainable_weights}
        frozen |= {id(target) for target in self.penalties.targets}
        metrics = [variable.value for metric in self.metrics for variable in metric.variables]
        distinct = {id(each): each for each in [*self.checkpoint_variables, *metrics]}
        return [each for key, each in distinct.items() if key not in frozen]

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The mean loss since the last reset."""
        return [self.loss_tracker]

    def vectors_of(self, ids: Ids, training: bool) -> tf.Tensor:
        """Returns the vectors of texts; replicas that share a batch encode a part of it each."""
        encode = partial(self._parts[0], training=training)
        return encode_in_shares(encode, ids) if self.shares_batches else encode(ids)

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

    def train_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Trains on one batch; returns the mean loss."""
        self.step_on(data)
        return {metric.name: metric.result() for metric in self.metrics}

    def step_on(self, batch: tuple[Any, ...]) -> None:
        """Trains on one batch whose ragged tensors are in one piece."""
        done = self.update(lambda: self.loss_of(*batch, training=True))
        with tf.control_dependencies([done]):
            self.step.assign_add(1)

    def train_on(
        self, stream: Any, segment: Any, callbacks: Sequence[keras.callbacks.Callback] = ()
    ) -> None:
        """Trains for a segment of a `Stream`; callbacks are those of `fit`.

        Several replicas share each batch, with the loss of the whole batch; `fit` would split it.
        """
        if self.distribute_strategy.num_replicas_in_sync > 1:
            if self._shared_steps is None:
                self._shared_steps = SharedSteps(self)
            batches = stream.dataset(segment)
            self.run_executions(self._shared_steps.run(batches, segment.num), callbacks)
            return
        if not self.use_xla:
            batches = stream.dataset(segment)
            self.fit(batches, epochs=1, verbose=0, shuffle=False, callbacks=list(callbacks))
            return
        if self._compiled_steps is None or self._compiled_steps.stream is not stream:
            self._compiled_steps = CompiledSteps(self, stream, self._parts[0])
        self.run_executions(self._compiled_steps.run(segment), callbacks)

    def run_executions(
        self, losses: Iterable[Any], callbacks: Sequence[keras.callbacks.Callback]
    ) -> None:
        """Calls callbacks as `fit` does, after each of several steps at a time.

        Args:
            losses: Runs some steps and yields the mean loss, again and again.
            callbacks: Callbacks of Keras.
        """
        watchers = keras.callbacks.CallbackList(list(callbacks), model=self)
        self.stop_training = False
        self.loss_tracker.reset_state()
        watchers.on_train_begin()
        for number, loss in enumerate(losses):
            watchers.on_train_batch_end(number, {"loss": loss})
            if self.stop_training:
                break
        watchers.on_train_end()

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

    def step_if(self, is_wanted: tf.Tensor, batch: tuple[Any, ...]) -> tf.Tensor:
        """Trains on one batch in a program compiled by XLA.

        Args:
            is_wanted: Whether the step is to change anything, bool scalar.
            batch: A batch of `ChunkedIds` and other tensors.

        Returns:
            Whether loss and gradients are finite, bool scalar; if not, nothing changes.
        """
        loss, gradients = self.loss_and_gradients(lambda: self.loss_of(*batch, training=True))
        rate = tf.convert_to_tensor(self.optimizer.learning_rate)
        sums = [tf.reduce_sum(values_of(gradient)) for gradient in gradients]
        is_finite = tf.math.is_finite(tf.add_n([loss, rate, *sums]))
        is_wanted &= is_finite
        # A table that is updated by row stays as it is if no row is named. All other variables are
        # put back, which for a table would take a copy of it.
        kept, updated_by_row = [], set()
        for gradient, variable in zip(gradients, self.trained_variables, strict=True):
            is_by_row = isinstance(self.optimizer, RowSparseOptimizer)
            if is_by_row and isinstance(gradient, tf.IndexedSlices):
                tables = self.optimizer.tables_of(variable.value)
                updated_by_row |= {id(table) for table in tables}
                gradient = keep_if(is_wanted, gradient)
            kept.append(gradient)
        others = [each for each in self._changing_variables if id(each) not in updated_by_row]
        before = [variable.read_value() for variable in others]
        self.optimizer.apply(kept, self.trained_variables)
        self.loss_tracker.update_state(loss)
        self.step.assign_add(1)
        for variable, value in zip(others, before, strict=True):
            variable.assign(tf.where(is_wanted, variable, value))
        return is_finite

    def test_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Returns the mean loss without training."""
        self.loss_tracker.update_state(self.loss_of(*data, training=False))
        return {metric.name: metric.result() for metric in self.metrics}


def _dense(gradient: Gradient, variable: tf.Variable) -> tf.Tensor:
    """Returns the dense gradient of a variable; only compiled by XLA, which leaves out padding."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, variable.shape[0])
