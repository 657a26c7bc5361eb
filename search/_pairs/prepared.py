"""Texts with everything that a comparison needs, computed when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.search._pairs.codes import Codes
from tf_charagram.search._pairs.flat_arrays import (
    Floats,
    Ids,
    SparseRows,
    joined_rows,
    lengths_of,
    matrix_of,
    rows_of,
)
from tf_charagram.search._pairs.rare_keys import row_sums
from tf_charagram.search._pairs.word_lists import (
    WordLists,
    deletion_hashes,
    letter_sets,
    numbered,
    text_hashes,
    unions,
)
from tf_charagram.text._algorithm.arrays import splits_of
from tf_charagram.text._algorithm.flat import Rows

# Directions of vectors, and vectors that tell them.
_NUM_DIRECTIONS = 128
_NUM_SAMPLED = 10_000


class Directions(NamedTuple):
    """The main directions of vectors: products of coordinates are nearly products of vectors.

    Attributes:
        basis: The directions, float32 `(dim, num_directions)`.
        coordinates: The vectors in these directions, float32 `(num_directions, num_vectors)`.
    """

    basis: Floats
    coordinates: Floats


@dataclass
class Texts:
    """Texts with everything that a comparison needs.

    Attributes:
        texts: The texts.
        lists: The first words of each text, lowercase and without accents, joined or split as
            other texts have them.
        written: The first words as they are written; numbers of the same `words`.
        weights: Inverse document frequency of each of the distinct words, float32 `(num_words,)`.
        codes: The distinct codes of each text: model numbers, amounts, dates.
        ngrams: Tf-idf of character n-grams, rows of unit length.
        word_ngrams: The same of each distinct word, of any length.
        vectors: Embeddings of unit length, float32 `(num_texts, dim)`; dim is 0 without a model.
    """

    texts: Sequence[str]
    lists: WordLists
    written: WordLists
    weights: Floats
    codes: Codes
    ngrams: SparseRows
    word_ngrams: SparseRows
    vectors: Floats

    def __len__(self) -> int:
        return len(self.lists)

    def followed(self, others: Texts) -> Texts:
        """Returns these texts and then other ones that the same scorer has prepared."""
        words, numbers = numbered(self.lists.words, others.lists.words)
        is_new = numbers >= len(self.lists.words)
        _, num_ngrams = self.ngrams.shape
        new_ngrams = rows_of(others.word_ngrams, np.flatnonzero(is_new))
        return Texts(
            [*self.texts, *others.texts],
            self.lists.appended(others.lists, words, numbers),
            self.written.appended(others.written, words, numbers),
            np.append(self.weights, others.weights[is_new]),
            self.codes.followed(others.codes),
            joined_rows([self.ngrams, others.ngrams], num_ngrams),
            joined_rows([self.word_ngrams, new_ngrams], num_ngrams),
            np.concatenate([self.vectors, others.vectors]),
        )

    @cached_property
    def main_directions(self) -> Directions:
        """The directions in which most of `vectors` differ most."""
        rows = np.linspace(0, len(self) - 1, min(len(self), _NUM_SAMPLED)).astype(np.int64)
        sampled = self.vectors[rows]
        # Eigenvalues are ascending.
        _, directions = np.linalg.eigh(sampled.T @ sampled)
        basis = directions[:, -_NUM_DIRECTIONS:]
        return Directions(basis, basis.T @ self.vectors.T)

    @cached_property
    def num_words(self) -> Ids:
        """Number of words of each text, `(num_texts,)`."""
        return lengths_of(self.lists.splits)

    @cached_property
    def square_sums(self) -> Floats:
        """Sum of the squared weights of each text, float32 `(num_texts,)`."""
        sums = np.zeros(len(self), np.float32)
        has_words = self.num_words > 0
        # `reduceat` needs ranges of at least one word.
        starts = self.lists.splits[:-1][has_words]
        sums[has_words] = np.add.reduceat(self.weights[self.lists.ids] ** 2, starts)
        return sums

    @cached_property
    def text_hashes(self) -> Ids:
        """A hash of each text, `(num_texts,)`; different texts share one by a chance of 2^-64."""
        return np.array([hash(text) for text in self.texts], np.int64)

    @cached_property
    def by_hash(self) -> Ids:
        """The rows, ordered by the hashes of their texts."""
        return np.argsort(self.text_hashes, kind="stable")

    @cached_property
    def word_hashes(self) -> NDArray[np.uint64]:
        """A hash of the words of each text as they are written, `(num_texts,)`."""
        return text_hashes(self.written)

    @cached_property
    def ones(self) -> sparse.csr_array:
        """A matrix with a 1 for each word of each text, `(num_texts, num_words)`."""
        ids = self.lists.ids
        splits = self.lists.splits.astype(np.int32)
        shape = (len(self), len(self.lists.words))
        return sparse.csr_array((np.ones(len(ids), np.float32), ids, splits), shape)

    @cached_property
    def by_word(self) -> sparse.csr_array:
        """One row per word: its texts, each with 1 / its length, `(num_words, num_texts)`."""
        return self.by_word_of(np.arange(len(self)))

    def by_word_of(self, rows: NDArray[np.integer]) -> sparse.csr_array:
        """Returns `by_word` of some rows, `(num_words, num_rows)`."""
        ones = self.ones[rows]
        ones.sum_duplicates()
        ones.data = np.repeat(1 / np.maximum(self.lengths[rows], 1e-6), lengths_of(ones.indptr))
        return ones.T.tocsr()

    @cached_property
    def lengths(self) -> Floats:
        """Length of each text if the n-grams of different words differ, `(num_texts,)`."""
        squares = self.word_lengths[self.lists.ids] ** 2
        return np.sqrt(np.bincount(self.lists.rows(), squares, len(self))).astype(np.float32)

    @cached_property
    def by_ngram(self) -> sparse.csr_array:
        """`word_ngrams` with one row per n-gram, `(num_ngrams, num_words)`."""
        return matrix_of(self.word_ngrams).T.tocsr()

    @cached_property
    def num_words_of_ngram(self) -> NDArray[np.integer]:
        """Number of words with each n-gram, `(num_ngrams,)`."""
        return lengths_of(self.by_ngram.indptr)

    @cached_property
    def num_texts_of_word(self) -> NDArray[np.integer]:
        """Number of texts with each word, `(num_words,)`."""
        return lengths_of(self.by_word.indptr)

    @cached_property
    def word_lengths(self) -> Floats:
        """Lengths of `word_ngrams`, `(num_words,)`."""
        squares = row_sums(self.word_ngrams, self.word_ngrams.data**2)
        return np.sqrt(squares).astype(np.float32)

    @cached_property
    def deletions(self) -> Rows:
        """Hashes of each word, and of each word without one of its letters."""
        return deletion_hashes(self.lists.words)

    @cached_property
    def sorted_deletions(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """All hashes of `deletions`, ascending, and the word of each."""
        hashes, splits = self.deletions
        order = np.argsort(hashes)
        words = np.repeat(np.arange(len(splits) - 1, dtype=np.int32), lengths_of(splits))
        return hashes[order], words[order]

    def letters(self, rows: NDArray[np.integer]) -> list[str]:
        """Returns the first words of some texts as they are written, with spaces between them."""
        known = self._known_letters
        places = rows.tolist()
        new = sorted({row for row in places if not known[row]})
        for row, words in zip(new, self.written.strings(new), strict=True):
            known[row] = " ".join(words)
        return [known[row] for row in places]

    @cached_property
    def _known_letters(self) -> list[str]:
        """Strings of `letters`, empty until they are needed: a query needs those of few texts."""
        return [""] * len(self)

    @cached_property
    def num_letters(self) -> Ids:
        """Length of the strings of `letters`, `(num_texts,)`."""
        _, lengths = self.letter_sets
        splits = self.written.splits
        totals = splits_of(lengths[self.written.ids])[splits]
        num_spaces = np.maximum(lengths_of(splits) - 1, 0)
        return totals[1:] - totals[:-1] + num_spaces

    @cached_property
    def letter_sets(self) -> tuple[NDArray[np.uint64], Ids]:
        """The letters of each word as 64 bits, and its length, each `(num_words,)`."""
        return letter_sets(self.lists.words)

    @cached_property
    def all_letters(self) -> NDArray[np.uint64]:
        """The letters of each text as 64 bits, `(num_texts,)`."""
        sets, _ = self.letter_sets
        return unions(sets[self.written.ids], self.written.splits)
