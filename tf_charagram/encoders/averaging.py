"""Encoders that average word vectors, followed by dense layers or not."""

from __future__ import annotations

from typing import Any, Literal

import keras
import tensorflow as tf

from tf_charagram.encoders.options import DanOptions, ProjectionOptions
from tf_charagram.encoders.words import AveragingEncoder
from tf_charagram.layers.base import make_dense


@keras.saving.register_keras_serializable(package="tf_charagram")
class WordAverage(AveragingEncoder):
    """Embeds a text as the mean of its word vectors (PARAGRAM-PHRASE; Universal, section 3).

    Args:
        num_rows: Number of word ids.
        dim: Width of the word vectors and of the embedding.
        seed: Seed of the initial weights.
        **kwargs: `word_dropout` of `WordEncoder`; `name` and `dtype`, as for every layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the table's gradient should be row-sparse and `word_dropout` active.

    Returns:
        float32 `(batch, dim)`; zeros for a text without words.

    Raises:
        ConfigError: An argument is out of range.
    """

    has_no_products = True

    def __init__(self, *, num_rows: int, dim: int = 300, seed: int = 0, **kwargs: Any) -> None:
        name = {"name": "word_average", **kwargs}
        super().__init__(num_rows=num_rows, dim=dim, width=dim, seed=seed, **name)

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        return self.mean(ids, training)


@keras.saving.register_keras_serializable(package="tf_charagram")
class Projection(AveragingEncoder):
    """Embeds a text as Wp m + b, m the mean of its word vectors (Universal, section 3).

    With a `dim` larger than `word_dim`, such as 1,200 or 2,400, classifiers get more features than
    word vectors have (Universal, section 4.4).

    Args:
        num_rows: Number of word ids.
        dim: Width of the embedding.
        word_dim: Width of the word vectors. Default: `dim`.
        seed: Seed of the initial weights.
        **kwargs: `word_dropout` of `WordEncoder`; `name` and `dtype`, as for every layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the table's gradient should be row-sparse and `word_dropout` active.

    Returns:
        float32 `(batch, dim)`; b for a text without words.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        word_dim: int | None = ProjectionOptions.word_dim,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        name = {"name": "projection", **kwargs}
        super().__init__(num_rows=num_rows, dim=dim, seed=seed, width=word_dim, **name)
        self.dense = make_dense(
            self.word_dim, dim, activation="linear", seed=seed + 1, name="dense"
        )

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        return self.dense(self.mean(ids, training))


@keras.saving.register_keras_serializable(package="tf_charagram")
class Dan(AveragingEncoder):
    """Embeds a text by dense layers over the mean of its word vectors (Universal, section 3).

    The deep averaging network of Iyyer et al. (2015): each layer is f(W x + b).

    Args:
        num_rows: Number of word ids.
        dim: Width of the layers and of the embedding.
        word_dim: Width of the word vectors. Default: `dim`.
        activation: The non-linearity f of each layer.
        num_layers: Number of layers.
        seed: Seed of the initial weights.
        **kwargs: `word_dropout` of `WordEncoder`; `name` and `dtype`, as for every layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the table's gradient should be row-sparse and `word_dropout` active.

    Returns:
        float32 `(batch, dim)`; the layers' value at zero for a text without words.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        word_dim: int | None = DanOptions.word_dim,
        activation: Literal["tanh", "relu"] = DanOptions.activation,
        num_layers: Literal[1, 2] = DanOptions.num_layers,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        DanOptions(activation=activation, num_layers=num_layers)
        super().__init__(
            num_rows=num_rows, dim=dim, seed=seed, width=word_dim, **{"name": "dan", **kwargs}
        )
        self.activation = activation
        self.num_layers = num_layers
        widths = [self.word_dim, *[dim] * num_layers]
        self.dense = [
            make_dense(width, dim, activation=activation, seed=seed + layer, name=f"dense_{layer}")
            for layer, width in enumerate(widths[:-1], start=1)
        ]

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        embedding = self.mean(ids, training)
        for dense in self.dense:
            embedding = dense(embedding)
        return embedding
