"""Training steps of supervised tasks: an encoder and its head, or the head on fixed vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.training.step_model import StepModel


class SupervisedModel(StepModel):
    """Trains an encoder and the head on top of it, or only the head (Universal, section 4.4).

    `fit` takes a `tf.data.Dataset` of `(ids, targets)`. The ids are a `tf.RaggedTensor` int32: of B
    texts `(B, None)`, or of the 2B texts of B pairs `(2B, None)`, lefts first, then rights. Targets
    are scores float32 `(B,)` or indices of labels int32 `(B,)`, whichever `head.loss` expects.
    Without an encoder, batches have vectors instead of ids, float32 `(B, dim)` or `(2B, dim)`.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`; `None` to train only the head.
        head: Keras layer from vectors to logits, with `loss(logits, targets, class_weights)`.
    """

    def __init__(
        self, encoder: keras.layers.Layer | None, head: keras.layers.Layer, **kwargs: Any
    ) -> None:
        super().__init__([head] if encoder is None else [encoder, head], **kwargs)
        # Batches of vectors have no ids to cut into chunks.
        self.can_use_xla = encoder is not None
        self.encoder = encoder
        self.head = head

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        class_weights: Sequence[float] | np.ndarray | None = None,
        **kwargs: Any,
    ) -> None:
        """Configures training.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            class_weights: Weight of the examples of each label, `(num_labels,)`.
            **kwargs: Penalties, clipping and other options of `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range.
        """
        self.class_weights = None
        if class_weights is not None:
            self.class_weights = tf.constant(np.asarray(class_weights, np.float32))
        if self.encoder is None:
            # The head is the only layer, and takes the place of the encoder.
            kwargs["l2_composition"] = kwargs.pop("l2_head", 0.0)
        super().compile(optimizer, **kwargs)

    def adapt(self, inputs: tf.RaggedTensor | tf.Tensor) -> None:
        """Scales the inputs of the head by the root mean square of the vectors.

        Args:
            inputs: Ids or vectors, as in batches. A few hundred texts are enough.
        """
        self.head.adapt(self._vectors(inputs, training=False))

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the loss of a batch, without penalties."""
        inputs, targets = batch
        logits = self.head(self._vectors(inputs, training))
        return self.head.loss(logits, targets, self.class_weights)

    def _vectors(self, inputs: Any, training: bool) -> tf.Tensor:
        return inputs if self.encoder is None else self.vectors_of(inputs, training)


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
                "`freeze` trains a head on one device only, because a step takes less time than an "
                "exchange. Set CUDA_VISIBLE_DEVICES=0, and leave out TF_CONFIG."
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
