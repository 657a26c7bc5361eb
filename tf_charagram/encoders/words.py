"""What the word encoders have in common: a table of word vectors and how it is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.layers.padding import PaddedEmbedding
from tf_charagram.layers.ragged_sum import RaggedEmbeddingSum


class WordEncoder(keras.layers.Layer):
    """Base of the encoders over word ids.

    Args:
        num_rows: Number of word ids; row 0 of the table belongs to all unknown words.
        dim: Width of the embedding.
        seed: Seed of the initial weights.
        word_dim: Width of the word vectors. Default: `dim`.

    Attributes:
        table: The layer that holds the word vectors, `table.table` of shape
            `(num_rows, word_dim)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    #: Name of the kind of ids the encoder takes.
    vectorizer = "words"
    #: The layer that holds the word vectors.
    table_class: type[RaggedEmbeddingSum | PaddedEmbedding]

    def __init__(
        self, *, num_rows: int, dim: int, seed: int, word_dim: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        for name, value in (("num_rows", num_rows), ("dim", dim), ("word_dim", word_dim)):
            if value is not None and value < 1:
                raise ConfigError(f"`{name}` must be at least 1. Received: {name}={value}")
        self.num_rows = num_rows
        self.dim = dim
        self.seed = seed
        self.table = self.table_class(
            num_rows=num_rows,
            dim=word_dim or dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05, seed=seed),
            name="words",
        )
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "num_rows": self.num_rows,
            "dim": self.dim,
            "seed": self.seed,
        }


class AveragingEncoder(WordEncoder):
    """Base of the encoders that see the words as a bag: `mean` gives one vector a text."""

    table_class = RaggedEmbeddingSum

    def mean(self, ids: tf.RaggedTensor, training: bool) -> tf.Tensor:
        """Returns the means of the word vectors, `(batch, word_dim)`; zeros without words."""
        return self.table(ids, training=training) / num_words(ids)


class SequenceEncoder(WordEncoder):
    """Base of the encoders that see the words in order: `table(ids)` gives vectors and a mask."""

    table_class = PaddedEmbedding


def num_words(ids: tf.RaggedTensor) -> tf.Tensor:
    """Returns the lengths of the rows as divisors, float32 `(batch, 1)`: 1 for an empty row."""
    return tf.cast(tf.maximum(ids.row_lengths(), 1), tf.float32)[:, tf.newaxis]


def check_activation(activation: str, available: Iterable[str]) -> None:
    """Raises a `ConfigError` for an activation that the encoder does not have."""
    available = tuple(available)
    if activation not in available:
        raise ConfigError(unknown_name("activation", activation, available))
