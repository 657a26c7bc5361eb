"""Adam and AdaGrad with row-sparse updates, as Keras optimizers, and all optimizers by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.optimizers.row_sparse import RowSparseOptimizer
from tf_charagram.optimizers.sgd import MomentumSgd


@keras.saving.register_keras_serializable(package="tf_charagram")
class LazyAdam(RowSparseOptimizer, keras.optimizers.Adam):
    """Adam (Kingma & Ba 2015) that reads and writes only the rows a sparse gradient names.

    Other rows keep their value and their moments; the bias correction counts all steps. On batches
    that name every row it equals `keras.optimizers.Adam`.

    The named rows of the table and both moments are gathered into three small variables, updated
    there by TensorFlow's fused Adam kernel, and scattered back: half the time of the same update
    written in element-wise operations.

    Args:
        learning_rate: Step size.
        distinct_rows: As for `RowSparseOptimizer`.
        **kwargs: As for `keras.optimizers.Adam`; `amsgrad` is not supported.

    Raises:
        ConfigError: `amsgrad` is true.
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
        super().build(variables)
        widths = {variable.shape[1] for variable in variables if len(variable.shape) == 2}
        shared = {width: [_empty(width) for _ in range(3)] for width in sorted(widths)}
        self._scratch = [
            shared[variable.shape[1]] if len(variable.shape) == 2 else [] for variable in variables
        ]

    def update_all(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable by a dense gradient."""
        self._apply(self._tables(variable), gradient, learning_rate)

    def update_rows(
        self, gradient: tf.IndexedSlices, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates the rows of a variable that a gradient with distinct rows names."""
        tables, scratch = self._tables(variable), self._scratch[self._get_variable_index(variable)]
        read = self.read_rows(tables, gradient.indices)
        for rows, values in zip(scratch, read, strict=True):
            rows.assign(values)
        self._apply(scratch, gradient.values, learning_rate)
        self.write_rows(tables, gradient.indices, [rows.read_value() for rows in scratch])

    def _tables(self, variable: tf.Variable) -> list[tf.Variable]:
        """Returns a variable and both of its moments."""
        index = self._get_variable_index(variable)
        return [variable, self._momentums[index].value, self._velocities[index].value]

    def _apply(
        self, tables: list[tf.Variable], gradient: tf.Tensor, learning_rate: tf.Tensor
    ) -> None:
        """Runs the fused kernel on weights and both moments, which it changes in place."""
        # Keras has no variable here if it accumulates gradients over several calls.
        dtype = tables[0].dtype
        step = tf.cast(tf.convert_to_tensor(self.iterations) + 1, dtype)
        powers = [tf.pow(tf.constant(beta, dtype), step) for beta in (self.beta_1, self.beta_2)]
        weights, momentums, velocities = (table.handle for table in tables)
        tf.raw_ops.ResourceApplyAdam(
            var=weights, m=momentums, v=velocities, grad=gradient,
            beta1_power=powers[0], beta2_power=powers[1],
            lr=tf.cast(learning_rate, dtype), beta1=self.beta_1, beta2=self.beta_2,
            epsilon=self.epsilon,
        )  # fmt: skip


def _empty(dim: int) -> tf.Variable:
    return tf.Variable(tf.zeros([0, dim]), shape=[None, dim], trainable=False)


@keras.saving.register_keras_serializable(package="tf_charagram")
class LazyAdagrad(RowSparseOptimizer, keras.optimizers.Adagrad):
    """AdaGrad (Duchi et al. 2011) that reads and writes only the rows a sparse gradient names.

    A row without a gradient does not move in AdaGrad anyway, so this is exact. Dense gradients are
    left to Keras.

    Args:
        learning_rate: Step size.
        distinct_rows: As for `RowSparseOptimizer`.
        **kwargs: As for `keras.optimizers.Adagrad`.
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
        squares = self._accumulators[self._get_variable_index(variable)].value
        tables, indices = [variable, squares], gradient.indices
        rows, sums = self.read_rows(tables, indices)
        sums += tf.square(gradient.values)
        rows -= learning_rate * gradient.values * tf.math.rsqrt(sums + self.epsilon)
        self.write_rows(tables, indices, [rows, sums])


#: Where AdaGrad starts its sums of squares, if nothing else is said: of the size of the squared
#: gradients here. At Keras' 0.1 it comes close to SGD; see docs/deviations.md.
INITIAL_ACCUMULATOR = 1e-6

OPTIMIZERS: dict[str, Callable[..., keras.optimizers.Optimizer]] = {
    "adam": LazyAdam,
    "adagrad": LazyAdagrad,
    "sgd": MomentumSgd,
}


def make_optimizer(
    name: str,
    learning_rate: float,
    momentum: float | None = None,
    initial_accumulator: float | None = None,
    rounding_seed: int = 0,
) -> keras.optimizers.Optimizer:
    """Returns an optimizer, by its name, for encoders whose gradients have distinct rows.

    Args:
        name: `"adam"` or `"adagrad"`, both row-sparse, or `"sgd"`.
        learning_rate: Step size.
        momentum: Of `"sgd"`, in [0, 1); `None` for its default, 0.95.
        initial_accumulator: Of `"adagrad"`, where its sums of squared gradients start, at least 0;
            `None` for 1e-6.
        rounding_seed: Seed of the rounding of tables in bfloat16.

    Raises:
        ConfigError: The name is unknown, a number is out of range, or the optimizer has no such
            option.
    """
    if name not in OPTIMIZERS:
        raise ConfigError(unknown_name("optimizer", name, OPTIMIZERS))
    if not learning_rate > 0:
        raise ConfigError(f"`learning_rate` must be above 0. Received: {learning_rate}")
    options: dict[str, Any] = {"rounding_seed": rounding_seed}
    if name != "sgd":
        options["distinct_rows"] = True
    if momentum is not None:
        _check_option("momentum", "sgd", name)
        if not 0.0 <= momentum < 1.0:
            raise ConfigError(f"`momentum` must be in [0, 1). Received: momentum={momentum}")
        options["momentum"] = momentum
    if name == "adagrad" and initial_accumulator is None:
        initial_accumulator = INITIAL_ACCUMULATOR
    if initial_accumulator is not None:
        _check_option("initial_accumulator", "adagrad", name)
        if not 0.0 <= initial_accumulator < math.inf:
            raise ConfigError(
                "`initial_accumulator` must be at least 0 and finite. "
                f"Received: initial_accumulator={initial_accumulator}"
            )
        options["initial_accumulator_value"] = initial_accumulator
    return OPTIMIZERS[name](learning_rate, **options)


def _check_option(option: str, owner: str, name: str) -> None:
    if name != owner:
        raise ConfigError(f"`{option}` is for the optimizer '{owner}' only. Received: '{name}'")
