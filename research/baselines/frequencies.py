"""Word frequencies: from a list of counts, from a corpus, or by Zipf's law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from research.analysis.words import split_texts
from tf_charagram.data.readers.words import read_word_counts
from tf_charagram.errors import DataError


class WordFrequencies:
    """Relative frequencies of words, ignoring case.

    Args:
        counts: Count of each word; words that differ only in case are summed.

    Raises:
        ValueError: No word has a count above 0.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts: Counter[str] = Counter()
        for word, count in counts.items():
            self._counts[word.lower()] += count
        self._total = self._counts.total()
        if self._total <= 0:
            raise ValueError("`counts` must have a word that occurs.")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a list of counts, or counts the words of a corpus.

        Args:
            path: As for `read_word_counts`.

        Raises:
            DataError: The file cannot be read, has no words, or a line of a list has no count.
        """
        counts = read_word_counts(path, words_of)
        try:
            return cls(counts)
        except ValueError:
            raise DataError(path, "expected words that occur, found none") from None

    def probabilities(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Returns the share of each word in all words, `(len(words),)`.

        A word that never occurs counts as if it occurred once.
        """
        counts = [max(1, self._counts.get(word.lower(), 0)) for word in words]
        return np.array(counts, np.float64) / self._total


def zipf(ranks: NDArray[np.integer], num_words: int) -> NDArray[np.float64]:
    """Returns word frequencies by Zipf's law: 1 / rank, divided by the sum over all ranks.

    Args:
        ranks: From 1, `(num_ranks,)`.
        num_words: Number of all words.
    """
    return 1.0 / (ranks * np.sum(1.0 / np.arange(1, num_words + 1)))


def words_of(texts: Iterable[str]) -> Iterator[str]:
    """Yields the words of texts as written, split as by the word encoders."""
    return chain.from_iterable(split_texts(texts, lowercase=False))
