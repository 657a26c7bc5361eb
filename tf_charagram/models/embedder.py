"""`TextEmbedder`: raw texts in, vectors out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Layer

from tf_charagram._common.devices import on_cpu
from tf_charagram.encoders.base import device_scope, is_padded
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers.embedding_table import read_in_place, use_huge_pages
from tf_charagram.losses.cosine import paired_cosine
from tf_charagram.models._answers.answers import EmbeddingAnswers
from tf_charagram.models._answers.explanation import EncoderLayers
from tf_charagram.models._answers.vectors import ACTIVATIONS, unit_rows
from tf_charagram.models._encoding.encoding import encoded, first_call_alone, in_halves
from tf_charagram.models._storage.locations import EMBEDDER
from tf_charagram.models.base import TEXT_PAIRS, TEXTS, TextModel, check_process
from tf_charagram.text._algorithm.arguments import texts_of
from tf_charagram.text._algorithm.batches import bounded_batches, in_threads, num_threads
from tf_charagram.text._algorithm.ids import Ngrams
from tf_charagram.text._algorithm.tensors import check_shape, string_tensor, tensor_of
from tf_charagram.text.vectorizer import NgramVectorizer

_BATCH = 1000
_MAX_BATCH_CHARS = 4_000_000

T = TypeVar("T", bound=str | bytes)


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextEmbedder(TextModel, EmbeddingAnswers):
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

    @property
    def _reads_ngrams(self) -> bool:
        return isinstance(self.vectorizer, NgramVectorizer)

    ngrams = on_cpu(EmbeddingAnswers.ngrams)

    def _ngram_ids(self) -> Ngrams:
        if not isinstance(self.encoder, Charagram):
            raise ConfigError(
                f"Only charagram encoders can be explained. Received: {self.encoder.name}"
            )
        return self.vectorizer.ngram_ids

    def _row_vectors(self, ids: np.ndarray) -> np.ndarray:
        return tf.gather(self.encoder.sum.table.value, ids).numpy()

    def _encoder_layers(self) -> EncoderLayers:
        encoder = self.encoder
        dense = None if encoder.dense is None else encoder.dense.get_weights()
        return EncoderLayers(encoder.bias.numpy(), ACTIVATIONS[encoder.activation], dense)

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
