"""Tf-idf of the character n-grams of words: vectors that need no model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.search._pairs.flat_arrays import (
    SparseRows,
    are_first,
    lengths_of,
    list_numbers,
    matrix_of,
    ones_of,
    places_in,
)
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.arguments import strings_of
from tf_charagram.text._algorithm.arrays import positions
from tf_charagram.text._algorithm.flat import Array, Rows

# Bits of a code point in the key of an n-gram, which has at most three.
_BITS = 21
# Texts whose n-grams are sorted at the same time, in the cache.
_BATCH = 2000


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
        weights = np.repeat(log_shares, lengths_of(ngrams.indptr))
        log_missing = np.bincount(ngrams.indices, weights, len(known))
        df = -num_texts * np.expm1(log_missing)
        tfidf = cls.__new__(cls)
        tfidf._set(known, df, num_texts)
        return tfidf

    def _set(self, known: Array, df: NDArray[Any], num_texts: int) -> None:
        self._known = known
        idf = 1 + np.log((1 + num_texts) / (1 + df))
        self._idf = idf.astype(np.float32)

    def transform(self, texts: Iterable[str | bytes]) -> sparse.csr_array:
        """Returns the vectors of texts, float32 `(num_texts, num_ngrams)`, of length 1 or 0.

        Args:
            texts: The texts; n-grams that were not counted are ignored.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return matrix_of(self.transform_words(WordLists.of_texts(strings_of(texts)))[0])

    def transform_words(self, lists: WordLists) -> tuple[SparseRows, SparseRows]:
        """Returns the vectors of texts, of length 1 or 0, and those of their words, of any length.

        Args:
            lists: The words of the texts.
        """
        keys, splits = _ngram_keys(lists.words)
        columns = places_in(self._known, keys)
        columns, splits = arrays.kept(columns, columns >= 0, splits)
        words = self._weighted(columns, splits)
        num_ngrams = lengths_of(splits)
        # One array for all texts: those of parts would take the memory twice.
        max_entries = num_ngrams[lists.ids].sum()
        data = np.empty(max_entries, np.float32)
        indices = np.empty(max_entries, np.int32)
        # SciPy is slower with larger integers.
        kind = np.int32 if max_entries < 2**31 else np.int64
        indptr: NDArray[np.integer] = np.zeros(len(lists) + 1, kind)
        end = 0
        for start in range(0, len(lists), _BATCH):
            text_splits = lists.splits[start : start + _BATCH + 1]
            ids = lists.ids[text_splits[0] : text_splits[-1]]
            places = positions(splits[ids], splits[ids + 1])
            own_splits = arrays.splits_of(num_ngrams[ids])[text_splits - text_splits[0]]
            texts = self._weighted(columns[places], own_splits)
            _divide_by_lengths(texts)
            indptr[start + 1 : start + len(text_splits)] = end + texts.indptr[1:]
            own = slice(end, end + len(texts.data))
            data[own] = texts.data
            indices[own] = texts.indices
            end = own.stop
        shape = len(lists), len(self._idf)
        return SparseRows(data[:end], indices[:end], indptr, shape), words

    def _weighted(self, columns: Array, splits: Array) -> SparseRows:
        """Weighs the n-grams of rows.

        Args:
            columns: The columns of the n-grams of all rows, one after the other.
            splits: Where each row starts and ends.
        """
        shape = len(splits) - 1, len(self._idf)
        rows = list_numbers(lengths_of(splits))
        # Smaller integers are sorted twice as fast.
        kind = np.int32 if shape[0] * shape[1] < 2**31 else np.int64
        keys = (rows * shape[1] + columns).astype(kind)
        keys.sort()
        firsts = are_first(keys).nonzero()[0]
        indices = (keys[firsts] % max(shape[1], 1)).astype(np.int32)
        bounds = np.append(firsts, len(keys))
        counts = lengths_of(bounds)
        data = (1 + np.log(counts)).astype(np.float32) * self._idf[indices]
        indptr = np.searchsorted(firsts, np.asarray(splits))
        return SparseRows(data, indices, indptr.astype(np.int32), shape)


def _divide_by_lengths(vectors: SparseRows) -> None:
    """Divides each row by its length in place; empty rows stay empty."""
    num_entries = lengths_of(vectors.indptr)
    # `reduceat` needs rows with at least one entry.
    is_filled = num_entries > 0
    starts = vectors.indptr[:-1][is_filled]
    squares = np.add.reduceat(vectors.data**2, starts)
    lengths = np.sqrt(squares)
    vectors.data[:] /= lengths.repeat(num_entries[is_filled])


def _ngram_keys(words: Sequence[str]) -> Rows:
    """Returns the keys of the n-grams of each word: their characters, in 21 bits each."""
    spaced = " ".join(["", *words, ""])
    codes = np.frombuffer(spaced.encode("utf-32-le", "surrogatepass"), np.int32).astype(np.int64)
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    # For each space and each letter, the n-grams that start there.
    keys = np.zeros((len(codes) - 1, 2), np.int64)
    keys[:, 0] = codes[:-1] << _BITS | codes[1:]
    keys[:-1, 1] = keys[:-1, 0] << _BITS | codes[2:]
    # None of three is around the space between two words.
    keys[np.cumsum(lengths + 1) - 1, 1] = 0
    return Rows(keys[keys != 0], arrays.splits_of(2 * lengths + 1))
