"""`TextEmbedder`: raw texts in, vectors out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, overload

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Layer

from tf_charagram.encoders.base import device_scope, is_padded
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers.embedding_table import read_in_place, use_huge_pages
from tf_charagram.losses import paired_cosine
from tf_charagram.models.base import TEXT_PAIRS, TEXTS, TextModel, check_process
from tf_charagram.models.encoding import encoded, first_call_alone, in_halves
from tf_charagram.models.explanation import Explanation, Parts, explain, mixed, summands
from tf_charagram.models.locations import EMBEDDER
from tf_charagram.models.vectors import (
    ACTIVATIONS,
    Neighbor,
    nearest_texts,
    paired_cosines,
    unit_rows,
)
from tf_charagram.text.arguments import paired_texts, strings_of, texts_of
from tf_charagram.text.batches import bounded_batches, in_threads, num_threads
from tf_charagram.text.tensors import check_shape, string_tensor, tensor_of
from tf_charagram.text.vectorizer import NgramVectorizer, Reading

_BATCH = 1000
_MAX_BATCH_CHARS = 4_000_000

T = TypeVar("T", bound=str | bytes)


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextEmbedder(TextModel):
    """Embeds raw texts with a vectorizer (strings to ids) and an encoder (ids to vectors).

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.

    Examples:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["cat", "cats", "dog"])
        >>> embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))
        >>> embedder.encode(["cat", "catz"]).shape
        (2, 8)
    """

    kind = EMBEDDER
    purpose = "Embeds texts"
    score_title = "correlation x 100"
    gives_vectors = True

    def __init__(self, vectorizer: Layer, encoder: Layer, **kwargs: Any) -> None:
        super().__init__(vectorizer, encoder, **kwargs)
        # AutoGraph would take a third of the first call. `partial`, because TensorFlow would count
        # the traces of all models together and warn.
        self._embed = tf.function(partial(self.call), input_signature=TEXTS, autograph=False)
        self._embed_in_threads = first_call_alone(self._embed)

    @property
    def dim(self) -> int:
        """Width of the embeddings."""
        return self.encoder.dim

    @property
    def max_chars(self) -> int | None:
        """Characters of a text that count; `None` for no limit."""
        return self.vectorizer.max_chars

    def __call__(self, texts: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the model on a string tensor `(batch,)`, or on a list of texts."""
        return super().__call__(tensor_of(texts), *args, **kwargs)

    def call(self, texts: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Returns the embeddings, float32 `(batch, dim)`, of strings `(batch,)`."""
        embed = partial(encoded, self.encoder, training=training)
        return self.vectorizer.embedded(texts, embed)

    def compute_output_spec(self, texts: keras.KerasTensor, **kwargs: Any) -> keras.KerasTensor:
        """Returns symbolic embeddings, float32 `(batch, dim)`."""
        del kwargs
        check_shape(texts)
        return keras.KerasTensor((texts.shape[0], self.dim), "float32")

    def encode(
        self,
        texts: Iterable[str | bytes],
        *,
        normalize: bool = False,
        batch_size: int | None = None,
    ) -> np.ndarray:
        """Returns the embeddings of texts, float32 `(num_texts, dim)`.

        Vectors are not normalized by default, so their dot products are not cosines. Only the first
        10,000 characters of a text count (`max_chars` of its vectorizer): split longer texts, and
        average their vectors.

        Args:
            texts: A list, array, tensor, column of a data frame or `tf.data.Dataset` of strings.
                Empty texts and broken UTF-8 have defined embeddings.
            normalize: Whether to return vectors of unit length. Zero vectors stay zero.
            batch_size: Texts per batch. Default: 1,000; up to 4,000 for long lists if the encoder
                does not pad.

        Raises:
            ConfigError: `texts` is a single string, a mapping or a data frame, or has a row that is
                missing or of another type; or `batch_size` is not a positive integer.
            RunError: This process was forked after a model was made.
        """
        check_process()
        texts = list(texts_of(texts, "texts"))
        if batch_size is None:
            batch_size = self._batch_size(len(texts))
        check_positive(batch_size=batch_size)
        order = np.arange(len(texts))
        if is_padded(self.encoder):
            # Batches of similar length need little padding.
            order = np.argsort([len(text) for text in texts], kind="stable")
            texts = [texts[index] for index in order]
        vectors = np.empty((len(texts), self.dim), np.float32)
        start = 0
        for batch, embedded in self._encode_batches(texts, batch_size):
            rows = order[start : start + len(batch)]
            vectors[rows] = unit_rows(embedded) if normalize else embedded
            start += len(batch)
        return vectors

    def encode_batches(self, texts: Iterable[T]) -> Iterator[tuple[list[T], np.ndarray]]:
        """Embeds a stream of texts on all cores.

        Args:
            texts: Strings in any iterable, consumed lazily.

        Yields:
            The texts of a batch, at most 4,000 or fewer if they are long, and their embeddings,
            float32 `(len(batch), dim)`, read-only; in order.

        Raises:
            ConfigError: `texts` is a single string.
            RunError: This process was forked after a model was made.
        """
        check_process()
        return self._encode_batches(texts_of(texts, "texts"), self._max_batch_size)

    def _batch_size(self, num_texts: int) -> int:
        """Chooses a batch size that spreads batches evenly over the cores."""
        # Two batches per core or more, so that no core waits long for the others.
        per_core = num_texts // (2 * num_threads())
        limit = min(max(per_core, _BATCH), self._max_batch_size)
        num_rounds = math.ceil(num_texts / (num_threads() * limit))
        num_batches = max(num_rounds * num_threads(), 1)
        return max(math.ceil(num_texts / num_batches), _BATCH)

    @property
    def _max_batch_size(self) -> int:
        """Maximum texts per batch by default; padding takes memory."""
        return _BATCH if is_padded(self.encoder) else 4 * _BATCH

    def _encode_batches(
        self, texts: Iterable[Any], batch_size: int
    ) -> Iterator[tuple[list[Any], np.ndarray]]:
        for weight in self.encoder.weights:
            read_in_place(weight.value)
            use_huge_pages(weight.value)
        batches = bounded_batches(texts, batch_size, _MAX_BATCH_CHARS)
        yield from in_threads(self._encode_batch, batches)

    def _encode_batch(self, texts: Sequence[str | bytes]) -> np.ndarray:
        with tf.device(device_scope(self.encoder)):
            # `numpy()` would copy.
            return np.asarray(self._embed_in_threads(string_tensor(texts)))

    def known_share(self, texts: Iterable[str | bytes]) -> np.ndarray:
        """Returns the share of the visible characters of each text that the model knows.

        Args:
            texts: A list, array, tensor, column of a data frame or `tf.data.Dataset` of strings.

        Returns:
            float32 `(num_texts,)`; 1 for texts without visible characters.

        Raises:
            ConfigError: The model does not read n-grams, or `texts` is a single string or contains
                other values.
        """
        if not isinstance(self.vectorizer, NgramVectorizer):
            raise ConfigError("`known_share` needs a model of n-grams.")
        # An empty array first, because NumPy cannot concatenate an empty list.
        shares = [np.zeros(0, np.float32)]
        for batch in bounded_batches(texts_of(texts, "texts"), 4 * _BATCH, _MAX_BATCH_CHARS):
            shares.append(self.vectorizer.known_share(string_tensor(batch)).numpy())
        return np.concatenate(shares)

    def similarity(self, left: Iterable[str | bytes], right: Iterable[str | bytes]) -> np.ndarray:
        """Returns the cosines of corresponding texts, float32 `(num_texts,)`.

        Args:
            left: Texts: a list, array, tensor, column of a data frame or `tf.data.Dataset`.
            right: The same number of texts.

        Raises:
            ConfigError: The arguments differ in length, or one of them is a single string or
                contains other values.
        """
        left, right = paired_texts(left, right)
        lefts = self.encode(left, normalize=True)
        rights = self.encode(right, normalize=True)
        return paired_cosines(lefts, rights)

    def similarity_matrix(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes] | None = None
    ) -> np.ndarray:
        """Returns the cosine of each left and each right text, float32 `(num_left, num_right)`.

        Args:
            left: Texts: a list, array, tensor, column of a data frame or `tf.data.Dataset`.
            right: Texts. Default: the left texts.

        Raises:
            ConfigError: An argument is a single string or contains other values.
        """
        lefts = rights = self.encode(texts_of(left, "left"), normalize=True)
        if right is not None:
            rights = self.encode(texts_of(right, "right"), normalize=True)
        cosines = lefts @ rights.T
        return np.clip(cosines, -1, 1, out=cosines)

    @overload
    def neighbors(  # type: ignore[overload-overlap]
        self, queries: str | bytes, texts: Iterable[str | bytes], k: int = ...
    ) -> list[Neighbor]: ...

    @overload
    def neighbors(
        self, queries: Iterable[str | bytes], texts: Iterable[str | bytes], k: int = ...
    ) -> list[list[Neighbor]]: ...

    def neighbors(self, queries: Any, texts: Iterable[str | bytes], k: int = 10) -> Any:
        """Returns the texts with the largest cosines to a query, or to each of many.

        `tf_charagram.search.TextIndex` compares letters as well, and keeps the embeddings of the
        texts for more queries.

        Args:
            queries: A text, or an iterable of texts.
            texts: The texts to search.
            k: Number of neighbors of a query; fewer if there are fewer texts.

        Returns:
            The neighbors of a query, nearest first, ties by row; for many queries, a list of such
            lists.

        Raises:
            ConfigError: `k` is not a positive integer, or `queries` or `texts` contain other
                values.
        """
        check_positive(k=k)
        if isinstance(queries, str | bytes):
            return self.neighbors([queries], texts, k)[0]
        searched = strings_of(texts)
        query_vectors = self.encode(texts_of(queries, "queries"), normalize=True)
        vectors = self.encode(searched, normalize=True)
        neighbors = []
        # One query at a time: all cosines of many queries may not fit into memory.
        for query in query_vectors:
            neighbors.append(nearest_texts(query, vectors, searched, k))
        return neighbors

    def explain(self, left: str, right: str) -> Explanation:
        """Returns the contribution of each pair of n-grams to the cosine of two texts.

        Raises:
            ConfigError: The encoder is not a sum over n-grams, the model was folded, or a text is
                not a string.
        """
        return explain(self._ngrams(left), self._ngrams(right))

    def _ngrams(self, text: str) -> Parts:
        """Returns a text as the sum of its n-grams."""
        encoder = self.encoder
        if not isinstance(encoder, Charagram):
            raise ConfigError(f"Only charagram encoders can be explained. Received: {encoder.name}")
        if not isinstance(text, str | bytes):
            raise ConfigError(f"A text to explain must be a string. Received: {text!r}")
        readings = self.vectorizer.readings(text)
        parts = [self._parts(encoder, reading) for reading in readings]
        return parts[0] if len(parts) == 1 else mixed(readings[0].share, *parts)

    def _parts(self, encoder: Charagram, reading: Reading) -> Parts:
        """Returns a reading of a text as the sum of its n-grams."""
        ids = [list(rows) for rows in reading.ids]
        row_vectors = tf.gather(encoder.sum.table.value, tf.ragged.constant(ids, tf.int64, 1))
        # A hashed n-gram has several rows, which are added up.
        rows = tf.reduce_sum(row_vectors, axis=1).numpy()
        dense = None if encoder.dense is None else encoder.dense.get_weights()
        activation = ACTIVATIONS[encoder.activation]
        vectors = summands(rows, encoder.bias.numpy(), activation, dense)
        return Parts(reading.text, reading.spans, vectors)

    def served_call(self) -> Callable[[tf.Tensor], tf.Tensor]:
        """Returns `call` for served graphs, in which large batches use two cores."""
        # Two padded halves would take twice the memory.
        return self.call if is_padded(self.encoder) else in_halves(self.call)

    def signatures(self) -> dict[str, Any]:
        """Returns the signatures of the SavedModel.

        * `serving_default(texts) -> {"embedding": float32 (n, dim)}`
        * `similarity(texts_a, texts_b) -> {"cosine": float32 (n,)}`
        * `reading_signature`
        """
        served = self.served_call()

        @tf.function(input_signature=TEXTS, autograph=False)
        def embed(texts: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"embedding": served(texts)}

        @tf.function(input_signature=TEXT_PAIRS, autograph=False)
        def similarity(texts_a: tf.Tensor, texts_b: tf.Tensor) -> dict[str, tf.Tensor]:
            # One call: the graph of another would have to be prepared, too.
            vectors = served(tf.concat([texts_a, texts_b], axis=0))
            num_left = tf.size(texts_a)
            cosines = paired_cosine(vectors[:num_left], vectors[num_left:])
            return {"cosine": tf.clip_by_value(cosines, -1.0, 1.0)}

        return {"serving_default": embed, "similarity": similarity, **self.reading_signature()}
