"""Ways to run training steps: `fit`, programs compiled by XLA, replicas, vectors in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.training._loop.compiled import CompiledSteps
from tf_charagram.training._loop.stream import Segment, Stream
from tf_charagram.training.step_model import StepModel

#: Trains for a segment of a stream, and calls callbacks as `fit` does.
RunSegment: TypeAlias = Callable[[Segment, Sequence[keras.callbacks.Callback]], None]


def choose_steps(model: StepModel, stream: Stream, use_xla: bool | None = None) -> RunSegment:
    """Chooses how a model is trained on a stream.

    Several replicas share each batch, with the loss of the whole batch; `fit` would split it.

    Args:
        model: The compiled model.
        stream: The batches.
        use_xla: Whether many steps run in one program compiled by XLA. Default: if there is a GPU
            and the model allows it.
    """
    if model.distribute_strategy.num_replicas_in_sync > 1:
        return partial(run_watched, model, SharedSteps(model, stream).run)
    if use_xla is None:
        use_xla = bool(tf.config.list_logical_devices("GPU")) and model.can_use_xla
    if use_xla:
        return partial(run_watched, model, CompiledSteps(model, stream).run)
    return partial(_fit, model, stream)


def _fit(
    model: StepModel,
    stream: Stream,
    segment: Segment,
    callbacks: Sequence[keras.callbacks.Callback],
) -> None:
    batches = stream.dataset(segment)
    model.fit(batches, epochs=1, verbose=0, shuffle=False, callbacks=list(callbacks))


def run_watched(
    model: StepModel,
    run: Callable[[Segment], Iterator[Any]],
    segment: Segment,
    callbacks: Sequence[keras.callbacks.Callback],
) -> None:
    """Trains for a segment and calls callbacks as `fit` does, after each of several steps.

    Args:
        model: The compiled model.
        run: Trains for a segment; yields the mean loss after several steps at a time.
        segment: The steps.
        callbacks: Callbacks of Keras.
    """
    watchers = keras.callbacks.CallbackList(list(callbacks), model=model)
    model.stop_training = False
    model.loss_tracker.reset_state()
    watchers.on_train_begin()
    for number, loss in enumerate(run(segment)):
        watchers.on_train_batch_end(number, {"loss": loss})
        if model.stop_training:
            break
    watchers.on_train_end()


class SharedSteps:
    """Runs the steps of a `StepModel` on batches that all replicas share.

    Args:
        model: The compiled model.
        stream: The batches.
    """

    def __init__(self, model: StepModel, stream: Stream) -> None:
        self._model = model
        self._stream = stream
        self._step = tf.function(self._step_on_next, autograph=False)

    def run(self, segment: Segment) -> Iterator[tf.Tensor]:
        """Trains for a segment; yields the mean loss after every `steps_per_execution` steps."""
        iterator = iter(self._stream.dataset(segment))
        steps = iter(range(segment.num))
        while group := list(islice(steps, self._model.steps_per_execution)):
            for _ in group:
                self._step(iterator)
            yield self._model.loss_tracker.result()

    def _step_on_next(self, iterator: Any) -> None:
        batch = next(iterator)
        self._model.distribute_strategy.run(self._model.step_on, args=(batch,))


class FeatureSteps:
    """Trains a head on fixed vectors in memory, many steps per call from Python.

    A step of a head takes a sixth of a millisecond; assembling its batch in an input pipeline and
    handing it over takes three times that. So steps assemble their batches inside their own graph,
    which receives only the order of the examples.

    Args:
        model: The compiled model, without an encoder.
        stream: The `ExampleStream` of the examples.
        make_batch: Returns a batch of vectors and targets from the indices of its examples, int64
            `(batch,)`.

    Raises:
        ConfigError: There are several replicas.
    """

    def __init__(
        self,
        model: StepModel,
        stream: Any,
        make_batch: Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]],
    ) -> None:
        if model.distribute_strategy.num_replicas_in_sync > 1:
            raise ConfigError(
                "`freeze` encoder trains a head on one device only, because a step takes less time "
                "than an exchange. Set CUDA_VISIBLE_DEVICES=0."
            )
        self._model = model
        self._stream = stream
        self._make_batch = make_batch
        signature = [tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.int32)]
        self._train_steps = tf.function(self._steps_on, input_signature=signature, autograph=False)

    def run(self, segment: Segment) -> Iterator[tf.Tensor]:
        """Trains for a segment; yields the mean loss after every `steps_per_execution` steps."""
        for order in self._stream.orders(segment, self._model.steps_per_execution):
            yield self._train_steps(order, self._stream.step_size)

    def _steps_on(self, order: tf.Tensor, step_size: tf.Tensor) -> tf.Tensor:
        """Trains on consecutive batches; returns the mean loss.

        Args:
            order: Indices of the examples, `(num_examples,)`.
            step_size: Examples per batch; the last batch may have fewer.
        """
        size = tf.shape(order)[0]

        def step(start: tf.Tensor) -> list[tf.Tensor]:
            self._model.step_on(self._make_batch(order[start : start + step_size]))
            return [start + step_size]

        # One iteration at a time, because each step reads the weights that the last one wrote.
        tf.while_loop(lambda start: start < size, step, [0], parallel_iterations=1)
        return self._model.loss_tracker.result()
