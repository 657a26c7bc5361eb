"""Loops over the steps of sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers._ops.xla import in_xla


def over_time(
    step: Callable[..., Sequence[tf.Tensor]],
    inputs: tf.Tensor,
    mask: tf.Tensor,
    *,
    units: int,
    num_states: int,
    return_sequences: bool = False,
) -> tf.Tensor:
    """Runs a recurrence from states of zeros; a masked step, at any place, keeps the states.

    Args:
        step: Maps the inputs of one step `(batch, width)` and the states to new states; the first
            one is the output.
        inputs: float32 `(time, batch, width)`.
        mask: bool `(batch, time)`, true at real steps.
        units: Width of the states.
        num_states: Number of states.
        return_sequences: Whether to return the outputs of all steps, zeros at masked ones.

    Returns:
        The last output, float32 `(batch, units)`, or all, `(batch, time, units)`.
    """
    is_real = tf.expand_dims(tf.transpose(mask), axis=2)
    size = tf.shape(inputs)[0]
    num_steps = size
    max_steps = None
    if in_xla():
        # XLA has to know a maximum for the gradient; the loop ends after the last real step.
        max_steps = inputs.shape[0]
        numbers = tf.range(1, max_steps + 1)
        has_real = tf.reduce_any(mask, axis=0)
        num_steps = tf.reduce_max(tf.where(has_real, numbers, 0))
    # The gradient of an array is one of its elements; the gradient of a slice has all of them.
    array = tf.TensorArray(inputs.dtype, size, element_shape=inputs.shape[1:])
    array = array.unstack(inputs)
    zeros = tf.zeros([tf.shape(mask)[0], units], inputs.dtype)
    variables: list[Any] = [tf.constant(0), *[zeros] * num_states]
    if return_sequences:
        shape = [inputs.shape[1], units]
        variables.append(tf.TensorArray(inputs.dtype, size, element_shape=shape))

    def advance(time: tf.Tensor, *variables: Any) -> list[Any]:
        states = variables[:num_states]
        is_step = is_real[time]
        results = step(array.read(time), *states)
        changed = [time + 1]
        for result, state in zip(results, states, strict=True):
            changed.append(tf.where(is_step, result, state))
        if return_sequences:
            output = tf.where(is_step, results[0], 0.0)
            changed.append(variables[-1].write(time, output))
        return changed

    _, first_state, *others = tf.while_loop(
        lambda time, *_: time < num_steps, advance, variables, maximum_iterations=max_steps
    )
    if not return_sequences:
        return first_state
    outputs = others[-1].stack()
    return tf.transpose(outputs, [1, 0, 2])


def last_state(rnn: keras.layers.SimpleRNN, inputs: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Returns the last state of a simple RNN, `(batch, units)`; zeros without a real step.

    Args:
        rnn: Layer with weights.
        inputs: float32 `(batch, time, dim)`.
        mask: bool `(batch, time)`, true at real steps, which come first.
    """
    if not in_xla():
        return rnn(inputs, mask=mask)
    # Keras would run over the padding of the longest text of many batches.
    cell = rnn.cell
    projected = tf.matmul(inputs, cell.kernel.value) + cell.bias.value
    recurrent_kernel = cell.recurrent_kernel.value

    def step(projected: tf.Tensor, state: tf.Tensor) -> list[tf.Tensor]:
        recurrent = tf.matmul(state, recurrent_kernel)
        return [cell.activation(projected + recurrent)]

    projected = tf.transpose(projected, [1, 0, 2])
    return over_time(step, projected, mask, units=rnn.units, num_states=1)
