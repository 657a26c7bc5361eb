"""Row-sparse AdaGrad."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers._ops.row_gradients import read_rows
from tf_charagram.optimizers.row_sparse import RowSparseOptimizer


@keras.saving.register_keras_serializable(package="tf_charagram")
class LazyAdagrad(RowSparseOptimizer, keras.optimizers.Adagrad):
    """AdaGrad (Duchi et al. 2011) that reads and writes only the rows a sparse gradient names.

    A row without a gradient does not move in AdaGrad anyway, so this is exact. Dense gradients are
    left to Keras.

    Args:
        learning_rate: Step size, or a Keras schedule.
        distinct_rows: Whether every sparse gradient is known to name each row once. Leave it at
            False for `keras.layers.Embedding`.
        **kwargs: Further arguments of `keras.optimizers.Adagrad`.
    """

    def __init__(
        self, learning_rate: float = 0.05, *, distinct_rows: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            distinct_rows=distinct_rows,
            **{"name": "lazy_adagrad", **kwargs},
        )

    def update_rows(
        self, gradient: tf.IndexedSlices, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates the rows of a variable that a gradient with distinct rows names."""
        tables = self.tables_of(variable)
        rows, sums = (read_rows(table, gradient.indices) for table in tables)
        sums += tf.square(gradient.values)
        learning_rate = tf.cast(learning_rate, rows.dtype)
        rows -= learning_rate * gradient.values * tf.math.rsqrt(sums + self.epsilon)
        for table, values in zip(tables, (rows, sums), strict=True):
            table.scatter_update(tf.IndexedSlices(values, gradient.indices))

    def tables_of(self, variable: tf.Variable) -> list[tf.Variable]:
        """Returns a variable and the sums of its squared gradients."""
        return [variable, self._accumulators[self._get_variable_index(variable)].value]
