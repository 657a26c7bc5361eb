"""Gradient descent with momentum, where every row moves at every step."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers.embedding_table import Gradient
from tf_charagram.optimizers.row_sparse import TableOptimizer, for_each_block


@keras.saving.register_keras_serializable(package="tf_charagram")
class MomentumSgd(TableOptimizer, keras.optimizers.SGD):
    """`keras.optimizers.SGD` in one pass over weights and momentum, by TensorFlow's fused kernel.

    The update is the same, `m = momentum * m - learning_rate * g` and `w = w + m`: nothing is lazy,
    and a row without a gradient moves on by its momentum. For a table of 55,000 x 150 and a sparse
    gradient of 3,000 rows it takes two thirds of the time of Keras' own.

    Args:
        learning_rate: Step size.
        momentum: Share of the last update that the next one keeps, in [0, 1).
        **kwargs: `rounding_seed` of `TableOptimizer`, and as for `keras.optimizers.SGD`.
    """

    def __init__(self, learning_rate: float = 0.2, momentum: float = 0.95, **kwargs: Any) -> None:
        super().__init__(
            learning_rate=learning_rate, momentum=momentum, **{"name": "momentum_sgd", **kwargs}
        )

    def update_step(
        self, gradient: Gradient, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable; gradients of equal rows add up."""
        if variable.dtype == tf.bfloat16:
            self._update_blocks(gradient, variable, learning_rate)
        else:
            self._update_all(gradient, variable, learning_rate)

    def _update_all(
        self, gradient: Gradient, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        if isinstance(gradient, tf.IndexedSlices):
            gradient = tf.math.unsorted_segment_sum(
                gradient.values, gradient.indices, variable.shape[0]
            )
        if not self.momentum:
            variable.assign_sub(tf.cast(learning_rate, variable.dtype) * gradient)
            return
        tf.raw_ops.ResourceApplyKerasMomentum(
            var=variable.handle,
            accum=self.momentums[self._get_variable_index(variable)].value.handle,
            lr=tf.cast(learning_rate, variable.dtype),
            grad=gradient,
            momentum=self.momentum,
            use_nesterov=self.nesterov,
        )

    def _update_blocks(
        self, gradient: Gradient, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates a table in bfloat16."""
        index = self._get_variable_index(variable)
        tables = [variable, *(m.value for m in self.momentums[index : index + 1])]

        def update(indices: tf.Tensor) -> None:
            steps = -learning_rate * _block(gradient, indices)
            rows, *momentums = self.read_rows(tables, indices)
            momentums = [self.momentum * momentum + steps for momentum in momentums]
            for momentum in momentums:
                steps = self.momentum * momentum + steps if self.nesterov else momentum
            self.write_rows(tables, indices, [rows + steps, *momentums])

        for_each_block(variable, update)


def _block(gradient: Gradient, indices: tf.Tensor) -> tf.Tensor:
    """Returns the gradient of consecutive rows, equal rows summed."""
    if not isinstance(gradient, tf.IndexedSlices):
        return tf.gather(gradient, indices)
    positions = tf.cast(gradient.indices, tf.int64) - indices[0]
    num_rows = tf.shape(indices, tf.int64)[0]
    # Negative segments are left out; segments past the last are an error.
    positions = tf.where(positions < num_rows, positions, -1)
    return tf.math.unsorted_segment_sum(gradient.values, positions, num_rows)
