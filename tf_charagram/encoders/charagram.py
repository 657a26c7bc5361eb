"""The CHARAGRAM encoder: a sum of n-gram embeddings and a non-linearity."""

from __future__ import annotations

from typing import Any, Literal

import keras
import tensorflow as tf

from tf_charagram.encoders.base import Encoder
from tf_charagram.encoders.options import CharagramOptions
from tf_charagram.errors import check_positive
from tf_charagram.layers._ops.chunked import Ids, WeightedIds
from tf_charagram.layers.base import ConfiguredLayer, make_dense
from tf_charagram.layers.embedding_table import RaggedEmbeddingSum


@keras.saving.register_keras_serializable(package="tf_charagram")
class Charagram(Encoder, ConfiguredLayer):
    """Embeds a text as h(b + sum of its n-gram vectors) (Charagram, section 3, equation 1).

    With two layers, the result goes through `h(x K + b2)` once more (section 4.2).

    Args:
        num_rows: Number of n-gram ids.
        dim: Width of the embedding.
        activation: The non-linearity h.
        num_layers: Number of layers.
        seed: Seed of the initial weights.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the table's gradient should be row-sparse.

    Returns:
        float32 `(batch, dim)`; h(b) for a text without n-grams.

    Raises:
        ConfigError: An argument is out of range.
    """

    vectorizer = CharagramOptions.vectorizer

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        activation: Literal["linear", "tanh", "relu"] = CharagramOptions.activation,
        num_layers: Literal[1, 2] = CharagramOptions.num_layers,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": "charagram", **kwargs})
        check_positive(dim=dim)
        CharagramOptions(activation, num_layers)
        self.num_rows = num_rows
        self.dim = dim
        self.activation = activation
        self.num_layers = num_layers
        self.seed = seed
        self._function = keras.activations.get(activation)
        self.sum = RaggedEmbeddingSum(
            num_rows=num_rows,
            dim=dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05, seed=seed),
            name="ngrams",
        )
        self.ngram_table = self.sum.table
        self.bias = self.add_weight(shape=(dim,), initializer="zeros", name="bias")
        self.dense = None
        if num_layers == 2:
            self.dense = make_dense(dim, dim, activation=activation, seed=seed + 1, name="dense")
        self.built = True

    @property
    def has_no_products(self) -> bool:  # type: ignore[override]
        """Whether table rows are only added up; a second layer multiplies them."""
        return self.dense is None

    def save_own_variables(self, store: dict[str, Any]) -> None:
        """Saves the bias; the table, although an attribute here, too, is saved by its own layer."""
        store["bias"] = self.bias

    def load_own_variables(self, store: dict[str, Any]) -> None:
        """Loads the bias."""
        self.bias.assign(store["bias"])

    def call(self, ids: Ids | WeightedIds, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as n-gram ids."""
        embedding = self._function(self.sum(ids, training=training) + self.bias)
        return embedding if self.dense is None else self.dense(embedding)
