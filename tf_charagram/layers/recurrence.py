"""Loops over the steps of sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

from tf_charagram.layers.xla import in_xla


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
    is_real = tf.transpose(mask)[:, :, tf.newaxis]
    num_steps, max_steps = tf.shape(inputs)[0], None
    if in_xla():
        # XLA has to know a maximum for the gradient; the loop ends after the last real step.
        max_steps = inputs.shape[0]
        numbers = tf.range(1, max_steps + 1)
        num_steps = tf.reduce_max(tf.where(tf.reduce_any(mask, axis=0), numbers, 0))
    # The gradient of an array is one of its elements, that of a slice the whole tensor.
    array = tf.TensorArray(inputs.dtype, tf.shape(inputs)[0], element_shape=inputs.shape[1:])
    array = array.unstack(inputs)
    states = [tf.zeros([tf.shape(mask)[0], units], inputs.dtype)] * num_states
    outputs = []
    if return_sequences:
        shape = [inputs.shape[1], units]
        outputs = [tf.TensorArray(inputs.dtype, tf.shape(inputs)[0], element_shape=shape)]

    def advance(time: tf.Tensor, *variables: tf.Tensor) -> list[tf.Tensor]:
        states, outputs = variables[:num_states], variables[num_states:]
        new = step(array.read(time), *states)
        kept = [tf.where(is_real[time], *pair) for pair in zip(new, states, strict=True)]
        written = [each.write(time, tf.where(is_real[time], new[0], 0.0)) for each in outputs]
        return [time + 1, *kept, *written]

    _, *results = tf.while_loop(
        lambda time, *_: time < num_steps,
        advance,
        [tf.constant(0), *states, *outputs],
        maximum_iterations=max_steps,
    )
    return tf.transpose(results[-1].stack(), [1, 0, 2]) if return_sequences else results[0]


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
        return [cell.activation(projected + tf.matmul(state, recurrent_kernel))]

    projected = tf.transpose(projected, [1, 0, 2])
    return over_time(step, projected, mask, units=rnn.units, num_states=1)
