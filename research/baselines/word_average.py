"""Averages of word vectors, plain or weighted by the rarity of the words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self, get_args

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from research.analysis.words import split_texts
from research.baselines.frequencies import WordFrequencies, words_of, zipf
from research.baselines.word_tables import FastTextTable, VectorsInMemory, WordTable
from research.readers.word_vectors import is_fasttext_model, load_fasttext
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.models._answers.vectors import unit_rows

Weighting = Literal["none", "inverse-frequency", "sif"]


class WordVectorAverage:
    """Averages the vectors of the known words of a text.

    The vector of a word of frequency p (its share in all words) is multiplied by

    * `"none"`: 1;
    * `"inverse-frequency"`: 1 / p (Universal, section 6);
    * `"sif"`: a / (a + p), and the direction that the texts given to `fit` have most in common is
      removed (Arora, Liang & Ma 2017, algorithm 1).

    Without frequencies, p follows Zipf's law: the words of the file must be in the order of their
    frequency, as in the files of word2vec, GloVe and fastText.

    Args:
        table: The vectors.
        weighting: Weighting of the words.
        frequencies: Source of p. Defaults to Zipf's law.
        smoothing: The constant a of SIF.

    Raises:
        ConfigError: `weighting` is unknown, or `smoothing` is not above 0.
    """

    def __init__(
        self,
        table: WordTable,
        *,
        weighting: Weighting = "none",
        frequencies: WordFrequencies | None = None,
        smoothing: float = 1e-3,
    ) -> None:
        if weighting not in get_args(Weighting):
            raise ConfigError(unknown_name("weighting", weighting, get_args(Weighting)))
        if not smoothing > 0:
            raise ConfigError(f"`smoothing` must be above 0. Received: smoothing={smoothing}")
        self.table = table
        self.weighting = weighting
        self.frequencies = frequencies
        self.smoothing = smoothing
        self._common: NDArray[np.float32] | None = None
        self._unknown: set[str] = set()
        self._seen: set[str] = set()

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        weighting: Weighting = "none",
        frequencies: WordFrequencies | None = None,
        texts: Iterable[str] | None = None,
        on_bad_line: str | BadLines = "error",
    ) -> Self:
        """Loads vectors from a file.

        Args:
            path: Text or binary of word2vec, text of GloVe, each plain or gzip; a model of
                fastText, which needs the extra `fasttext`; or what gensim's `KeyedVectors.save`
                wrote.
            weighting: As for the class.
            frequencies: As for the class.
            texts: Texts to be encoded; other words are not loaded. Defaults to all words.
            on_bad_line: `"error"`, `"skip"`, or a `BadLines`; of a file of text only.

        Raises:
            ConfigError: An argument is wrong, or fastText is needed and not installed.
            DataError: The file cannot be read, or lacks all of the words.
        """
        table = load_table(path, texts, on_bad_line=on_bad_line)
        return cls(table, weighting=weighting, frequencies=frequencies)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Fits to texts; returns their vectors, divided by their lengths."""
        self.fit(texts)
        return unit_rows(self.encode(texts))

    def fit(self, texts: Sequence[str]) -> None:
        """Finds the common direction of the texts, for SIF."""
        if self.weighting == "sif":
            means = self._means(texts).astype(np.float64)
            # Not centred: the first right singular vector of the matrix of all texts.
            self._common = np.linalg.eigh(means.T @ means).eigenvectors[:, -1].astype(np.float32)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embeds texts; a text without a known word has a vector of zeros.

        Returns:
            float32 `(num_texts, dim)`.

        Raises:
            ConfigError: With SIF, `fit` was not called.
        """
        if self.weighting == "sif" and self._common is None:
            raise ConfigError("SIF removes what texts have in common: `fit` it on them first.")
        means = self._means(texts)
        if self._common is None:
            return means
        return means - np.outer(means @ self._common, self._common)

    def notes(self) -> list[str]:
        """Returns a note on the words so far without a vector, if any."""
        if not self._unknown:
            return []
        examples = ", ".join(sorted(self._unknown)[:3])
        return [f"{len(self._unknown):,} of {len(self._seen):,} words have no vector: {examples}"]

    def _means(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the weighted means, `(num_texts, dim)`; divided by the number of known words."""
        rows: dict[str, int] = {}
        numbers = [
            [rows.setdefault(word, len(rows)) for word in words]
            for words in split_texts(texts, lowercase=False)
        ]
        words = list(rows)
        found = self.table.look_up(words)
        self._seen.update(words)
        self._unknown.update(
            word for word, known in zip(words, found.is_known, strict=True) if not known
        )
        lengths = [len(row) for row in numbers]
        columns = np.array([number for row in numbers for number in row], np.intp)
        counts = scipy.sparse.csr_array(
            (np.ones(len(columns), np.float32), columns, np.cumsum([0, *lengths])),
            shape=(len(numbers), len(words)),
        )
        num_known = np.maximum(counts @ found.is_known.astype(np.float32), 1)
        weighted = self._weights(words, found.ranks)[:, np.newaxis] * found.vectors
        return np.asarray(counts @ weighted / num_known[:, np.newaxis], np.float32)

    def _weights(self, words: Sequence[str], ranks: NDArray[np.int64]) -> NDArray[np.float32]:
        if self.weighting == "none":
            return np.ones(len(words), np.float32)
        if self.frequencies is not None:
            shares = self.frequencies.probabilities(words)
        else:
            shares = zipf(ranks, self.table.num_words)
        if self.weighting == "inverse-frequency":
            return (1.0 / shares).astype(np.float32)
        return (self.smoothing / (self.smoothing + shares)).astype(np.float32)


def load_table(
    path: str | Path, texts: Iterable[str] | None, *, on_bad_line: str | BadLines = "error"
) -> WordTable:
    """Loads the vectors of words; arguments and errors as for `WordVectorAverage.load`."""
    if is_fasttext_model(path):
        return FastTextTable(load_fasttext(path))
    words = None if texts is None else set(words_of(texts))
    return VectorsInMemory.load(path, words, on_bad_line=on_bad_line)
