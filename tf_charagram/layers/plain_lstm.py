"""The LSTM of Keras without the limits of cuDNN, and the choice between it and peepholes."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_positive, check_switches
from tf_charagram.layers.peephole_lstm import PeepholeLSTM
from tf_charagram.layers.xla import in_xla


@keras.saving.register_keras_serializable(package="tf_charagram")
class PlainLSTM(keras.layers.LSTM):
    """`keras.layers.LSTM` that takes sequences without real steps and can be exported anywhere.

    While training with a GPU, Keras may use cuDNN, which fails if a sequence has no real step; here
    such a sequence gives zeros. Otherwise cuDNN is never used, because an exported model with it
    runs nowhere else.

    Masking: real steps come first; a sequence without any keeps its initial state.

    Args:
        units: Width of the state.
        seed: Seed of the initial weights, which are those of `PeepholeLSTM`.
        **kwargs: Of `keras.layers.LSTM`, for instance `return_sequences`.

    Call arguments:
        sequences: float32 `(batch, time, dim)`, `time` at least 1.
        initial_state: `[h, c]`, each float32 `(batch, units)`. Default: zeros.
        mask: bool `(batch, time)`, true where a step is real; all are real if omitted.
        training: Whether cuDNN may be used.

    Returns:
        float32 `(batch, units)`, or `(batch, time, units)` with zeros at masked steps; with
        `return_state`, followed by h and c.

    Raises:
        ConfigError: `units` is below 1.
    """

    def __init__(self, units: int, *, seed: int = 0, **kwargs: Any) -> None:
        check_positive(units=units)
        initializers = {
            "kernel_initializer": keras.initializers.GlorotUniform(seed=seed),
            "recurrent_initializer": keras.initializers.Orthogonal(seed=seed + 1),
        }
        super().__init__(units, **{"dtype": "float32", **initializers, **kwargs})
        self.seed = seed

    def call(
        self,
        sequences: tf.Tensor,
        initial_state: Any = None,
        mask: tf.Tensor | None = None,
        training: bool = False,
    ) -> Any:
        """Returns the last state, or all of them."""
        if sequences.shape[0] == 0:
            # Keras mistakes a tensor of known size 0 for a bias.
            one = self.call(tf.pad(sequences, [[0, 1], [0, 0], [0, 0]]), training=training)
            return tf.nest.map_structure(lambda tensor: tensor[:0], one)
        if mask is None:
            return super().call(sequences, initial_state, training=training)
        # The first step counts as real, so that every sequence has one.
        has_first = tf.concat([tf.ones_like(mask[:, :1]), mask[:, 1:]], 1)
        outputs = super().call(sequences, initial_state, mask=has_first, training=training)
        outputs, *states = outputs if self.return_state else [outputs]
        steps = mask[:, ::-1] if self.go_backwards else mask
        is_real = steps if self.return_sequences else mask[:, 0]
        outputs = tf.where(is_real[..., tf.newaxis], outputs, 0.0)
        starts = [0.0, 0.0] if initial_state is None else initial_state
        kept = [tf.where(mask[:, :1], *pair) for pair in zip(states, starts, strict=False)]
        return (outputs, *kept) if self.return_state else outputs

    def inner_loop(
        self, sequences: tf.Tensor, initial_state: Any, mask: Any, training: bool = False
    ) -> Any:
        """Runs over time: Keras' LSTM while training, without cuDNN otherwise."""
        # XLA cannot compile cuDNN.
        owner = keras.layers.LSTM if training and not in_xla() else keras.layers.RNN
        return owner.inner_loop(self, sequences, initial_state, mask=mask, training=training)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "seed": self.seed}


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
    arguments: dict[str, Any] = {
        "return_sequences": return_sequences, "seed": seed, "name": name,
    }  # fmt: skip
    if use_output_gate and not use_peepholes:
        return PlainLSTM(units, **arguments)
    return PeepholeLSTM(
        units, use_output_gate=use_output_gate, use_peepholes=use_peepholes, **arguments
    )
