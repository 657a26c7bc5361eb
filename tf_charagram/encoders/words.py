"""The base of the word encoders: a table of word vectors, read as a bag or in order."""

from __future__ import annotations

from typing import Any, ClassVar

import keras
import tensorflow as tf

from tf_charagram.encoders import registered_name
from tf_charagram.encoders.base import Encoder
from tf_charagram.encoders.options import WordOptions
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers._ops.chunked import ChunkedIds, Ids
from tf_charagram.layers._ops.ragged import gather_rows, sum_rows
from tf_charagram.layers.base import ConfiguredLayer
from tf_charagram.layers.embedding_table import PaddedEmbedding, RaggedEmbeddingSum


class WordEncoder(Encoder, ConfiguredLayer):
    """Base of the encoders over word ids.

    A subclass reads the words of a text as a bag, with `mean`, or, if `is_padded`, in order, with
    `vectors`.

    Args:
        num_rows: Number of word ids; all unknown words share row 0 of the table.
        dim: Width of the embedding.
        seed: Seed of the initial weights.
        dropout: Share of the numbers in word vectors that training drops, drawn for each
            occurrence of a word (CSE, section 5.1: dropout of Srivastava et al. 2014 on the word
            embeddings). The others are scaled up to keep the expectation.
        width: Width of the word vectors, the option `input_dim` of some encoders. Default: `dim`.
        **kwargs: `name` and `dtype` of the layer.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether `dropout` is active, and the gradient of the table may be row-sparse.

    Returns:
        float32 `(batch, dim)`.

    Attributes:
        input_dim: Width of the word vectors.
        table: The layer that holds the word vectors, `table.table` of shape
            `(num_rows, input_dim)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    #: Name of the kind of ids the encoder takes.
    vectorizer = WordOptions.vectorizer
    #: Whether words are read in order. Then training batches texts of similar length.
    is_padded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int = 300,
        seed: int = 0,
        dropout: float = WordOptions.dropout,
        width: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": registered_name(type(self)), **kwargs})
        check_positive(num_rows=num_rows, dim=dim, input_dim=dim if width is None else width)
        if not 0.0 <= dropout < 1.0:
            raise ConfigError(f"`dropout` must be in [0, 1). Received: dropout={dropout}")
        self.num_rows = num_rows
        self.dim = dim
        self.input_dim = width or dim
        self.seed = seed
        self.dropout = dropout
        self._dropout = keras.layers.Dropout(dropout, seed=seed, dtype="float32")
        table_class = PaddedEmbedding if self.is_padded else RaggedEmbeddingSum
        self.table: Any = table_class(
            num_rows=num_rows,
            dim=self.input_dim,
            initializer=keras.initializers.RandomUniform(-0.05, 0.05, seed=seed),
            name="words",
        )
        self.built = True

    @property
    def word_table(self) -> keras.Variable:
        """The word vectors, `(num_rows, input_dim)`; other encoders have no such attribute.

        They can be initialized to pretrained ones, frozen by `table.trainable = False`, and
        regularized towards their initial values.
        """
        return self.table.table

    def mean(self, ids: Ids, training: bool) -> tf.Tensor:
        """Returns the means of the word vectors, `(batch, input_dim)`; zeros without words."""
        lengths = divisors(ids)
        if training and self.dropout:
            return self._dropped_sum(ids) / lengths
        return self.table(ids, training=training) / lengths

    def _dropped_sum(self, ids: Ids) -> tf.Tensor:
        """Sums vectors with dropout, which needs the vector of each occurrence."""
        if isinstance(ids, ChunkedIds):
            vectors = ids.vectors(self.table.table.value)
            return ids.sum_by_text(self._dropout(vectors, training=True))
        rows, positions = self.table.touched_rows(ids)
        vectors = gather_rows(rows, positions.values)
        num_vectors = tf.shape(vectors, tf.int64)[0]
        # Sums need at least one row, even if all texts are empty.
        is_empty = tf.cast(tf.equal(num_vectors, 0), tf.int32)
        vectors = tf.pad(self._dropout(vectors, training=True), [[0, is_empty], [0, 0]])
        return sum_rows(vectors, ids.with_values(tf.range(num_vectors)))

    def vectors(self, ids: Ids, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the word vectors after dropout, `(batch, time, input_dim)`, and their mask."""
        vectors, mask = self.table(ids)
        return self._dropout(vectors, training=training), mask


def divisors(words: Ids) -> tf.Tensor:
    """Returns the lengths of the rows as divisors, float32 `(batch, 1)`: 1 for an empty row."""
    return tf.cast(tf.maximum(words.row_lengths(), 1), tf.float32)[:, tf.newaxis]
