"""Encoders that read the word vectors in order and keep the last state (Universal, section 3)."""

from __future__ import annotations

from typing import Any, Literal

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.encoders.options import LstmOptions, RnnOptions
from tf_charagram.encoders.words import SequenceEncoder, divisors
from tf_charagram.layers.plain_lstm import make_lstm


@keras.saving.register_keras_serializable(package="tf_charagram")
class Rnn(SequenceEncoder):
    """Embeds a text as the last state of h_t = f(Wx x_t + Wh h_{t-1} + b) over its word vectors.

    Args:
        num_rows: Number of word ids.
        dim: Width of the word vectors and of the state.
        activation: The non-linearity f.
        seed: Seed of the initial weights.
        **kwargs: `word_dropout` of `WordEncoder`; name and type, as for every layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether `word_dropout` is active.

    Returns:
        float32 `(batch, dim)`; zeros for a text without words.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        activation: Literal["tanh", "relu"] = RnnOptions.activation,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        RnnOptions(activation=activation)
        super().__init__(
            num_rows=num_rows, dim=dim, width=dim, seed=seed, **{"name": "rnn", **kwargs}
        )
        self.activation = activation
        self.rnn = keras.layers.SimpleRNN(
            dim,
            activation=activation,
            kernel_initializer=keras.initializers.GlorotUniform(seed=seed + 1),
            recurrent_initializer=keras.initializers.Orthogonal(seed=seed + 2),
            name="rnn",
            dtype="float32",
        )
        self.rnn.build((None, None, dim))

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return self.rnn(inputs, mask=mask)


@keras.saving.register_keras_serializable(package="tf_charagram")
class IdentityRnn(SequenceEncoder):
    """Embeds a text as h_n / n, where h_t = Wx x_t + Wh h_{t-1} + b and n is the number of words.

    Wx and Wh start as the identity, b as zero: before training, the embedding is the mean of the
    word vectors. A penalty that pulls back to `pull_back_targets()` keeps it near.

    Args:
        num_rows: Number of word ids.
        dim: Width of the word vectors and of the state.
        seed: Seed of the initial word vectors.
        **kwargs: `word_dropout` of `WordEncoder`; name and type, as for every layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether `word_dropout` is active.

    Returns:
        float32 `(batch, dim)`; zeros for a text without words.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(self, *, num_rows: int, dim: int = 300, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(
            num_rows=num_rows,
            dim=dim,
            width=dim,
            seed=seed,
            **{"name": "identity_rnn", **kwargs},
        )
        self.rnn = keras.layers.SimpleRNN(
            dim,
            activation="linear",
            kernel_initializer="identity",
            recurrent_initializer="identity",
            name="rnn",
            dtype="float32",
        )
        self.rnn.build((None, None, dim))

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return self.rnn(inputs, mask=mask) / divisors(self.words_of(ids))

    def pull_back_targets(self) -> dict[str, np.ndarray]:
        """Returns what L2 should pull the compositional weights to, by `weight.path`: I, I, 0."""
        cell = self.rnn.cell
        identity = np.eye(self.dim, dtype=np.float32)
        return {
            cell.kernel.path: identity,
            cell.recurrent_kernel.path: identity,
            cell.bias.path: np.zeros(self.dim, np.float32),
        }


@keras.saving.register_keras_serializable(package="tf_charagram")
class Lstm(SequenceEncoder):
    """Embeds a text as the last state of an LSTM over its word vectors.

    Args:
        num_rows: Number of word ids.
        dim: Width of the word vectors and of the state.
        use_output_gate: Whether h_t = o_t tanh(c_t), or tanh(c_t) without the gate.
        use_peepholes: Whether the gates see the cell state, as in Gers et al. (2003).
        seed: Seed of the initial weights.
        **kwargs: `word_dropout` of `WordEncoder`; name and type, as for every layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether `word_dropout` is active.

    Returns:
        float32 `(batch, dim)`; zeros for a text without words.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        use_output_gate: bool = LstmOptions.use_output_gate,
        use_peepholes: bool = LstmOptions.use_peepholes,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_rows=num_rows, dim=dim, width=dim, seed=seed, **{"name": "lstm", **kwargs}
        )
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.lstm = make_lstm(
            dim,
            use_output_gate=use_output_gate,
            use_peepholes=use_peepholes,
            seed=seed + 1,
            name="lstm",
        )
        self.lstm.build((None, None, dim))

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return self.lstm(inputs, mask=mask, training=training)
