"""Tf-idf of the character n-grams of words: vectors that need no model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from tf_charagram.text import arrays
from tf_charagram.text.arguments import distinct, strings_of
from tf_charagram.text.flat import Array, Rows
from tf_charagram.text.keys import ngram_keys
from tf_charagram.text.symbols import Symbols
from tf_charagram.text.word_boundaries import bags_of_words

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

    Example:
        >>> tfidf = CharacterTfidf(["cat", "cats", "dog"])
        >>> (tfidf.transform(["catz"]) @ tfidf.transform(["cat", "dog"]).T).toarray().round(2)
        array([[0.77, 0.  ]], dtype=float32)
    """

    def __init__(self, texts: Iterable[str | bytes]) -> None:
        self._count(bags_of_words(strings_of(texts)))

    @classmethod
    def from_words(cls, bags: Sequence[Sequence[str]]) -> CharacterTfidf:
        """Counts n-grams in texts that are given as their words."""
        tfidf = cls.__new__(cls)
        tfidf._count(bags)
        return tfidf

    def _count(self, bags: Sequence[Sequence[str]]) -> None:
        words, word_counts = _word_ones(bags)
        keys, splits = _ngram_keys(words)
        known, ids = np.unique(keys, return_inverse=True)
        num_ngrams = len(known)
        self._columns = arrays.Table(known, np.arange(num_ngrams, dtype=np.int32), -1)
        ngram_counts = word_counts @ _ones(ids, splits, num_ngrams)
        # An index for each text that an n-gram occurs in.
        df = np.bincount(ngram_counts.indices, minlength=num_ngrams)
        inverse_df = (1 + len(bags)) / (1 + df)
        idf = 1 + np.log(inverse_df)
        self._idf = idf.astype(np.float32)

    def transform(self, texts: Iterable[str | bytes]) -> sparse.csr_array:
        """Returns the vectors of texts, float32 `(num_texts, num_ngrams)`, of length 1 or 0.

        Args:
            texts: The texts; n-grams that were not counted are ignored.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return self.transform_words(bags_of_words(strings_of(texts)))

    def transform_words(self, bags: Sequence[Sequence[str]]) -> sparse.csr_array:
        """Returns the vectors of texts that are given as their words, of length 1 or 0."""
        words, word_counts = _word_ones(bags)
        keys, splits = _ngram_keys(words)
        columns = self._columns.lookup(keys)
        known_columns, known_splits = arrays.kept(columns, columns >= 0, splits)
        ones = _ones(known_columns, known_splits, len(self._idf))
        vectors = word_counts @ ones
        frequencies = 1 + np.log(vectors.data)
        vectors.data = frequencies * self._idf[vectors.indices]
        _divide_by_lengths(vectors)
        return vectors


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


def _ones(ids: Array, splits: Array, num_columns: int) -> sparse.csr_array:
    """Returns a matrix with a 1 for each id in each row, float32 `(num_rows, num_columns)`.

    Repeated ids are not summed up; products of matrices do that.
    """
    # SciPy is slower with larger integers.
    kind = np.int32 if len(ids) < 2**31 else np.int64
    ones = np.ones(len(ids), np.float32)
    columns = ids.astype(kind)
    indptr = splits.astype(kind)
    shape = (len(splits) - 1, num_columns)
    return sparse.csr_array((ones, columns, indptr), shape)


def _word_ones(bags: Sequence[Sequence[str]]) -> tuple[list[str], sparse.csr_array]:
    """Returns the distinct words of texts, and a matrix with a 1 for each word of each text."""
    words, ids = distinct(chain.from_iterable(bags))
    lengths = [len(bag) for bag in bags]
    splits = np.append(0, np.cumsum(lengths))
    return words, _ones(ids, splits, len(words))
