"""The object a user holds: raw text in, vectors out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Layer

from tf_charagram.encoders.base import is_padded
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers.huge_pages import use_huge_pages
from tf_charagram.layers.placement import read_in_place
from tf_charagram.losses.similarity import paired_cosine
from tf_charagram.models.base import TEXT_PAIRS, TEXTS, TextModel
from tf_charagram.models.encoding import encoded, in_halves
from tf_charagram.models.explanation import Explanation, explain
from tf_charagram.models.locations import EMBEDDER
from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.parallel import in_threads, num_threads
from tf_charagram.text.tensors import decoded, paired_texts, string_tensor, texts_of
from tf_charagram.text.validation import check_batch_size

_BATCH = 1000
_MAX_BATCH_CHARS = 4_000_000

T = TypeVar("T", bound=str | bytes)


# Rows that tell whether vectors are of unit length.
_NUM_TELLING = 100


class Neighbor(NamedTuple):
    """A text and its cosine with the query."""

    text: str
    cosine: float


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextEmbedder(TextModel):
    """Embeds raw texts: a vectorizer, strings to ids, followed by an encoder, ids to vectors.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.

    Example:
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
    reads = "words"
    reads_run_texts = True
    gives_vectors = True
    can_shrink = True

    def __init__(self, vectorizer: Layer, encoder: Layer, **kwargs: Any) -> None:
        super().__init__(vectorizer, encoder, **kwargs)
        # Converting Python to graphs takes a third of the time of the first call. Keras' `fit` does
        # without, too.
        # Not the method itself: TensorFlow would warn of the graphs of several models as of one's.
        self._embed = tf.function(partial(self.call), input_signature=TEXTS, autograph=False)

    @property
    def dim(self) -> int:
        """Width of the embeddings."""
        return self.encoder.dim

    def call(self, texts: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Embeds a string tensor `(batch,)`; returns float32 `(batch, dim)`."""
        return encoded(self.encoder, self.vectorizer(texts), training)

    def compute_output_spec(self, texts: keras.KerasTensor, **kwargs: Any) -> keras.KerasTensor:
        """Returns symbolic embeddings, float32 `(batch, dim)`, for symbolic texts."""
        del kwargs
        return keras.KerasTensor((texts.shape[0], self.dim), "float32")

    def encode(
        self,
        texts: Iterable[str | bytes],
        *,
        batch_size: int | None = None,
        show_progress: bool = False,
    ) -> np.ndarray:
        """Embeds texts.

        Args:
            texts: Any texts, also as an array, a tensor or a `tf.data.Dataset`; empty ones and
                broken UTF-8 have a defined embedding too.
            batch_size: Texts embedded at a time. Default: 1,000, and up to 4,000 where there are
                more for every core and the encoder does not pad.
            show_progress: Show a progress bar on standard error.

        Returns:
            float32 `(num_texts, dim)`.

        Raises:
            ConfigError: `texts` is a single string or holds what is no string, or `batch_size` is
                no integer or below 1.
        """
        texts = list(texts_of(texts, "texts"))
        if batch_size is None:
            batch_size = self._batch_size(len(texts))
        order = None
        if is_padded(self.encoder):
            # Batches of like length need little padding.
            order = np.argsort([len(text) for text in texts], kind="stable")
            texts = [texts[index] for index in order]
        vectors = np.empty((len(texts), self.dim), np.float32)
        start = 0
        with _progress(show_progress, len(texts)) as advance:
            for batch, embedded in self.encode_batches(texts, batch_size=batch_size):
                rows = slice(start, start + len(batch))
                vectors[rows if order is None else order[rows]] = embedded
                start += len(batch)
                advance(len(batch))
        return vectors

    def encode_batches(
        self, texts: Iterable[T], *, batch_size: int | None = None
    ) -> Iterator[tuple[list[T], np.ndarray]]:
        """Embeds a stream of texts, several batches at the same time, to keep all cores busy.

        Args:
            texts: As for `encode`; read as a stream.
            batch_size: Most texts in a batch; long texts make it smaller. Default: 4,000, or 1,000
                for an encoder that pads.

        Yields:
            The texts of a batch, and their embeddings, float32 `(len(batch), dim)` and read-only;
            in order.

        Raises:
            ConfigError: `texts` is a single string, or `batch_size` is no integer or below 1.
        """
        if batch_size is None:
            batch_size = self._largest_batch
        check_batch_size(batch_size)
        return self._encode_batches(texts_of(texts, "texts"), batch_size)

    def _batch_size(self, num_texts: int) -> int:
        """Returns how many texts to embed at a time, so that all cores have as many batches."""
        for_each_core = num_texts // (2 * num_threads())
        most = min(max(for_each_core, _BATCH), self._largest_batch)
        num_rounds = math.ceil(num_texts / (num_threads() * most))
        return max(math.ceil(num_texts / max(num_rounds * num_threads(), 1)), _BATCH)

    @property
    def _largest_batch(self) -> int:
        """Texts in a batch, if nothing else is said: what is padded takes memory."""
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
        # `numpy()` would copy them.
        return np.asarray(self._embed(string_tensor(texts)))

    def similarity(self, left: Iterable[str | bytes], right: Iterable[str | bytes]) -> np.ndarray:
        """Returns the cosines of corresponding texts, float32 `(num_texts,)`.

        Args:
            left: Any texts, as for `encode`.
            right: As many.

        Raises:
            ConfigError: The two lists differ in length, or one is a single string or holds what is
                no string.
        """
        lefts, rights = paired_texts(left, right)
        return np.sum(unit_rows(self.encode(lefts)) * unit_rows(self.encode(rights)), axis=1)

    def neighbors(
        self, query: str | bytes, vocabulary: Iterable[str | bytes] | None, k: int = 10,
        vectors: np.ndarray | None = None, *, include_query: bool = True,
    ) -> list[Neighbor]:  # fmt: skip
        """Returns the texts of a vocabulary that are most similar to a query, by exact search.

        Args:
            query: A text.
            vocabulary: The texts to search, also as an array or a tensor.
            k: How many.
            vectors: Embeddings of the vocabulary, to save computing them again: all of unit length
                (or zero), which is faster, or as `encode` returns them. The first ones tell.
            include_query: Whether the query may be an answer itself. Leave it out where the
                neighbours of a word are wanted.

        Raises:
            ConfigError: `k` is no integer or below 1, `vocabulary` is a single string, or `vectors`
                has another shape or is not finite.
        """
        check_positive(k=k)
        query = decoded(query)
        texts = [*map(decoded, texts_of([] if vocabulary is None else vocabulary, "vocabulary"))]
        vectors = unit_rows(self.encode(texts)) if vectors is None else np.asarray(vectors)
        if vectors.shape != (len(texts), self.dim):
            raise ConfigError(
                f"`vectors` must be {(len(texts), self.dim)}, one for each text of the vocabulary. "
                f"Received: shape {vectors.shape}"
            )
        cosines = vectors @ unit_rows(self.encode([query]))[0]
        if not np.isfinite(cosines).all():
            raise ConfigError("`vectors` must be finite. Received: NaN or infinity")
        lengths = _divisors(vectors[:_NUM_TELLING])
        if (np.isfinite(lengths) & (np.abs(lengths - 1) > 1e-3)).any():
            cosines = cosines / _divisors(vectors)
        num_left_out = 0 if include_query else texts.count(query)
        candidates = np.argsort(-cosines, kind="stable")[: k + num_left_out]
        neighbors = [Neighbor(texts[i], float(cosines[i])) for i in candidates]
        return [found for found in neighbors if include_query or found.text != query][:k]

    def explain(self, left: str, right: str) -> Explanation:
        """Returns how much each pair of n-grams adds to the cosine of two texts."""
        return explain(self.vectorizer, self.encoder, left, right)

    def served_call(self) -> Callable[[tf.Tensor], tf.Tensor]:
        """Returns `call` as served graphs have it: large batches keep two cores busy."""
        # Halves of what is padded would take twice the memory at a time.
        return self.call if is_padded(self.encoder) else in_halves(self.call)

    def signatures(self) -> dict[str, Any]:
        """Returns what an exported embedder answers.

        * `serving_default(texts) -> {"embedding": float32 (n, dim)}`
        * `similarity(texts_a, texts_b) -> {"cosine": float32 (n,)}`
        """
        served = self.served_call()

        @tf.function(input_signature=TEXTS, autograph=False)
        def embed(texts: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"embedding": served(texts)}

        @tf.function(input_signature=TEXT_PAIRS, autograph=False)
        def similarity(texts_a: tf.Tensor, texts_b: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"cosine": paired_cosine(served(texts_a), served(texts_b))}

        return {"serving_default": embed, "similarity": similarity}


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Returns each row divided by its length; zero rows stay zero."""
    return (vectors / _divisors(vectors)[:, np.newaxis]).astype(vectors.dtype)


def _divisors(vectors: np.ndarray) -> np.ndarray:
    """Returns the length of each row, infinity for zero rows, float64 `(num_rows,)`."""
    # In double precision, for the squares of large numbers overflow in single.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    return np.where(lengths > 1e-6, lengths, np.inf)


@contextmanager
def _progress(show: bool, total: int) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar on standard error, if asked; yields the function that advances it."""
    if not show:
        yield lambda number: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("Embedding", total=total)
        yield lambda number: progress.advance(task, number)
