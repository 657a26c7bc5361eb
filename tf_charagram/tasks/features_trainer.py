"""The model that trains a head on vectors in memory, many steps without going back to Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import keras
import tensorflow as tf
from tensorflow.python.eager import context

from tf_charagram.data.pipeline.device import first_gpu
from tf_charagram.tasks.supervised_trainer import SupervisedModel


class FeatureModel(SupervisedModel):
    """Trains a head on the vectors of an encoder that is not trained: frozen features.

    A step of a head takes a sixth of a millisecond; to assemble its batch in an input pipeline and
    to hand it over takes three times that. So the steps of a run assemble their batches themselves,
    in their own graph, which gets no more than the order of the examples.

    Args:
        head: Keras layer from vectors to logits.
        make_batch: Returns the vectors and the targets, as `fit` of a `SupervisedModel` without an
            encoder takes them, of the examples of given indices, int64 `(batch,)`.
        use_one_thread: Whether the operations of a step run one after the other, unless there is a
            GPU. They take a few microseconds each, and half as long again where they are handed
            from thread to thread. TensorFlow then leaves its graph as it is: products are those of
            another library, which round differently, and always in float32.
        **kwargs: As for `keras.Model`.
    """

    def __init__(
        self,
        head: keras.layers.Layer,
        make_batch: Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]],
        *,
        use_one_thread: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(None, head, **kwargs)
        self._make_batch = make_batch
        # Beside a GPU the parts of a function wait for each other.
        self.use_one_thread = use_one_thread and first_gpu() is None

    def compile(self, optimizer: keras.optimizers.Optimizer, **kwargs: Any) -> None:
        """Configures training; arguments and errors as for `SupervisedModel.compile`."""
        super().compile(optimizer, **kwargs)
        signature = [tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.int32)]
        self._train_steps = tf.function(self._steps_on, input_signature=signature, autograph=False)

    def train_on(
        self, stream: Any, segment: Any, callbacks: Sequence[keras.callbacks.Callback] = ()
    ) -> None:
        """Trains on some steps, `steps_per_execution` at a time.

        Args:
            stream: The `ExampleStream` of the examples.
            segment: Which of its steps.
            callbacks: Called as by `fit` after each execution.
        """
        told = keras.callbacks.CallbackList(list(callbacks), model=self)
        self.stop_training = False
        self.loss_tracker.reset_state()
        told.on_train_begin()
        orders = stream.orders(segment, self.steps_per_execution)
        for number, order in enumerate(orders):
            with self._threads():
                loss = self._train_steps(order, stream.step_size)
            told.on_train_batch_end(number, {"loss": loss})
            if self.stop_training:
                break
        told.on_train_end()

    def _steps_on(self, order: tf.Tensor, step_size: tf.Tensor) -> tf.Tensor:
        """Trains on consecutive batches; returns the mean loss.

        Args:
            order: The indices of their examples, `(num_examples,)`.
            step_size: Examples per batch; the last one may have fewer.
        """
        size = tf.shape(order)[0]

        def step(start: tf.Tensor) -> list[tf.Tensor]:
            self.step_on(self._make_batch(order[start : start + step_size]))
            return [start + step_size]

        tf.while_loop(lambda start: start < size, step, [0], parallel_iterations=1)
        return self.loss_tracker.result()

    def _threads(self) -> AbstractContextManager[None]:
        """Returns the context to run steps in."""
        if not self.use_one_thread:
            return nullcontext()
        return context.function_executor_type("SINGLE_THREADED_EXECUTOR")
