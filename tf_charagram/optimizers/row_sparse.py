"""Row-sparse gradients, and bases of the optimizers of embedding tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_switches
from tf_charagram.layers.embedding_table import Gradient, mark_row_sparse


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
            grads = [
                sum_equal_rows(grad) if isinstance(grad, tf.IndexedSlices) else grad
                for grad in grads
            ]
        super().apply(grads, trainable_variables)

    @staticmethod
    def read_rows(tables: Sequence[tf.Variable], indices: tf.Tensor) -> list[tf.Tensor]:
        """Returns rows of tables, float32 `(n, dim)` each."""
        # Bound by memory, not by computation, so it need not wait for the gradient.
        with tf.control_dependencies(None):
            return [tf.gather(table, indices) for table in tables]

    @staticmethod
    def write_rows(
        tables: Sequence[tf.Variable], indices: tf.Tensor, rows: Sequence[tf.Tensor]
    ) -> None:
        """Replaces rows of tables.

        Args:
            tables: A variable and its moments.
            indices: Integer `(n,)`, distinct.
            rows: float32 `(n, dim)` for each table.
        """
        for table, values in zip(tables, rows, strict=True):
            table.scatter_update(tf.IndexedSlices(values, indices))


class RowSparseOptimizer(TableOptimizer):
    """Base of the optimizers that read and write only the rows a sparse gradient names.

    Equal rows of one gradient are summed before they are applied.

    Args:
        distinct_rows: Whether the rows of every sparse gradient are known to be distinct, as those
            of one call of `RaggedEmbeddingSum` are; then they are not summed. With several
            replicas they are summed all the same.
        **kwargs: As for the Keras optimizer.
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
                gradient = sum_equal_rows(gradient)
            self.update_rows(gradient, variable, learning_rate)
        else:
            self.update_all(gradient, variable, learning_rate)

    def update_all(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable by a dense gradient, as Keras does."""
        super().update_step(gradient, variable, learning_rate)

    @abstractmethod
    def update_rows(
        self, gradient: tf.IndexedSlices, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates the rows of a variable that a gradient with distinct rows names."""

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "distinct_rows": self.distinct_rows}


def sum_equal_rows(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """Returns the gradient with every row at most once, gradients of equal rows summed.

    Keras' own optimizers skip this, and so move a row that occurs twice by more than the summed
    gradient would. If all rows are distinct already, it costs one pass over the indices.
    """
    distinct, positions = tf.unique(gradient.indices)
    num_distinct = tf.shape(distinct)[0]
    values = tf.cond(
        num_distinct == tf.shape(positions)[0],
        lambda: gradient.values,
        lambda: tf.math.unsorted_segment_sum(gradient.values, positions, num_distinct),
    )
    return tf.IndexedSlices(values, distinct, gradient.dense_shape)


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
    norm = tf.debugging.check_numerics(norm, "The norm of the gradient is not finite")
    return scaled(gradients, clip_norm / tf.maximum(norm, clip_norm))


def values_of(gradient: Gradient) -> tf.Tensor:
    """Returns the numbers of a gradient; those of a sparse one without the rows left out."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


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
