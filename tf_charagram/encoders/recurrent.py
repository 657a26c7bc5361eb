"""Recurrent encoders: the last state (Universal, section 3), or an average gated by the states.

States are as wide as the word vectors. Arguments that are not listed are those of `WordEncoder`.
"""

from __future__ import annotations

from typing import Any, Literal

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.encoders.options import LstmOptions, RnnOptions
from tf_charagram.encoders.words import WordEncoder, divisors
from tf_charagram.layers._ops.chunked import Ids
from tf_charagram.layers._ops.recurrence import last_state
from tf_charagram.layers.base import make_dense
from tf_charagram.layers.plain_lstm import make_lstm


@keras.saving.register_keras_serializable(package="tf_charagram")
class Rnn(WordEncoder):
    """Embeds a text as the last state of h_t = f(Wx x_t + Wh h_{t-1} + b) over its word vectors.

    A text without words gets zeros.

    Args:
        activation: The non-linearity f.
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.
    """

    is_padded = True

    def __init__(
        self, *, activation: Literal["tanh", "relu"] = RnnOptions.activation, **kwargs: Any
    ) -> None:
        RnnOptions(activation=activation)
        super().__init__(**kwargs)
        self.activation = activation
        self.rnn = keras.layers.SimpleRNN(
            self.dim,
            activation=activation,
            kernel_initializer=keras.initializers.GlorotUniform(seed=self.seed + 1),
            recurrent_initializer=keras.initializers.Orthogonal(seed=self.seed + 2),
            name="rnn",
            dtype="float32",
        )
        self.rnn.build((None, None, self.dim))

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return last_state(self.rnn, inputs, mask)


@keras.saving.register_keras_serializable(package="tf_charagram")
class IdentityRnn(WordEncoder):
    """Embeds a text as h_n / n, where h_t = Wx x_t + Wh h_{t-1} + b and n is the number of words.

    Wx and Wh are initialized to the identity and b to zero, so that the initial embedding is the
    mean of the word vectors. An L2 penalty towards `pull_back_targets()` keeps it close. A text
    without words gets zeros.

    Args:
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.
    """

    is_padded = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rnn = keras.layers.SimpleRNN(
            self.dim,
            activation="linear",
            kernel_initializer="identity",
            recurrent_initializer="identity",
            name="rnn",
            dtype="float32",
        )
        self.rnn.build((None, None, self.dim))

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return last_state(self.rnn, inputs, mask) / divisors(ids)

    def pull_back_targets(self) -> dict[str, np.ndarray]:
        """Returns the targets of an L2 penalty by `weight.path`: I, I and 0 for Wx, Wh and b."""
        cell = self.rnn.cell
        identity = np.eye(self.dim, dtype=np.float32)
        return {
            cell.kernel.path: identity,
            cell.recurrent_kernel.path: identity,
            cell.bias.path: np.zeros(self.dim, np.float32),
        }


@keras.saving.register_keras_serializable(package="tf_charagram")
class Lstm(WordEncoder):
    """Embeds a text as the last state of an LSTM over its word vectors.

    A text without words gets zeros.

    Args:
        use_output_gate: Whether h_t = o_t tanh(c_t), or tanh(c_t) without the gate.
        use_peepholes: Whether the gates see the cell state, as in Gers et al. (2003).
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.
    """

    is_padded = True

    def __init__(
        self,
        *,
        use_output_gate: bool = LstmOptions.use_output_gate,
        use_peepholes: bool = LstmOptions.use_peepholes,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.lstm = _lstm_of(self)

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return self.lstm(inputs, mask=mask, training=training)


@keras.saving.register_keras_serializable(package="tf_charagram")
class Gran(WordEncoder):
    """Embeds a text as the mean over t of x_t * sigmoid(Wx x_t + Wh h_t + b).

    x_t are its word vectors and h_t the states of an LSTM over them (Wieting and Gimpel 2017; the
    baseline of CSE, section 4). A text without words gets zeros.

    Args:
        use_output_gate: Whether h_t = o_t tanh(c_t), or tanh(c_t) without the gate.
        use_peepholes: Whether the gates see the cell state, as in Gers et al. (2003).
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.
    """

    is_padded = True

    def __init__(
        self,
        *,
        use_output_gate: bool = LstmOptions.use_output_gate,
        use_peepholes: bool = LstmOptions.use_peepholes,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.lstm = _lstm_of(self, return_sequences=True)
        # Wx and Wh side by side, over x_t and h_t concatenated.
        self.gate = make_dense(
            2 * self.dim, self.dim, activation="sigmoid", seed=self.seed + 2, name="gate"
        )

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        states = self.lstm(inputs, mask=mask, training=training)
        gates = self.gate(tf.concat([inputs, states], axis=-1))
        # Past the last word, the inputs are zero.
        return tf.reduce_sum(inputs * gates, axis=1) / divisors(ids)


def _lstm_of(encoder: Lstm | Gran, *, return_sequences: bool = False) -> keras.layers.Layer:
    """Builds the LSTM of an encoder over its word vectors."""
    lstm = make_lstm(
        encoder.dim,
        use_output_gate=encoder.use_output_gate,
        use_peepholes=encoder.use_peepholes,
        return_sequences=return_sequences,
        seed=encoder.seed + 1,
        name="lstm",
    )
    lstm.build((None, None, encoder.dim))
    return lstm
