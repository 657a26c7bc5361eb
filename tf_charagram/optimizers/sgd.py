"""SGD with momentum in one pass."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers._ops.row_gradients import Gradient
from tf_charagram.optimizers.row_sparse import TableOptimizer


@keras.saving.register_keras_serializable(package="tf_charagram")
class MomentumSgd(TableOptimizer, keras.optimizers.SGD):
    """`keras.optimizers.SGD` in one pass over weights and momentum, by TensorFlow's fused kernel.

    The update is the same, `m = momentum * m - learning_rate * g` and `w = w + m`: nothing is lazy,
    and a row without a gradient moves on by its momentum. For a table of 55,000 x 150 and a sparse
    gradient of 3,000 rows it takes two thirds of the time of Keras' own.

    Args:
        learning_rate: Step size.
        momentum: Share of the last update that the next one keeps, in [0, 1).
        **kwargs: Further arguments of `keras.optimizers.SGD`.
    """

    def __init__(self, learning_rate: float = 0.2, momentum: float = 0.95, **kwargs: Any) -> None:
        super().__init__(
            learning_rate=learning_rate, momentum=momentum, **{"name": "momentum_sgd", **kwargs}
        )

    def update_step(
        self, gradient: Gradient, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable; gradients of equal rows add up."""
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
