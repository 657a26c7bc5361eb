"""The base of the optimizers of embedding tables: how their rows are read and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_integers
from tf_charagram.layers.cut_table import Origin, origin_of
from tf_charagram.layers.embedding_table import mark_row_sparse
from tf_charagram.layers.placement import beside
from tf_charagram.optimizers.rounding import stochastic_round

# Rows of a table in bfloat16 that are float32 at a time where all of them move.
_BLOCK_ROWS = 4096
# More variables than any optimizer keeps for a table.
_MOST_SLOTS = 4


class TableOptimizer(keras.optimizers.Optimizer):
    """Base of the optimizers that train tables of embeddings, in float32 or in bfloat16.

    Comes before the Keras optimizer among the bases of a class. Of a table in bfloat16 the moments
    are in bfloat16, too. Its rows are updated in float32, and rounded stochastically when they are
    written.

    Args:
        rounding_seed: Seed of the rounding.
        **kwargs: As for the Keras optimizer.
    """

    #: Tells tables of embeddings that a sparse gradient is welcome.
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
        """Updates variables, as the Keras optimizer; what it clips has each row once."""
        if self.clipnorm or self.global_clipnorm or self.clipvalue:
            grads = [
                sum_equal_rows(grad) if isinstance(grad, tf.IndexedSlices) else grad
                for grad in grads
            ]
        super().apply(grads, trainable_variables)

    @staticmethod
    def read_rows(tables: Sequence[tf.Variable], indices: tf.Tensor) -> list[tf.Tensor]:
        """Returns rows of tables, float32 `(n, dim)` each."""
        # Waits for memory more than it computes, so it is not to wait for the gradient as well.
        with tf.control_dependencies(None):
            return [tf.cast(tf.gather(table, indices), tf.float32) for table in tables]

    def write_rows(
        self, tables: Sequence[tf.Variable], indices: tf.Tensor, rows: Sequence[tf.Tensor]
    ) -> None:
        """Replaces rows of tables, rounded stochastically where these are in bfloat16.

        The draws are those of the row in the whole table, so they are the same however it is cut.

        Args:
            tables: A variable and its moments, always in the same order.
            indices: Integer `(n,)`, distinct.
            rows: float32 `(n, dim)`, for each table.
        """
        number, origin = self._origin(tables[0])
        for slot, (table, values) in enumerate(zip(tables, rows, strict=True)):
            if table.dtype == tf.bfloat16:
                step, seed = tf.convert_to_tensor(self.iterations), self.rounding_seed
                places, salt = origin.places(indices), number * _MOST_SLOTS + slot
                values = stochastic_round(values, places, step, seed=seed, salt=salt)
            table.scatter_update(tf.IndexedSlices(values, indices))

    def _origin(self, variable: tf.Variable) -> tuple[int, Origin]:
        """Returns the number of the table that a variable belongs to, and where in it."""
        origins = [origin_of(trained) for trained in self._trainable_variables]
        origin = origins[self._get_variable_index(variable)]
        tables = list(dict.fromkeys(id(one.table) for one in origins))
        return tables.index(id(origin.table)), origin

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "rounding_seed": self.rounding_seed}


def sum_equal_rows(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """Returns the gradient with every row at most once, gradients of equal rows summed.

    Keras' own optimizers skip this, and so move a row that occurs twice by more than the summed
    gradient would. Where all rows are distinct already, it costs one pass over the indices.
    """
    distinct, positions = tf.unique(gradient.indices)
    num_distinct = tf.shape(distinct)[0]
    values = tf.cond(
        num_distinct == tf.shape(positions)[0],
        lambda: gradient.values,
        lambda: tf.math.unsorted_segment_sum(gradient.values, positions, num_distinct),
    )
    return tf.IndexedSlices(values, distinct, gradient.dense_shape)


def for_each_block(table: tf.Variable, update: Callable[[tf.Tensor], None]) -> None:
    """Updates all rows of a table, some thousands at a time, to save memory.

    Args:
        table: The table, beside which the updates run.
        update: Called with the indices of the rows, int64 `(n,)`.
    """
    num_rows = table.shape[0]

    def block(start: tf.Tensor) -> list[tf.Tensor]:
        # A dense gradient may not say where it is, and a body does not take over the device.
        with beside(table):
            update(tf.range(start, tf.minimum(start + _BLOCK_ROWS, num_rows)))
        return [start + _BLOCK_ROWS]

    tf.while_loop(lambda start: start < num_rows, block, [tf.constant(0, tf.int64)])
