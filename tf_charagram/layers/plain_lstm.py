"""The LSTM of Keras without the limits of cuDNN, and the choice between it and peepholes."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_positive, check_switches
from tf_charagram.layers._ops.xla import in_xla
from tf_charagram.layers.peephole_lstm import PeepholeLSTM


@keras.saving.register_keras_serializable(package="tf_charagram")
class PlainLSTM(keras.layers.LSTM):
    """`keras.layers.LSTM` that takes sequences without real steps and can be exported anywhere.

    While training with a GPU, Keras may use cuDNN, which fails if a sequence has no real step; here
    such a sequence gives zeros. Otherwise cuDNN is never used, because an exported model with it
    runs nowhere else.

    Masking: real steps come first.

    Args:
        units: Width of the state.
        return_sequences: Whether the states of all steps are returned, not the last one only.
        seed: Seed of the initial weights, which are those of `PeepholeLSTM`.
        **kwargs: Name and dtype of the layer.

    Call arguments:
        sequences: float32 `(batch, time, dim)`, `time` at least 1.
        mask: bool `(batch, time)`, true where a step is real; all are real if omitted.
        training: Whether cuDNN may be used.

    Returns:
        float32 `(batch, units)`, or `(batch, time, units)` with zeros at masked steps.

    Raises:
        ConfigError: `units` is below 1.
    """

    def __init__(
        self, units: int, *, return_sequences: bool = False, seed: int = 0, **kwargs: Any
    ) -> None:
        check_positive(units=units)
        super().__init__(
            units,
            return_sequences=return_sequences,
            kernel_initializer=keras.initializers.GlorotUniform(seed=seed),
            recurrent_initializer=keras.initializers.Orthogonal(seed=seed + 1),
            **{"dtype": "float32", **kwargs},
        )
        self.seed = seed

    def call(
        self,
        sequences: tf.Tensor,
        initial_state: None = None,
        mask: tf.Tensor | None = None,
        training: bool = False,
    ) -> tf.Tensor:
        """Returns the last state, or all of them."""
        # Keras needs the argument to be there: `build` has its shape.
        del initial_state
        if sequences.shape[0] == 0:
            # Keras mistakes a tensor of known size 0 for a bias.
            sequences = tf.pad(sequences, [[0, 1], [0, 0], [0, 0]])
            return super().call(sequences, training=training)[:0]
        if mask is None:
            return super().call(sequences, training=training)
        # The first step counts as real, so that every sequence has one.
        first = tf.ones_like(mask[:, :1])
        has_first = tf.concat([first, mask[:, 1:]], axis=1)
        outputs = super().call(sequences, mask=has_first, training=training)
        is_real = mask if self.return_sequences else mask[:, 0]
        return tf.where(is_real[..., tf.newaxis], outputs, 0.0)

    def inner_loop(
        self, sequences: tf.Tensor, initial_state: Any, mask: Any, training: bool = False
    ) -> Any:
        """Runs over time: Keras' LSTM while training, without cuDNN otherwise."""
        # XLA cannot compile cuDNN.
        owner = keras.layers.LSTM if training and not in_xla() else keras.layers.RNN
        return owner.inner_loop(self, sequences, initial_state, mask=mask, training=training)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {
            # Not the arguments of `keras.layers.LSTM`.
            **keras.layers.Layer.get_config(self),
            "units": self.units,
            "return_sequences": self.return_sequences,
            "seed": self.seed,
        }


def make_lstm(
    units: int,
    *,
    use_output_gate: bool = True,
    use_peepholes: bool = True,
    return_sequences: bool = False,
    seed: int = 0,
    name: str = "lstm",
) -> PlainLSTM | PeepholeLSTM:
    """Builds the fastest layer for an LSTM.

    Keras' LSTM always has an output gate, and never peepholes.

    Args:
        units: Width of the state.
        use_output_gate: Whether an output gate scales the output.
        use_peepholes: Whether gates see the cell state.
        return_sequences: Whether to return the outputs of all steps instead of the last output.
        seed: Seed of the initial weights.
        name: Name of the layer.
    """
    check_switches(use_output_gate=use_output_gate, use_peepholes=use_peepholes)
    if use_output_gate and not use_peepholes:
        return PlainLSTM(units, return_sequences=return_sequences, seed=seed, name=name)
    return PeepholeLSTM(
        units,
        use_output_gate=use_output_gate,
        use_peepholes=use_peepholes,
        return_sequences=return_sequences,
        seed=seed,
        name=name,
    )
