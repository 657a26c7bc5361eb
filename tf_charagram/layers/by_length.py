"""Applies layers that pad to rows of very different lengths, in bounded memory and time."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf


def by_length(
    function: Callable[[tf.RaggedTensor], tf.Tensor],
    rows: tf.RaggedTensor,
    max_steps: int,
    dim: int,
    *,
    per_value: bool,
) -> tf.Tensor:
    """Applies a function to groups of rows of similar length, padded to `max_steps` in all.

    For inference: what one long row costs, all others would cost too if padded with it. A single
    row may be longer than `max_steps`.

    Args:
        function: Maps some of the rows, at least one, to float32 `(n, dim)`: one result per row,
            or per value.
        rows: `(num_rows, None)`.
        max_steps: Maximum steps of a group, padding included.
        dim: Width of the result.
        per_value: Whether the function has one result per value.

    Returns:
        float32 `(num_rows, dim)`, or `(num_values, dim)`, in the order of `rows`.
    """
    lengths = tf.cast(rows.row_lengths(), tf.int32)
    order = tf.argsort(lengths, direction="DESCENDING", stable=True)
    num_rows = tf.shape(order)[0]
    results = tf.TensorArray(
        tf.float32, 1, dynamic_size=True, infer_shape=False, element_shape=[None, dim]
    )
    # Without rows this is all there is.
    results = results.write(0, tf.zeros([0, dim]))

    def step(first: tf.Tensor, results: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
        longest = tf.maximum(lengths[order[first]], 1)
        stop = tf.minimum(first + tf.maximum(max_steps // longest, 1), num_rows)
        group = function(tf.gather(rows, order[first:stop]))
        return stop, results.write(results.size(), group)

    _, results = tf.while_loop(
        lambda first, _: first < num_rows, step, (0, results), parallel_iterations=2
    )
    positions = tf.math.invert_permutation(order)
    if not per_value:
        return tf.gather(results.concat(), positions)
    ragged = tf.RaggedTensor.from_row_lengths(
        results.concat(), tf.gather(lengths, order), validate=False
    )
    return tf.gather(ragged, positions).flat_values
