"""The base of the trainers: training steps that are checked before weights are changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.checks import check_clip_norm
from tf_charagram.data.pipeline.device import from_parts
from tf_charagram.errors import ConfigError, check_switches
from tf_charagram.layers.cut_table import CutTable, cut_tables, trained_variables
from tf_charagram.layers.embedding_table import Gradient
from tf_charagram.layers.huge_pages import use_huge_pages
from tf_charagram.layers.placement import beside
from tf_charagram.losses.penalties import L2Penalties
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.optimizers.row_sparse import clip_by_global_norm, scaled
from tf_charagram.training.division import encode_share, summed_gradients
from tf_charagram.training.whole_state import WholeState, slots_of


class StepModel(keras.Model):
    """Trains the weights of some layers on the loss that a subclass gives.

    Before weights are changed, loss, gradient and learning rate are checked to be finite; if not,
    `fit` raises `tf.errors.InvalidArgumentError` and the weights are those of the update before.

    Attributes:
        step: Number of batches trained on.
        loss_tracker: The mean loss since its last reset.
        exchange: The other workers that train the same; see `trainers.division`.

    Args:
        layers: The trained layers: the encoder, and the head on top of it if there is one. Their
            weights are part of a checkpoint.
    """

    def __init__(self, layers: Sequence[keras.layers.Layer], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._parts = list(layers)
        self.exchange: Exchange = ALONE
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
            clip_norm: Largest global norm of the gradient, finite; `None` for no clipping.
            **kwargs: Passed to `keras.Model.compile`, for instance `steps_per_execution`; but
                `jit_compile` must be false.

        Raises:
            ConfigError: An argument is out of range, or no weight is left to train.
        """
        check_clip_norm(clip_norm)
        check_switches(pull_back=pull_back, dense_l2=dense_l2)
        if kwargs.get("jit_compile"):
            raise ConfigError(
                "`jit_compile` must be False: XLA compiles neither ragged nor CSR operations. "
                f"Received: jit_compile={kwargs['jit_compile']}"
            )
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
        tables = self.cut_tables
        self._whole_state = WholeState(tables, [self._siblings(table) for table in tables])

    def _siblings(self, table: CutTable) -> list[list[tf.Variable]]:
        """Returns what is cut as a table is: moments, and what a penalty pulls its parts to."""
        first = [id(variable) for variable in self.trained_variables].index(id(table.parts[0]))
        positions = range(first, first + len(table.parts))
        targets = [self.penalties.target_of(position) for position in positions]
        pulled = [target for target in targets if target is not None]
        return [*slots_of(self.optimizer, table.parts), *([pulled] if pulled else [])]

    def get_config(self) -> dict[str, Any]:
        """Raises an error: an archive would lack how the model was compiled, and its step.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            f"A {type(self).__name__} is neither saved whole nor copied or exported. Save or "
            "export the model that it trains, such as the embedder; or save its weights by "
            "`save_weights(path)`, in a ModelCheckpoint by save_weights_only=True."
        )

    def export(self, *args: Any, **kwargs: Any) -> None:
        """Raises the error of `get_config`, too."""
        del args, kwargs
        self.get_config()

    @property
    def trained_variables(self) -> list[keras.Variable]:
        """The weights that steps change; the parts of a cut table in its place."""
        return [variable for part in self._parts for variable in trained_variables(part)]

    @property
    def cut_tables(self) -> list[CutTable]:
        """The tables that are cut, whose parts are trained."""
        return [table for part in self._parts for table in cut_tables(part)]

    def assemble(self) -> None:
        """Brings `all_weights` up to date, for cut tables are trained in their parts."""
        for table in self.cut_tables:
            table.assemble()

    def assembled_state(self) -> AbstractContextManager[None]:
        """Returns a context in which all `checkpoint_variables` are up to date and may be saved."""
        return self._whole_state.assembled()

    def take_over_state(self) -> None:
        """Goes on from what a checkpoint has restored `checkpoint_variables` to on the chief."""
        if not self.exchange.is_chief:
            self._whole_state.allocate()
        self.exchange.copy_from_chief(self.checkpoint_variables)
        self._whole_state.cut()

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
        """Everything that steps change, and `state`, in a fixed order, however tables are cut."""
        variables = [
            # Not `weights`, which leaves out the state of the seeds of dropout.
            *(variable for part in self._parts for variable in part.variables),
            *self.optimizer.variables,
            *self.loss_tracker.variables,
        ]
        return self._whole_state.of([*(variable.value for variable in variables), *self.state])

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
        # A sum is finite only if all its terms are.
        total = tf.add_n([loss, *(_sum(gradient) for gradient in gradients)])
        total = tf.debugging.check_numerics(total, "The loss or its gradient is not finite")
        with tf.control_dependencies([total]):
            return tf.identity(loss)

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Trains, as `keras.Model.fit`."""
        if self.distribute_strategy.num_replicas_in_sync == 1:
            for variable in [*self.trained_variables, *self.optimizer.variables]:
                use_huge_pages(variable.value)
        return super().fit(*args, **kwargs)

    def train_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Trains on one batch; returns the mean loss."""
        self.step_on(from_parts(data))
        return {metric.name: metric.result() for metric in self.metrics}

    def step_on(self, batch: tuple[Any, ...]) -> None:
        """Trains on one batch, whose ragged tensors are whole."""
        done = self.update(lambda: self.loss_of(*batch, training=True))
        with tf.control_dependencies([done]):
            self.step.assign_add(1)

    def train_on(
        self, stream: Any, segment: Any, callbacks: Sequence[keras.callbacks.Callback] = ()
    ) -> None:
        """Trains on some steps of a run.

        Args:
            stream: Its batches, a `Stream`.
            segment: Which of its steps.
            callbacks: As for `fit`.
        """
        batches = stream.dataset(segment)
        self.fit(batches, epochs=1, verbose=0, shuffle=False, callbacks=list(callbacks))

    @property
    def _divides_texts(self) -> bool:
        """Whether workers encode a share of the texts each; where tables are cut, all do all."""
        return not (self.exchange.is_alone or self.cut_tables)

    def encode(self, ids: tf.RaggedTensor, training: bool) -> tf.Tensor:
        """Returns the vectors of all texts of a batch, by the encoders of all workers."""
        if training and self._divides_texts:
            return encode_share(self._parts[0], ids, training, self.exchange)
        return self._parts[0](ids, training=training)

    def update(self, loss_of_batch: Callable[[], tf.Tensor]) -> tf.Tensor:
        """Runs one step of the optimizer; returns the loss."""
        variables = [variable.value for variable in self.trained_variables]
        with tf.GradientTape() as tape:
            loss = loss_of_batch()
        gradients = [_in_float32(gradient) for gradient in tape.gradient(loss, variables)]
        if self._divides_texts:
            num_shared = len(self._parts[0].trainable_variables)
            shared = summed_gradients(gradients[:num_shared], self.exchange)
            gradients = [*shared, *gradients[num_shared:]]
        loss = self.assert_finite(loss, gradients)
        gradients = self.penalties.add_gradients(gradients, variables)
        if self.clip_norm is not None:
            parts = {id(part) for table in self.cut_tables for part in table.parts}
            is_part = [id(variable) in parts for variable in self.trained_variables]
            gradients = clip_by_global_norm(gradients, self.clip_norm, is_part, self.exchange)
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
        self.loss_tracker.update_state(self.loss_of(*from_parts(data), training=False))
        return {metric.name: metric.result() for metric in self.metrics}


def _in_float32(gradient: Gradient) -> Gradient:
    """Returns a gradient in float32; those of tables in bfloat16 come in that type."""
    with beside(gradient):
        return tf.cast(gradient, tf.float32)


def _sum(gradient: Gradient) -> tf.Tensor:
    with beside(gradient):
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        return tf.reduce_sum(values)
