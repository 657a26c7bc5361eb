"""The trainer of a head on fixed vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.training.supervised_model import SupervisedModel


class FeatureModel(SupervisedModel):
    """Trains a head on fixed vectors in memory, many steps per call from Python.

    A step of a head takes a sixth of a millisecond; assembling its batch in an input pipeline and
    handing it over takes three times that. So steps assemble their batches inside their own graph,
    which receives only the order of the examples.

    Args:
        head: Keras layer from vectors to logits, with `loss(logits, targets, class_weights)`.
        make_batch: Returns a batch of vectors and targets from the indices of its examples, int64
            `(batch,)`.
        **kwargs: Arguments of `keras.Model`, such as `name`.

    Raises:
        ConfigError: There are several replicas.
    """

    def __init__(
        self,
        head: keras.layers.Layer,
        make_batch: Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]],
        **kwargs: Any,
    ) -> None:
        super().__init__(None, head, **kwargs)
        if self.distribute_strategy.num_replicas_in_sync > 1:
            raise ConfigError(
                "`freeze` encoder trains a head on one device only, because a step takes less time "
                "than an exchange. Set CUDA_VISIBLE_DEVICES=0, and leave out TF_CONFIG."
            )
        self._make_batch = make_batch

    def compile(self, optimizer: keras.optimizers.Optimizer, **kwargs: Any) -> None:
        """Configures training.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            **kwargs: `class_weights`, penalties, clipping and other options of
                `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range.
        """
        super().compile(optimizer, **kwargs)
        signature = [tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.int32)]
        self._train_steps = tf.function(self._steps_on, input_signature=signature, autograph=False)

    def train_on(
        self, stream: Any, segment: Any, callbacks: Sequence[keras.callbacks.Callback] = ()
    ) -> None:
        """Trains on consecutive steps, `steps_per_execution` at a time.

        Args:
            stream: The `ExampleStream` of the examples.
            segment: Which of its steps to take.
            callbacks: Called after each execution, as by `fit`.
        """
        orders = stream.orders(segment, self.steps_per_execution)
        losses = (self._train_steps(order, stream.step_size) for order in orders)
        self.run_executions(losses, callbacks)

    def _steps_on(self, order: tf.Tensor, step_size: tf.Tensor) -> tf.Tensor:
        """Trains on consecutive batches; returns the mean loss.

        Args:
            order: Indices of the examples, `(num_examples,)`.
            step_size: Examples per batch; the last batch may have fewer.
        """
        size = tf.shape(order)[0]

        def step(start: tf.Tensor) -> list[tf.Tensor]:
            self.step_on(self._make_batch(order[start : start + step_size]))
            return [start + step_size]

        # One iteration at a time, because each step reads the weights that the last one wrote.
        tf.while_loop(lambda start: start < size, step, [0], parallel_iterations=1)
        return self.loss_tracker.result()
