"""Bases of the optimizers of embedding tables, which may be in bfloat16."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_integers, check_switches
from tf_charagram.layers.embedding_table import Gradient, mark_row_sparse
from tf_charagram.optimizers.gradients import sum_equal_rows
from tf_charagram.optimizers.rounding import stochastic_round

# Rows of a bfloat16 table that are float32 at a time when all of them move.
_BLOCK_ROWS = 4096
# More variables than any optimizer keeps for a table.
_MAX_SLOTS = 4


class TableOptimizer(keras.optimizers.Optimizer):
    """Base of the optimizers that train embedding tables, in float32 or in bfloat16.

    Comes before the Keras optimizer among the bases of a class. The moments of a bfloat16 table are
    in bfloat16, too. Its rows are updated in float32 and rounded stochastically when written.

    Args:
        rounding_seed: Seed of the rounding.
        **kwargs: As for the Keras optimizer.
    """

    #: Tells embedding tables that this optimizer takes sparse gradients.
    sums_equal_rows = True

    def __init__(self, *, rounding_seed: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_integers(rounding_seed=rounding_seed)
        self.rounding_seed = rounding_seed

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
            return [tf.cast(tf.gather(table, indices), tf.float32) for table in tables]

    def write_rows(
        self, tables: Sequence[tf.Variable], indices: tf.Tensor, rows: Sequence[tf.Tensor]
    ) -> None:
        """Replaces rows of tables, rounded stochastically if these are in bfloat16.

        Args:
            tables: A variable and its moments, always in the same order.
            indices: Integer `(n,)`, distinct.
            rows: float32 `(n, dim)` for each table.
        """
        number = self._get_variable_index(tables[0])
        for slot, (table, values) in enumerate(zip(tables, rows, strict=True)):
            if table.dtype == tf.bfloat16:
                step, seed = tf.convert_to_tensor(self.iterations), self.rounding_seed
                salt = number * _MAX_SLOTS + slot
                values = stochastic_round(values, indices, step, seed=seed, salt=salt)
            table.scatter_update(tf.IndexedSlices(values, indices))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "rounding_seed": self.rounding_seed}


class RowSparseOptimizer(TableOptimizer):
    """Base of the optimizers that read and write only the rows a sparse gradient names.

    Equal rows of one gradient are summed before they are applied.

    Args:
        distinct_rows: Whether the rows of every sparse gradient are known to be distinct, as those
            of one call of `RaggedEmbeddingSum` are; then they are not summed. With several
            replicas they are summed all the same.
        **kwargs: As for `TableOptimizer`.
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
        elif variable.dtype == tf.bfloat16:
            for_each_block(
                variable,
                lambda indices: self.update_rows(
                    tf.IndexedSlices(tf.gather(gradient, indices), indices), variable, learning_rate
                ),
            )
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


def for_each_block(table: tf.Variable, update: Callable[[tf.Tensor], None]) -> None:
    """Updates all rows of a table, some thousands at a time to save memory.

    Args:
        table: The table.
        update: Called with the indices of the rows, int64 `(n,)`.
    """
    num_rows = table.shape[0]

    def block(start: tf.Tensor) -> list[tf.Tensor]:
        update(tf.range(start, tf.minimum(start + _BLOCK_ROWS, num_rows)))
        return [start + _BLOCK_ROWS]

    tf.while_loop(lambda start: start < num_rows, block, [tf.constant(0, tf.int64)])
