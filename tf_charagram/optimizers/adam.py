"""Row-sparse Adam."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.layers._ops.row_gradients import read_rows
from tf_charagram.layers._ops.xla import in_xla
from tf_charagram.optimizers.row_sparse import RowSparseOptimizer


@keras.saving.register_keras_serializable(package="tf_charagram")
class LazyAdam(RowSparseOptimizer, keras.optimizers.Adam):
    """Adam (Kingma & Ba 2015) that reads and writes only the rows a sparse gradient names.

    Takes the place of `keras.optimizers.Adam` in any Keras model; `keras.layers.Embedding` has
    sparse gradients. Other rows keep their value and their moments; the bias correction counts all
    steps. On batches that name every row it equals `keras.optimizers.Adam`.

    The named rows of the table and both moments are gathered into three small variables, updated
    there by TensorFlow's fused Adam kernel, and scattered back: half the time of the same update
    written in element-wise operations.

    Args:
        learning_rate: Step size, or a Keras schedule.
        distinct_rows: Whether every sparse gradient is known to name each row once. Leave it at
            False for `keras.layers.Embedding`.
        **kwargs: Further arguments of `keras.optimizers.Adam`, except `amsgrad`.

    Raises:
        ConfigError: `amsgrad` is true, or, at the first step, a variable is in bfloat16.
    """

    def __init__(
        self, learning_rate: float = 0.001, *, distinct_rows: bool = False, **kwargs: Any
    ) -> None:
        if kwargs.get("amsgrad"):
            raise ConfigError("LazyAdam does not support amsgrad=True.")
        super().__init__(
            learning_rate=learning_rate,
            distinct_rows=distinct_rows,
            **{"name": "lazy_adam", **kwargs},
        )
        self._scratch: list[list[tf.Variable]] = []

    def build(self, variables: list[keras.Variable]) -> None:
        """Creates the moments, and room for the rows of one batch, by the width of the tables."""
        if self.built:
            return
        super().build(variables)
        shared: dict[tuple[int, str], list[tf.Variable]] = {}
        scratch: list[list[tf.Variable]] = []
        for variable in variables:
            if variable.dtype == "bfloat16":
                # There, `beta_2` is 1 and the step is 0.
                raise ConfigError(
                    f"LazyAdam does not train variables in bfloat16: '{variable.path}'. Use the "
                    "policy 'mixed_bfloat16', which keeps variables in float32."
                )
            if len(variable.shape) != 2:
                scratch.append([])
                continue
            width, dtype = variable.shape[1], tf.as_dtype(variable.dtype)
            key = (width, dtype.name)
            if key not in shared:
                shared[key] = [_empty(width, dtype) for _ in range(3)]
            scratch.append(shared[key])
        self._scratch = scratch

    def update_all(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable by a dense gradient."""
        self._apply(self.tables_of(variable), gradient, learning_rate)

    def update_rows(
        self, gradient: tf.IndexedSlices, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates the rows of a variable that a gradient with distinct rows names."""
        tables = self.tables_of(variable)
        rows = [read_rows(table, gradient.indices) for table in tables]
        if in_xla():
            updated = self._updated(rows, gradient.values, learning_rate)
        else:
            scratch = self._scratch[self._get_variable_index(variable)]
            for small, values in zip(scratch, rows, strict=True):
                small.assign(values)
            self._apply(scratch, gradient.values, learning_rate)
            updated = [small.read_value() for small in scratch]
        for table, values in zip(tables, updated, strict=True):
            table.scatter_update(tf.IndexedSlices(values, gradient.indices))

    def tables_of(self, variable: tf.Variable) -> list[tf.Variable]:
        """Returns a variable and both of its moments."""
        index = self._get_variable_index(variable)
        return [variable, self._momentums[index].value, self._velocities[index].value]

    def _updated(
        self, rows: list[tf.Tensor], gradient: tf.Tensor, learning_rate: tf.Tensor
    ) -> list[tf.Tensor]:
        """Computes new weights and moments in element-wise operations, which XLA joins."""
        weights, momentums, velocities = rows
        dtype = weights.dtype
        learning_rate = tf.cast(learning_rate, dtype)
        power_1, power_2 = self._beta_powers(dtype)
        # Corrects the bias of both moments towards their start at 0, as the fused kernel does.
        correction = tf.sqrt(1.0 - power_2) / (1.0 - power_1)
        momentums += (gradient - momentums) * (1.0 - self.beta_1)
        velocities += (tf.square(gradient) - velocities) * (1.0 - self.beta_2)
        weights -= learning_rate * correction * momentums / (tf.sqrt(velocities) + self.epsilon)
        return [weights, momentums, velocities]

    def _apply(
        self, tables: list[tf.Variable], gradient: tf.Tensor, learning_rate: tf.Tensor
    ) -> None:
        """Runs the fused kernel on weights and both moments, which it changes in place."""
        dtype = tables[0].dtype
        powers = self._beta_powers(dtype)
        weights, momentums, velocities = (table.handle for table in tables)
        tf.raw_ops.ResourceApplyAdam(
            var=weights, m=momentums, v=velocities, grad=gradient,
            beta1_power=powers[0], beta2_power=powers[1],
            lr=tf.cast(learning_rate, dtype), beta1=self.beta_1, beta2=self.beta_2,
            epsilon=self.epsilon,
        )  # fmt: skip

    def _beta_powers(self, dtype: tf.DType) -> list[tf.Tensor]:
        """Returns both betas to the power of the number of this step."""
        # Keras has no variable here if it accumulates gradients over several calls.
        step = tf.cast(tf.convert_to_tensor(self.iterations) + 1, dtype)
        return [tf.pow(tf.constant(beta, dtype), step) for beta in (self.beta_1, self.beta_2)]


def _empty(dim: int, dtype: tf.DType) -> tf.Variable:
    # A training loop may build the optimizer in the first call of its `tf.function`.
    with tf.init_scope():
        return tf.Variable(tf.zeros([0, dim], dtype), shape=[None, dim], trainable=False)
