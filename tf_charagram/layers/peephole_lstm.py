"""An LSTM with peepholes (Gers et al. 2003)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import check_positive, check_switches
from tf_charagram.layers._ops.ragged import full_mask, gather_padded
from tf_charagram.layers._ops.recurrence import over_time
from tf_charagram.layers.base import ConfiguredLayer


@keras.saving.register_keras_serializable(package="tf_charagram")
class PeepholeLSTM(ConfiguredLayer):
    """An LSTM whose gates see the cell state (Wieting et al. 2016, section 3).

    With `[i, f, g, o]` the four column blocks of `x_t K + h_{t-1} R + b`:

        i_t = sigmoid(i + p_i * c_{t-1})
        f_t = sigmoid(f + p_f * c_{t-1})
        c_t = f_t * c_{t-1} + i_t * tanh(g)
        o_t = sigmoid(o + p_o * c_t)
        h_t = o_t * tanh(c_t)

    Without an output gate there is no block o and `h_t = tanh(c_t)`. Blocks and initial weights are
    those of `keras.layers.LSTM`: Glorot uniform for K, orthogonal for R, 1 for the bias of the
    forget gate, and zeros for all else; the papers do not say.

    The inputs of all steps are projected in one product, which leaves one product of the state per
    step. A training step takes as long as that of `keras.layers.LSTM`.

    Masking: a masked step, at any place, keeps the state. A sequence without real steps gives
    zeros.

    Args:
        units: Width of the state.
        use_output_gate: Whether the output gate exists. Defaults to true.
        use_peepholes: Whether the gates see the cell state; without, this is
            `keras.layers.LSTM`. Defaults to true.
        return_sequences: Whether the states of all steps are returned, not the last one only.
        seed: Seed of the initial weights. Defaults to 0.
        **kwargs: Name and dtype of the layer.

    Call arguments:
        inputs: float32 `(batch, time, dim)`, `time` at least 1.
        mask: bool `(batch, time)`, true at real steps; all are real if omitted.
        training: Has no effect.

    Returns:
        float32 `(batch, units)`, or `(batch, time, units)` with zeros at masked steps.

    Raises:
        ConfigError: `units` is below 1.
    """

    def __init__(
        self,
        units: int,
        *,
        use_output_gate: bool = True,
        use_peepholes: bool = True,
        return_sequences: bool = False,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive(units=units)
        check_switches(use_output_gate=use_output_gate, use_peepholes=use_peepholes)
        self.units = units
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.return_sequences = return_sequences
        self.seed = seed
        self.num_blocks = 4 if use_output_gate else 3
        self.supports_masking = True
        # XLA would have to know the number of steps; with a GPU, Keras would try.
        self.supports_jit = False

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights."""
        dim = input_shape[-1]
        width = self.num_blocks * self.units
        glorot = keras.initializers.GlorotUniform(seed=self.seed)
        orthogonal = keras.initializers.Orthogonal(seed=self.seed + 1)
        self.kernel = self.add_weight((dim, width), glorot, name="kernel")
        self.recurrent_kernel = self.add_weight(
            (self.units, width), orthogonal, name="recurrent_kernel"
        )
        self.bias = self.add_weight((width,), self._initial_bias, name="bias")
        self.peepholes = None
        if self.use_peepholes:
            # One for each gate; the block g is not a gate.
            shape = (self.num_blocks - 1, self.units)
            self.peepholes = self.add_weight(shape, "zeros", name="peepholes")
        self.built = True

    def _initial_bias(self, shape: tuple[int, ...], dtype: Any = None) -> tf.Tensor:
        # The forget gate, the second block, starts open.
        blocks = [0.0, 1.0, *[0.0] * (self.num_blocks - 2)]
        return tf.repeat(tf.constant(blocks, dtype), self.units)

    def _project(self, inputs: tf.Tensor) -> tf.Tensor:
        """Returns `x K + b` for inputs `(..., dim)`, the part of the gates without the state."""
        flat = tf.reshape(inputs, [-1, inputs.shape[-1]])
        projected = tf.matmul(flat, self.kernel.value) + self.bias.value
        shape = tf.concat([tf.shape(inputs)[:-1], [projected.shape[1]]], axis=0)
        return tf.reshape(projected, shape)

    def call(
        self, inputs: tf.Tensor, mask: tf.Tensor | None = None, training: bool = False
    ) -> tf.Tensor:
        """Returns the last state, or all of them."""
        del training
        if mask is None:
            mask = full_mask(inputs)
        inputs_by_time = tf.transpose(inputs, [1, 0, 2])
        return self._run(self._project(inputs_by_time), mask)

    def call_rows(self, rows: tf.Tensor, ids: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Returns the states of texts whose steps are rows of a small table.

        The same function of `tf.gather(rows, ids)` as `call`, but each row is projected once.

        Args:
            rows: float32 `(num_rows, dim)`.
            ids: int64 `(batch, time)`, rows of the table, any at padding.
            mask: bool `(batch, time)`, true at real steps.
        """
        ids_by_time = tf.transpose(ids)
        projected = gather_padded(self._project(rows), ids_by_time)
        return self._run(projected, mask)

    def _run(self, projected: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Runs over projected inputs `(time, batch, width)`."""
        # Read once for all steps.
        recurrent_kernel = tf.convert_to_tensor(self.recurrent_kernel.value)
        peepholes = None
        if self.peepholes is not None:
            peepholes = tf.unstack(tf.convert_to_tensor(self.peepholes.value))

        def step(projected: tf.Tensor, h: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            gates = projected + tf.matmul(h, recurrent_kernel)
            i, f, g, *output_gates = tf.split(gates, self.num_blocks, axis=1)
            if peepholes is not None:
                i += c * peepholes[0]
                f += c * peepholes[1]
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.tanh(c)
            if self.use_output_gate:
                [o] = output_gates
                if peepholes is not None:
                    o += c * peepholes[2]
                h = tf.sigmoid(o) * h
            return h, c

        return over_time(
            step,
            projected,
            mask,
            units=self.units,
            num_states=2,
            return_sequences=self.return_sequences,
        )

    def compute_mask(self, inputs: tf.Tensor, previous_mask: tf.Tensor | None) -> tf.Tensor | None:
        """Returns the mask of the steps, if the output has steps."""
        del inputs
        return previous_mask if self.return_sequences else None
