"""Row-sparse gradients, and bases of the optimizers of embedding tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_switches
from tf_charagram.layers._ops.row_gradients import (
    Gradient,
    sum_equal_rows,
    values_of,
)
from tf_charagram.layers._ops.xla import check_finite, in_xla
from tf_charagram.layers.embedding_table import mark_row_sparse, read_in_place


class TableOptimizer(keras.optimizers.Optimizer):
    """Base of the optimizers that train embedding tables.

    Comes before the Keras optimizer among the bases of a class.
    """

    #: Tells embedding tables that this optimizer takes sparse gradients.
    sums_equal_rows = True

    def build(self, variables: list[keras.Variable]) -> None:
        """Creates the variables of the optimizer."""
        super().build(variables)
        mark_row_sparse(variables, self)

    def apply(
        self, grads: Sequence[Any], trainable_variables: Sequence[keras.Variable] | None = None
    ) -> None:
        """Updates variables; equal rows are summed first if Keras is to clip gradients."""
        if self.clipnorm or self.global_clipnorm or self.clipvalue:
            variables = trainable_variables or self._trainable_variables
            grads = [
                sum_equal_rows(grad, variable) if isinstance(grad, tf.IndexedSlices) else grad
                for grad, variable in zip(grads, variables, strict=True)
            ]
        super().apply(grads, trainable_variables)


class RowSparseOptimizer(TableOptimizer):
    """Base of the optimizers that read and write only the rows a sparse gradient names.

    Equal rows of one gradient are summed before they are applied.

    Args:
        distinct_rows: Whether the rows of every sparse gradient are known to be distinct, as those
            of one call of `RaggedEmbeddingSum` are; then they are not summed. With several
            replicas they are summed all the same.
        **kwargs: Arguments of the Keras optimizer.
    """

    def __init__(self, *, distinct_rows: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_switches(distinct_rows=distinct_rows)
        self.distinct_rows = distinct_rows

    def update_step(
        self, gradient: Gradient, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable, or the rows of it that a sparse gradient names."""
        if isinstance(gradient, tf.IndexedSlices):
            # A sum over replicas names a row once for each.
            num_replicas = self._distribution_strategy.num_replicas_in_sync
            if not self.distinct_rows or num_replicas > 1:
                gradient = sum_equal_rows(gradient, variable)
            self.update_rows(gradient, variable, learning_rate)
            if not (self.distinct_rows or in_xla()):
                # After an update of single rows, TensorFlow copies a table that is read as a whole,
                # as by `keras.layers.Embedding`.
                read_in_place(variable)
        else:
            self.update_all(gradient, variable, learning_rate)

    def update_all(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable by a dense gradient, as Keras does."""
        super().update_step(gradient, variable, learning_rate)

    @abstractmethod
    def tables_of(self, variable: tf.Variable) -> list[tf.Variable]:
        """Returns a variable, and the moments of its rows that the optimizer keeps."""

    @abstractmethod
    def update_rows(
        self, gradient: tf.IndexedSlices, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates the rows of a variable that a gradient with distinct rows names."""

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "distinct_rows": self.distinct_rows}


def clip_by_global_norm(gradients: Sequence[Gradient], clip_norm: float) -> list[Gradient]:
    """Scales gradients so that their joint L2 norm is at most `clip_norm`.

    Args:
        gradients: Dense tensors, or sparse ones with distinct rows.
        clip_norm: Maximum norm, above 0 and finite.

    Raises:
        tf.errors.InvalidArgumentError: The norm, whose square is a float32, is not finite.
    """
    squares = [tf.reduce_sum(tf.square(values_of(gradient))) for gradient in gradients]
    norm = tf.sqrt(tf.add_n(squares))
    norm = check_finite(norm, "The norm of the gradient is not finite")
    return scaled(gradients, clip_norm / tf.maximum(norm, clip_norm))


def scaled(gradients: Sequence[Gradient], scale: float | tf.Tensor) -> list[Gradient]:
    """Returns gradients times a number; a factor of 1 costs nothing."""
    if isinstance(scale, float) and scale == 1.0:
        return list(gradients)
    return [
        tf.IndexedSlices(gradient.values * scale, gradient.indices, gradient.dense_shape)
        if isinstance(gradient, tf.IndexedSlices)
        else gradient * scale
        for gradient in gradients
    ]
