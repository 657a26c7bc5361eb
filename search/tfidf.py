"""Tf-idf of the character n-grams of words: vectors that need no model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.search._pairs.flat_arrays import ones_of
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.arguments import strings_of
from tf_charagram.text._algorithm.flat import Array, Rows
from tf_charagram.text._algorithm.keys import ngram_keys
from tf_charagram.text._algorithm.symbols import Symbols

_ORDERS = (2, 3)
# Words whose n-grams are in memory at the same time.
_BATCH = 10_000


class CharacterTfidf:
    """Embeds texts by the tf-idf of the character n-grams of their words, fitted on a list.

    N-grams have 2 or 3 characters of a word with a space at both ends. The weight of an n-gram
    that occurs `count` times in a text and in `df` of `n` texts is
    `(1 + log(count)) * (1 + log((1 + n) / (1 + df)))`; rows are divided by their length. These are
    the numbers of scikit-learn's `TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3),
    sublinear_tf=True)` for texts of `bags_of_words`, joined by spaces.

    Args:
        texts: The texts to count n-grams in.

    Raises:
        ConfigError: `texts` is a single string or contains other values.

    Examples:
        >>> tfidf = CharacterTfidf(["cat", "cats", "dog"])
        >>> (tfidf.transform(["catz"]) @ tfidf.transform(["cat", "dog"]).T).toarray().round(2)
        array([[0.77, 0.  ]], dtype=float32)
    """

    def __init__(self, texts: Iterable[str | bytes]) -> None:
        lists = WordLists.of_texts(strings_of(texts))
        keys, splits = _ngram_keys(lists.words)
        known, ids = np.unique(keys, return_inverse=True)
        words = ones_of(lists.ids, lists.splits, len(lists.words))
        counts = words @ ones_of(ids, splits, len(known))
        # An index for each text that an n-gram occurs in.
        df = np.bincount(counts.indices, minlength=len(known))
        self._set(known, df, len(lists))

    @classmethod
    def from_counts(
        cls, words: Sequence[str], counts: NDArray[np.integer], num_texts: int
    ) -> CharacterTfidf:
        """Counts n-grams in words, without the texts.

        An n-gram counts in the texts that have any of the words that contain it, if these words
        occur in texts independently of each other.

        Args:
            words: Distinct words.
            counts: Number of texts with each word.
            num_texts: Number of texts.
        """
        keys, splits = _ngram_keys(words)
        known, ids = np.unique(keys, return_inverse=True)
        ngrams = ones_of(ids, splits, len(known))
        ngrams.sum_duplicates()
        # The logarithm of the share of texts without a word; -inf for a word of all texts.
        with np.errstate(divide="ignore"):
            shares = np.minimum(counts / max(num_texts, 1), 1)
            log_shares = np.log1p(-shares)
        weights = np.repeat(log_shares, np.diff(ngrams.indptr))
        log_missing = np.bincount(ngrams.indices, weights, len(known))
        df = -num_texts * np.expm1(log_missing)
        tfidf = cls.__new__(cls)
        tfidf._set(known, df, num_texts)
        return tfidf

    def _set(self, known: Array, df: NDArray[Any], num_texts: int) -> None:
        self._columns = arrays.Table(known, np.arange(len(known), dtype=np.int32), -1)
        idf = 1 + np.log((1 + num_texts) / (1 + df))
        self._idf = idf.astype(np.float32)

    def transform(self, texts: Iterable[str | bytes]) -> sparse.csr_array:
        """Returns the vectors of texts, float32 `(num_texts, num_ngrams)`, of length 1 or 0.

        Args:
            texts: The texts; n-grams that were not counted are ignored.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return self.transform_words(WordLists.of_texts(strings_of(texts)))[0]

    def transform_words(self, lists: WordLists) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Returns the vectors of texts, of length 1 or 0, and those of their words, of any length.

        Args:
            lists: The words of the texts.
        """
        keys, splits = _ngram_keys(lists.words)
        columns = self._columns.lookup(keys)
        known_columns, known_splits = arrays.kept(columns, columns >= 0, splits)
        words = ones_of(known_columns, known_splits, len(self._idf))
        texts = ones_of(lists.ids, lists.splits, len(lists.words)) @ words
        words.sum_duplicates()
        texts.sort_indices()
        for vectors in (texts, words):
            frequencies = 1 + np.log(vectors.data)
            vectors.data = frequencies * self._idf[vectors.indices]
        _divide_by_lengths(texts)
        return texts, words


def _divide_by_lengths(vectors: sparse.csr_array) -> None:
    """Divides each row by its length in place; empty rows stay empty."""
    num_entries = np.diff(vectors.indptr)
    # `reduceat` needs rows with at least one entry.
    is_filled = num_entries > 0
    starts = vectors.indptr[:-1][is_filled]
    squares = np.add.reduceat(vectors.data**2, starts)
    lengths = np.sqrt(squares)
    vectors.data /= np.repeat(lengths, num_entries[is_filled])


@functools.cache
def _symbols() -> Symbols:
    """Returns the reader of words as lowercase code points."""
    return Symbols(None)


def _ngram_keys(words: Sequence[str]) -> Rows:
    """Returns the keys of the n-grams of each word."""
    symbols = _symbols()
    parts = [np.zeros(0, np.int64)]
    lengths = [np.zeros(1, np.int64)]
    for start in range(0, len(words), _BATCH):
        batch = words[start : start + _BATCH]
        keys, splits = ngram_keys(arrays, symbols(batch), _ORDERS, None)
        num_columns = keys.shape[1]
        flat_keys = keys.ravel()
        found, found_splits = arrays.kept(flat_keys, flat_keys != 0, splits * num_columns)
        parts.append(found)
        lengths.append(np.diff(found_splits))
    all_keys = np.concatenate(parts)
    all_lengths = np.concatenate(lengths)
    return Rows(all_keys, np.cumsum(all_lengths))
