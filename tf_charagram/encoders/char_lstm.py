"""The charLSTM encoder: the last state of an LSTM with peepholes over character embeddings."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.encoders.base import Encoder
from tf_charagram.encoders.options import CharLstmOptions
from tf_charagram.errors import check_positive
from tf_charagram.layers._ops.chunked import Ids
from tf_charagram.layers.base import ConfiguredLayer
from tf_charagram.layers.embedding_table import PaddedEmbedding
from tf_charagram.layers.peephole_lstm import PeepholeLSTM
from tf_charagram.layers.plain_lstm import make_lstm


@keras.saving.register_keras_serializable(package="tf_charagram")
class CharLstm(Encoder, ConfiguredLayer):
    """Embeds a text as the last state of a forward LSTM over its characters (Charagram, section 3).

    Args:
        num_rows: Number of character ids.
        dim: Width of the state, which is the embedding.
        input_dim: Width of the character embeddings.
        use_output_gate: Whether the LSTM has an output gate; the paper tries both.
        use_peepholes: Whether its gates see the cell state, as in Gers et al. (2003).
        seed: Seed of the initial weights.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Without peepholes, whether cuDNN may be used; changes no value.

    Returns:
        float32 `(batch, dim)`; zeros for a text without characters.

    Raises:
        ConfigError: An argument is out of range.
    """

    vectorizer = CharLstmOptions.vectorizer
    #: Training batches texts of similar length, to save padding.
    is_padded = True

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        input_dim: int = CharLstmOptions.input_dim,
        use_output_gate: bool = CharLstmOptions.use_output_gate,
        use_peepholes: bool = CharLstmOptions.use_peepholes,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": "char_lstm", **kwargs})
        check_positive(dim=dim, input_dim=input_dim)
        self.num_rows = num_rows
        self.dim = dim
        self.input_dim = input_dim
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.seed = seed
        self.characters = PaddedEmbedding(
            num_rows=num_rows,
            dim=input_dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05, seed=seed),
            name="characters",
        )
        self.lstm = make_lstm(
            dim,
            use_output_gate=use_output_gate,
            use_peepholes=use_peepholes,
            seed=seed,
            name="lstm",
        )
        self.lstm.build((None, None, input_dim))
        self.built = True

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as character ids."""
        if isinstance(self.lstm, PeepholeLSTM):
            return self.lstm.call_rows(*self.characters.distinct_rows(ids))
        vectors, mask = self.characters(ids)
        return self.lstm(vectors, mask=mask, training=training)
