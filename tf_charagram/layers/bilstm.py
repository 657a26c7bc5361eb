"""An LSTM in both directions over sequences of different lengths."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_positive
from tf_charagram.layers._ops.ragged import full_mask, num_real_steps
from tf_charagram.layers.base import ConfiguredLayer
from tf_charagram.layers.plain_lstm import make_lstm


@keras.saving.register_keras_serializable(package="tf_charagram")
class BiLstm(ConfiguredLayer):
    """Concatenates the states of a forward and a backward LSTM at each step.

    The backward LSTM starts at the last real step of its sequence. A state never depends on padding
    or on other sequences: real steps come first in both directions, so the loops need no mask.

    One loop over both directions, with stacked products, takes 1.0 to 1.2 times as long as two (two
    cores, 100 sequences of up to 25 steps).

    Args:
        units: Width of the state of each direction.
        use_peepholes: Whether gates see the cell state.
        seed: Seed of the initial weights.

    Call arguments:
        inputs: float32 `(batch, time, dim)`, `time` at least 1.
        mask: bool `(batch, time)`, true at real steps, which come first; all are real if
            omitted.
        training: Whether cuDNN may be used, which trains faster.

    Returns:
        float32 `(batch, time, 2 * units)`, the forward state first; zeros at padding.

    Raises:
        ConfigError: `units` is below 1.
    """

    def __init__(
        self, units: int, *, use_peepholes: bool = False, seed: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_positive(units=units)
        self.units = units
        self.use_peepholes = use_peepholes
        self.seed = seed
        self.supports_masking = True
        options = {"use_peepholes": use_peepholes, "return_sequences": True}
        self.forward = make_lstm(units, seed=seed, name="forward", **options)
        self.backward = make_lstm(units, seed=seed + 2, name="backward", **options)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights of both directions."""
        self.forward.build(input_shape)
        self.backward.build(input_shape)
        self.built = True

    def call(
        self, inputs: tf.Tensor, mask: tf.Tensor | None = None, training: bool = False
    ) -> tf.Tensor:
        """Returns the states of both directions."""
        if mask is None:
            mask = full_mask(inputs)
        lengths = num_real_steps(mask)
        reversed_inputs = tf.reverse_sequence(inputs, lengths, seq_axis=1)
        backward = self.backward(reversed_inputs, training=training)
        backward = tf.reverse_sequence(backward, lengths, seq_axis=1)
        forward = self.forward(inputs, training=training)
        states = tf.concat([forward, backward], axis=2)
        is_real = tf.expand_dims(mask, axis=2)
        return tf.where(is_real, states, 0.0)
