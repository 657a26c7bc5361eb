"""The answers of models that embed texts, whichever library computes the vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.models._answers.explanation import (
    EncoderLayers,
    Explanation,
    Parts,
    explain,
    mixed,
    summands,
)
from tf_charagram.models._answers.vectors import Neighbor, nearest_texts, paired_cosines
from tf_charagram.text._algorithm.arguments import paired_texts, strings_of, texts_of
from tf_charagram.text._algorithm.batches import bounded_batches
from tf_charagram.text._algorithm.flat import Batch
from tf_charagram.text._algorithm.ids import Ngrams
from tf_charagram.text._algorithm.symbols import Symbols

_BATCH = 4_000
_MAX_BATCH_CHARS = 4_000_000


class EmbeddingAnswers:
    """Similarities, neighbors, explanations and readings of texts."""

    @property
    def _reads_ngrams(self) -> bool:
        return True

    @property
    @abstractmethod
    def symbols(self) -> Symbols:
        """Reads texts as symbols: folds them, and corrects their words."""

    @abstractmethod
    def encode(
        self, texts: Iterable[str | bytes], *, normalize: bool = False
    ) -> NDArray[np.float32]:
        """Returns the embeddings of texts, float32 `(num_texts, dim)`."""

    @abstractmethod
    def _ngram_ids(self) -> Ngrams:
        """Returns the finder of ids of n-grams."""

    @abstractmethod
    def _row_vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Returns rows of the table of n-grams, `(num_ids, dim)`."""

    @abstractmethod
    def _encoder_layers(self) -> EncoderLayers:
        """Returns the layers of the encoder after the sum of rows."""

    def similarity(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes]
    ) -> NDArray[np.float32]:
        """Returns the cosines of corresponding texts, float32 `(num_texts,)`.

        Args:
            left: Texts: a list, array, tensor, column of a data frame or `tf.data.Dataset`.
            right: The same number of texts.

        Raises:
            ConfigError: The arguments differ in length, or one of them is a single string or
                contains other values.
        """
        lefts, rights = paired_texts(left, right)
        left_vectors = self.encode(lefts, normalize=True)
        right_vectors = self.encode(rights, normalize=True)
        return paired_cosines(left_vectors, right_vectors)

    def similarity_matrix(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes] | None = None
    ) -> NDArray[np.float32]:
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

    def explain(self, left: str | bytes, right: str | bytes) -> Explanation:
        """Returns the contribution of each pair of n-grams to the cosine of two texts.

        Raises:
            ConfigError: The encoder is not a sum over n-grams, the model was folded, or a text is
                not a string.
        """
        return explain(self.ngrams(left), self.ngrams(right))

    def ngrams(self, text: str | bytes) -> Parts:
        """Returns a text as the sum of its n-grams.

        Raises:
            ConfigError: The encoder is not a sum over n-grams, the model was folded, or the text is
                not a string.
        """
        ngram_ids = self._ngram_ids()
        if not isinstance(text, str | bytes):
            raise ConfigError(f"A text to explain must be a string. Received: {text!r}")
        readings = self.symbols.readings([text])
        read = self._parts(ngram_ids, readings.read)
        if not len(readings.changed):
            return read
        share = float(readings.shares[0])
        return mixed(share, read, self._parts(ngram_ids, readings.written))

    def _parts(self, ngram_ids: Ngrams, batch: Batch) -> Parts:
        """Returns the first text of a batch as the sum of its n-grams."""
        spans, ids, weights = ngram_ids.spans(batch)
        rows = self._row_vectors(np.array([*chain(*ids)], np.int64))
        sums = np.zeros((len(ids), rows.shape[1]), np.float32)
        # A hashed n-gram has several rows, which are added up.
        owners = np.repeat(np.arange(len(ids)), [len(each) for each in ids])
        np.add.at(sums, owners, rows)
        sums *= np.array(weights, np.float32).reshape(-1, 1)
        vectors = summands(sums, self._encoder_layers())
        return Parts(self.symbols.string(batch), spans, vectors)

    def read_as(self: Any, texts: Iterable[str | bytes]) -> list[str]:
        """Returns texts with misspelled words replaced by the words that they are read as.

        Only a model with a dictionary corrects words; all else stays as it is.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return self.symbols.read_as(strings_of(texts))

    def known_share(self, texts: Iterable[str | bytes]) -> NDArray[np.float32]:
        """Returns the share of the visible characters of each text that the model knows.

        Args:
            texts: A list, array, tensor, column of a data frame or `tf.data.Dataset` of strings.

        Returns:
            float32 `(num_texts,)`; 1 for texts without visible characters.

        Raises:
            ConfigError: The model does not read n-grams, or `texts` is a single string or contains
                other values.
        """
        if not self._reads_ngrams:
            raise ConfigError("`known_share` needs a model of n-grams.")
        # An empty array first, because NumPy cannot concatenate an empty list.
        shares = [np.zeros(0, np.float32)]
        for batch in bounded_batches(texts_of(texts, "texts"), _BATCH, _MAX_BATCH_CHARS):
            shares.append(np.asarray(self.symbols.known_share(batch)))
        return np.concatenate(shares)
