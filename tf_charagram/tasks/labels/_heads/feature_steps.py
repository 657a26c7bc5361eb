"""Training steps of a head on fixed vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.training._loop.stream import Segment
from tf_charagram.training.step_model import StepModel


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
                "than an exchange. Set CUDA_VISIBLE_DEVICES=0, and leave out TF_CONFIG."
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
