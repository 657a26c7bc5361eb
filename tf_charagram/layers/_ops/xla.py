"""What differs in a graph that XLA compiles, which has to know the sizes of all tensors."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla
from tensorflow.python.ops import control_flow_util

# Of up to this many rows, the gradient of a look-up is faster as a product.
_MAX_ROWS_OF_PRODUCT = 128


def in_xla() -> bool:
    """Returns whether the graph that is being traced will be compiled by XLA."""
    # TensorFlow has no public function for this.
    graph = tf.compat.v1.get_default_graph()
    return control_flow_util.GraphOrParentsInXlaContext(graph)


def stored(*tensors: tf.Tensor) -> list[tf.Tensor]:
    """Returns tensors that are computed once, and written to memory; only compiled by XLA.

    XLA would compute an index again for each of the numbers in its row.
    """
    return list(xla.optimization_barrier(*tensors))


def check_finite(value: tf.Tensor, message: str) -> tf.Tensor:
    """Returns a number after a check that it is finite.

    XLA leaves out assertions. There, a number that is not finite becomes NaN, and so does all that
    is computed from it.

    Raises:
        tf.errors.InvalidArgumentError: It is not finite.
    """
    if in_xla():
        return value + 0.0 * value
    return tf.debugging.check_numerics(value, message)


def lookup(rows: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Gathers rows; only compiled by XLA.

    Args:
        rows: float32 `(num_rows, dim)`.
        indices: int32, of any shape. One past the end gives any row, and no gradient.

    Returns:
        float32, of the shape of `indices` and `dim`.
    """
    values = tf.stop_gradient(tf.gather(rows, indices))
    return with_row_gradient(values, rows, indices)


def with_row_gradient(values: tf.Tensor, rows: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Returns values with the gradient of `lookup(rows, indices)`, to which they are equal."""

    @tf.custom_gradient
    def found(rows: tf.Tensor) -> tuple[tf.Tensor, Any]:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            return _sum_by_index(upstream, indices, rows.shape)

        return tf.identity(values), gradient

    return found(rows)


def _sum_by_index(values: tf.Tensor, indices: tf.Tensor, shape: tf.TensorShape) -> tf.Tensor:
    num_rows, dim = shape
    values = tf.reshape(values, [-1, dim])
    indices = tf.reshape(indices, [-1])
    if num_rows > _MAX_ROWS_OF_PRODUCT:
        return tf.math.unsorted_segment_sum(values, indices, num_rows)
    # Thousands of values per row would wait for each other to be added.
    is_row = tf.one_hot(indices, num_rows)
    return tf.matmul(is_row, values, transpose_a=True)
