"""Encoders of characters: charCNN and charLSTM (Charagram, section 3)."""

from __future__ import annotations

from typing import Any, Literal

import keras
import tensorflow as tf

from tf_charagram.encoders import registered_name
from tf_charagram.encoders.base import Encoder
from tf_charagram.encoders.options import CharCnnOptions, CharLstmOptions, filter_widths
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers._ops.chunked import Ids
from tf_charagram.layers.base import ConfiguredLayer, make_dense
from tf_charagram.layers.conv_pooling import ConvPooling
from tf_charagram.layers.embedding_table import PaddedEmbedding
from tf_charagram.layers.peephole_lstm import PeepholeLSTM
from tf_charagram.layers.plain_lstm import make_lstm


class _CharacterEncoder(Encoder, ConfiguredLayer):
    """Base of the encoders over character ids, which read characters in order.

    Args:
        num_rows: Number of character ids.
        dim: Width of the embedding.
        input_dim: Width of the character embeddings.
        seed: Seed of the initial weights.
        **kwargs: Name and dtype of the layer.

    Raises:
        ConfigError: An argument is out of range.
    """

    vectorizer = CharCnnOptions.vectorizer
    #: Training batches texts of similar length, to save padding.
    is_padded = True

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        input_dim: int = CharCnnOptions.input_dim,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": registered_name(type(self)), **kwargs})
        check_positive(dim=dim, input_dim=input_dim)
        self.num_rows = num_rows
        self.dim = dim
        self.input_dim = input_dim
        self.seed = seed
        self.characters = PaddedEmbedding(
            num_rows=num_rows,
            dim=input_dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05, seed=seed),
            name="characters",
        )
        self.built = True


@keras.saving.register_keras_serializable(package="tf_charagram")
class CharCnn(_CharacterEncoder):
    """Embeds a text by character filters and max pooling (Charagram, section 3; Kim 2014).

    Args:
        activation: The non-linearity f of the filters.
        dense: The layer after the pooling, or `"none"`.
        filters: `"small"`, 175 filters of each of the widths 2 to 4; `"kim"`, 25 of width 1, 50 of
            width 2, up to 150 of width 6; or the number of each width, as `"3:100,5:200"`.
        dropout: Share of the pooled filters that training drops.
        **kwargs: `num_rows`, the number of character ids; `dim`, the width of the embedding, which
            is the number of filters without a dense layer; `input_dim`, the width of the character
            embeddings; `seed`; name and dtype of the layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether dropout is active.

    Returns:
        float32 `(batch, dim)`; the dense layer's value at zero for a text without characters.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        activation: Literal["relu", "tanh"] = CharCnnOptions.activation,
        dense: Literal["tanh", "relu", "linear", "none"] = CharCnnOptions.dense,
        filters: str = CharCnnOptions.filters,
        dropout: float = CharCnnOptions.dropout,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        CharCnnOptions(self.input_dim, dropout, activation, dense, filters)
        if not 0.0 <= dropout < 1.0:
            raise ConfigError(f"`dropout` must be in [0, 1). Received: dropout={dropout}")
        self.filters = filters
        self.activation = activation
        self.dense = dense
        self.dropout = dropout
        self.pooling = ConvPooling(
            filter_widths(filters), activation=activation, seed=self.seed + 1, name="pooling"
        )
        self.pooling.build((None, None, self.input_dim))
        self._dropout = None
        if dropout:
            self._dropout = keras.layers.Dropout(dropout, seed=self.seed, dtype="float32")
        self.output_layer = None
        num_filters = self.pooling.num_filters
        if dense == "none":
            # The pooled filters are the embedding.
            self.dim = num_filters
        else:
            self.output_layer = make_dense(
                num_filters, self.dim, activation=dense, seed=self.seed, name="dense"
            )

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as character ids."""
        pooled = self.pooling.call_rows(*self.characters.distinct_rows(ids))
        if self._dropout is not None:
            pooled = self._dropout(pooled, training=training)
        return pooled if self.output_layer is None else self.output_layer(pooled)


@keras.saving.register_keras_serializable(package="tf_charagram")
class CharLstm(_CharacterEncoder):
    """Embeds a text as the last state of a forward LSTM over its characters (Charagram, section 3).

    Args:
        use_output_gate: Whether the LSTM has an output gate; the paper tries both.
        use_peepholes: Whether its gates see the cell state, as in Gers et al. (2003).
        **kwargs: `num_rows`, the number of character ids; `dim`, the width of the state, which is
            the embedding; `input_dim`, the width of the character embeddings; `seed`; name and
            dtype of the layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Without peepholes, whether cuDNN may be used; changes no value.

    Returns:
        float32 `(batch, dim)`; zeros for a text without characters.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        use_output_gate: bool = CharLstmOptions.use_output_gate,
        use_peepholes: bool = CharLstmOptions.use_peepholes,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.use_output_gate = use_output_gate
        self.use_peepholes = use_peepholes
        self.lstm = make_lstm(
            self.dim,
            use_output_gate=use_output_gate,
            use_peepholes=use_peepholes,
            seed=self.seed,
            name="lstm",
        )
        self.lstm.build((None, None, self.input_dim))

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as character ids."""
        # Projects each distinct character once; Keras' LSTM projects all steps.
        if isinstance(self.lstm, PeepholeLSTM):
            return self.lstm.call_rows(*self.characters.distinct_rows(ids))
        vectors, mask = self.characters(ids)
        return self.lstm(vectors, mask=mask, training=training)
