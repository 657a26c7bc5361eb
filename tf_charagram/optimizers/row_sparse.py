"""Row-sparse gradients, and bases of the optimizers of embedding tables, in bfloat16 or not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import check_integers, check_switches
from tf_charagram.layers.embedding_table import Gradient, mark_row_sparse
from tf_charagram.text.keys import mix64

# Rows of a bfloat16 table that are float32 at a time when all of them move.
_BLOCK_ROWS = 4096
# More variables than any optimizer keeps for a table.
_MAX_SLOTS = 4
# Odd numbers without a pattern: sums of small multiples of them are all different.
_SEED, _SALT = 0x9E3779B97F4A7C15, 0xDA942042E4DD58B5
_STEP, _INDEX = np.uint64(0xD1342543DE82EF95), np.uint64(0xAF251AF3B0F025B5)


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


def stochastic_round(
    values: tf.Tensor, rows: tf.Tensor, step: tf.Tensor, *, seed: int = 0, salt: int = 0
) -> tf.Tensor:
    """Rounds each number to one of its two neighbours in bfloat16, at random.

    The nearer neighbour has the larger probability, so that the expectation is the number itself
    (Gupta et al. 2015, section 3.1). Rounded to the nearest, a weight that moves by less than a
    512th of itself would never change. Numbers that bfloat16 has stay as they are, including
    infinities and NaN.

    The draws depend on the arguments only: a resumed run rounds as an uninterrupted one, and the
    order of the rows does not matter.

    Args:
        values: float32 `(n, dim)`, `dim` known.
        rows: Row of the table of each, integer `(n,)`, not negative.
        step: Number of the step, integer scalar.
        seed: Seed of all draws.
        salt: Number of the table, so that tables are rounded independently.

    Returns:
        bfloat16 `(n, dim)`.
    """
    bits = tf.bitcast(values, tf.uint32)
    # A bfloat16 is the upper half of a float32. A draw added to the lower half carries into the
    # upper half with the right probability; then the lower half, first in memory, is cut off.
    bits += tf.cast(_draws(rows, values.shape[1], step, seed, salt), tf.uint32)
    return tf.bitcast(tf.bitcast(bits, tf.uint16)[..., 1], tf.bfloat16)


def _draws(rows: tf.Tensor, dim: int, step: tf.Tensor, seed: int, salt: int) -> tf.Tensor:
    """Returns uniform numbers, uint16 `(n, dim)`, any two of them independent.

    Each is the sum of a draw of its row and one of its column, modulo 2^16. Sums of rounding errors
    have the variance of independent draws, at a tenth of the cost.
    """
    columns = -1 - tf.range(dim, dtype=tf.int64)
    indices = tf.bitcast(tf.concat([tf.cast(rows, tf.int64), columns], axis=0), tf.uint64)
    start = np.uint64((seed * _SEED + salt * _SALT) % 2**64)
    mixed = mix64(indices * _INDEX + (tf.cast(step, tf.uint64) * _STEP + start))
    draws = tf.cast(tf.bitwise.right_shift(mixed, np.uint64(48)), tf.uint16)
    return draws[:-dim, tf.newaxis] + draws[-dim:]


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
