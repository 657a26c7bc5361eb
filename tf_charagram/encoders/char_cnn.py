"""The charCNN encoder: convolutions over character embeddings and max pooling."""

from __future__ import annotations

from typing import Any, Literal

import keras
import tensorflow as tf

from tf_charagram.encoders.base import Encoder
from tf_charagram.encoders.options import CharCnnOptions, filter_widths
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers._ops.chunked import Ids
from tf_charagram.layers.base import ConfiguredLayer, make_dense
from tf_charagram.layers.conv_pooling import ConvPooling
from tf_charagram.layers.embedding_table import PaddedEmbedding


@keras.saving.register_keras_serializable(package="tf_charagram")
class CharCnn(Encoder, ConfiguredLayer):
    """Embeds a text by character filters and max pooling (Charagram, section 3; Kim 2014).

    Args:
        num_rows: Number of character ids.
        dim: Width of the embedding. Ignored without a dense layer: it is the number of filters.
        input_dim: Width of the character embeddings.
        activation: The non-linearity f of the filters.
        dense: The layer after the pooling, or `"none"`.
        filters: `"small"`, 175 filters of each of the widths 2 to 4; `"kim"`, 25 of width 1, 50 of
            width 2, up to 150 of width 6; or the number of each width, as `"3:100,5:200"`.
        dropout: Share of the pooled filters that training drops.
        seed: Seed of the initial weights and of the dropout.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether dropout is active.

    Returns:
        float32 `(batch, dim)`; the dense layer's value at zero for a text without characters.

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
        activation: Literal["relu", "tanh"] = CharCnnOptions.activation,
        dense: Literal["tanh", "relu", "linear", "none"] = CharCnnOptions.dense,
        filters: str = CharCnnOptions.filters,
        dropout: float = CharCnnOptions.dropout,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": "char_cnn", **kwargs})
        check_positive(dim=dim, input_dim=input_dim)
        CharCnnOptions(input_dim, dropout, activation, dense, filters)
        if not 0.0 <= dropout < 1.0:
            raise ConfigError(f"`dropout` must be in [0, 1). Received: dropout={dropout}")
        self.num_rows = num_rows
        self.input_dim = input_dim
        self.filters = filters
        self.activation = activation
        self.dense = dense
        self.dropout = dropout
        self.seed = seed
        self.characters = PaddedEmbedding(
            num_rows=num_rows,
            dim=input_dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05, seed=seed),
            name="characters",
        )
        self.pooling = ConvPooling(
            filter_widths(filters), activation=activation, seed=seed + 1, name="pooling"
        )
        self.pooling.build((None, None, input_dim))
        self.dim = self.pooling.num_filters if dense == "none" else dim
        self._dropout = None
        if dropout:
            self._dropout = keras.layers.Dropout(dropout, seed=seed, dtype="float32")
        self.output_layer = None
        if dense != "none":
            self.output_layer = make_dense(
                self.pooling.num_filters, dim, activation=dense, seed=seed, name="dense"
            )
        self.built = True

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as character ids."""
        pooled = self.pooling.call_rows(*self.characters.distinct_rows(ids))
        if self._dropout is not None:
            pooled = self._dropout(pooled, training=training)
        return pooled if self.output_layer is None else self.output_layer(pooled)
