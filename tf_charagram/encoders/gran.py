"""The gated recurrent averaging network: an average whose words are gated by their context."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.encoders.options import LstmOptions
from tf_charagram.encoders.words import SequenceEncoder, divisors
from tf_charagram.layers.base import make_dense
from tf_charagram.layers.plain_lstm import make_lstm


@keras.saving.register_keras_serializable(package="tf_charagram")
class Gran(SequenceEncoder):
    """Embeds a text as the mean over t of x_t * sigmoid(Wx x_t + Wh h_t + b).

    x_t are its word vectors and h_t the states of an LSTM over them (Wieting and Gimpel 2017; the
    baseline of CSE, section 4).

    Args:
        num_rows: Number of word ids.
        dim: Width of the word vectors, of the states and of the embedding.
        use_output_gate: Whether the LSTM has an output gate.
        use_peepholes: Whether its gates see the cell state.
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
            num_rows=num_rows, dim=dim, width=dim, seed=seed, **{"name": "gran", **kwargs}
        )
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.lstm = make_lstm(
            dim,
            use_output_gate=use_output_gate,
            use_peepholes=use_peepholes,
            return_sequences=True,
            seed=seed + 1,
            name="lstm",
        )
        self.lstm.build((None, None, dim))
        # Wx and Wh side by side, over x_t and h_t concatenated.
        self.gate = make_dense(2 * dim, dim, activation="sigmoid", seed=seed + 2, name="gate")

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        states = self.lstm(inputs, mask=mask, training=training)
        gates = self.gate(tf.concat([inputs, states], axis=-1))
        # Behind the last word the inputs are zero.
        return tf.reduce_sum(inputs * gates, axis=1) / divisors(self.words_of(ids))
