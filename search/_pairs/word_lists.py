"""The words of many texts, as numbers in arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    Flags,
    Ids,
    distinct_integers,
    lengths_of,
    list_numbers,
)
from tf_charagram.text._algorithm.arrays import positions, splits_of
from tf_charagram.text._algorithm.flat import Rows
from tf_charagram.text._algorithm.word_boundaries import bags_of_words

# Texts that are split into words at the same time: strings of all of them would take ten times the
# memory of numbers.
_BATCH = 20_000
# Factor of the hash of a word: odd, so that no letter is lost.
_FACTOR = 0x9E3779B97F4A7C15
# The same of the hash of a text: words are not joined.
_TEXT_FACTOR = 0xD1342543DE82EF95


class WordLists(NamedTuple):
    """The words of texts: text `t` has the words `ids[splits[t] : splits[t + 1]]` of `words`.

    Attributes:
        words: Distinct words.
        ids: The words of all texts, one after the other, int32 `(num_all,)`.
        splits: Where each text starts and ends, int64 `(num_texts + 1,)`.
    """

    words: list[str]
    ids: NDArray[np.int32]
    splits: Ids

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> WordLists:
        """Splits texts into the words that search compares."""
        rest = iter(texts)
        batches = iter(lambda: list(islice(rest, _BATCH)), [])
        return cls._of_batches(map(bags_of_words, batches))

    @classmethod
    def of_bags(cls, bags: Sequence[Sequence[str]]) -> WordLists:
        """Numbers words that are given as strings."""
        return cls._of_batches([bags])

    @classmethod
    def _of_batches(cls, batches: Iterable[Sequence[Sequence[str]]]) -> WordLists:
        index = _numbering()
        ids = [np.zeros(0, np.int32)]
        lengths = [np.zeros(1, np.int64)]
        for bags in batches:
            words = chain.from_iterable(bags)
            ids.append(np.fromiter(map(index.__getitem__, words), np.int32))
            lengths.append(np.array([len(bag) for bag in bags], np.int64))
        return cls(list(index), np.concatenate(ids), np.cumsum(np.concatenate(lengths)))

    def __len__(self) -> int:
        return len(self.splits) - 1

    def strings(self, rows: Sequence[int] | NDArray[np.integer]) -> list[list[str]]:
        """Returns the words of some texts."""
        places = np.asarray(rows, np.intp)
        starts = self.splits[places].tolist()
        stops = self.splits[places + 1].tolist()
        bags = []
        for start, stop in zip(starts, stops, strict=True):
            ids = self.ids[start:stop].tolist()
            bags.append([self.words[number] for number in ids])
        return bags

    def extended(self, others: WordLists) -> WordLists:
        """Appends the words of other texts."""
        return self.appended(others, *numbered(self.words, others.words))

    def appended(
        self, others: WordLists, words: list[str], numbers: NDArray[np.int32]
    ) -> WordLists:
        """Appends the words of other texts, with the result of `numbered` for both."""
        ids = np.append(self.ids, numbers[others.ids])
        splits = np.append(self.splits, others.splits[1:] + self.splits[-1])
        return WordLists(words, ids, splits)

    def rows(self) -> Ids:
        """Returns the text of each of `ids`."""
        return list_numbers(lengths_of(self.splits))

    def first(self, num_words: int) -> WordLists:
        """Keeps the first words of each text."""
        lengths = lengths_of(self.splits)
        if lengths.max(initial=0) <= num_words:
            return self
        kept = np.minimum(lengths, num_words)
        starts = self.splits[:-1]
        ids = self.ids[positions(starts, starts + kept)]
        return WordLists(self.words, ids, splits_of(kept))

    def only(self, are_kept: Flags) -> WordLists:
        """Keeps some distinct words, each once in a text."""
        words = [self.words[place] for place in np.flatnonzero(are_kept).tolist()]
        numbers = np.cumsum(are_kept) - 1
        places = np.flatnonzero(are_kept[self.ids])
        num_words = max(len(words), 1)
        keys = self.rows()[places] * num_words + numbers[self.ids[places]]
        rows, ids = np.divmod(distinct_integers(keys), num_words)
        splits = rows.searchsorted(np.arange(len(self) + 1))
        return WordLists(words, ids.astype(np.int32), splits)

    def replaced(self, bags: Mapping[int, Sequence[str]]) -> WordLists:
        """Replaces the words of some texts.

        Args:
            bags: The new words by row, in ascending order.
        """
        if not bags:
            return self
        index = _numbering(self.words)
        lengths = lengths_of(self.splits)
        parts = []
        start = 0
        for row, bag in bags.items():
            parts.append(self.ids[start : self.splits[row]])
            parts.append(np.fromiter(map(index.__getitem__, bag), np.int32))
            lengths[row] = len(bag)
            start = self.splits[row + 1]
        parts.append(self.ids[start:])
        return WordLists(list(index), np.concatenate(parts), splits_of(lengths))

    def document_counts(self, counts: NDArray[np.integer] | None = None) -> Ids:
        """Returns the number of texts with each word, `(num_words,)`.

        Args:
            counts: How often each text counts, `(num_texts,)`. Default: once.
        """
        num_words = max(len(self.words), 1)
        keys = distinct_integers(self.rows() * num_words + self.ids)
        rows, numbers = np.divmod(keys, num_words)
        weights = None if counts is None else counts[rows]
        return np.bincount(numbers, weights, len(self.words)).astype(np.int64)


def numbered(words: Sequence[str], others: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """Returns words and those others that are not among them, and the numbers of the others."""
    index = _numbering(words)
    numbers = np.fromiter(map(index.__getitem__, others), np.int32)
    return list(index), numbers


def _numbering(words: Sequence[str] = ()) -> defaultdict[str, int]:
    """Returns the numbers of distinct words; each further word that is looked up gets the next."""
    numbers: defaultdict[str, int] = defaultdict(count(len(words)).__next__)
    numbers.update(zip(words, count()))
    return numbers


def deletion_hashes(words: Sequence[str]) -> Rows:
    """Hashes each word, and each word without one of its letters; the same in all processes.

    Words that differ by one letter, or in the order of two letters, have a hash in common.
    """
    letter_splits, ranks, codes, powers = _letters(words)
    starts = letter_splits[:-1]
    ends = letter_splits[1:]
    # Letters after the one that is left out move up by one place.
    sums = _sums(codes * powers[ranks])
    moved = _sums(codes * powers[np.maximum(ranks - 1, 0)])
    rest = (moved[ends] - sums[starts]).repeat(ends - starts)
    # A word comes before its deletions.
    splits = letter_splits + np.arange(len(words) + 1)
    hashes = np.empty(splits[-1], np.uint64)
    is_own = np.zeros(len(hashes), bool)
    is_own[splits[:-1]] = True
    hashes[is_own] = sums[ends] - sums[starts]
    hashes[~is_own] = sums[:-1] + rest - moved[1:]
    return Rows(hashes, splits)


def letter_sets(words: Sequence[str]) -> tuple[NDArray[np.uint64], Ids]:
    """Returns the letters of each word as 64 bits, and its length, each `(num_words,)`."""
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    bits = np.uint64(1) << (codes % 64).astype(np.uint64)
    return unions(bits, splits_of(lengths)), lengths


def unions(sets: NDArray[np.uint64], splits: Ids) -> NDArray[np.uint64]:
    """Joins the sets of each list, `(num_lists,)`."""
    joined = np.zeros(len(splits) - 1, np.uint64)
    # `reduceat` needs lists of at least one item.
    is_filled = splits[1:] > splits[:-1]
    joined[is_filled] = np.bitwise_or.reduceat(sets, splits[:-1][is_filled])
    return joined


def _letters(
    words: Sequence[str],
) -> tuple[Ids, Ids, NDArray[np.uint64], NDArray[np.uint64]]:
    """Reads the letters of words.

    Returns:
        Where each word starts and ends; for each letter its place in the word and its code from 1;
        and powers of the factor.
    """
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    splits = splits_of(lengths)
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    # Not 0 for any letter.
    numbers = codes.astype(np.uint64) + np.uint64(1)
    ranks = np.arange(len(numbers)) - splits[:-1].repeat(lengths)
    return splits, ranks, numbers, _powers(_FACTOR, lengths)


def _powers(factor: int, lengths: Ids) -> NDArray[np.uint64]:
    """Returns the powers of a factor, up to the largest of some lengths."""
    factors = np.full(int(lengths.max(initial=0)) + 1, factor, np.uint64)
    factors[0] = 1
    return factors.cumprod()


def _sums(terms: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns sums before each term: sums over a word are differences, also beyond 64 bits."""
    return splits_of(terms)


class WordHashes(NamedTuple):
    """Hashes of words from which the hashes of joined words follow.

    Attributes:
        values: Hash of each word, uint64 `(num_words,)`.
        shifts: Factor of the hash of a word that follows, uint64 `(num_words,)`.
    """

    values: NDArray[np.uint64]
    shifts: NDArray[np.uint64]

    @classmethod
    def of_words(cls, words: Sequence[str]) -> WordHashes:
        """Hashes words; the same in all processes."""
        splits, ranks, codes, powers = _letters(words)
        sums = _sums(codes * powers[ranks])[splits]
        return cls(lengths_of(sums), powers[lengths_of(splits)])

    def followed(self, others: WordHashes) -> WordHashes:
        """Returns the hashes of words that are joined to other words."""
        return WordHashes(self.values + self.shifts * others.values, self.shifts * others.shifts)

    def of(self, ids: NDArray[np.integer]) -> WordHashes:
        """Returns the hashes of some words."""
        return WordHashes(self.values[ids], self.shifts[ids])


def word_hash(word: str) -> np.uint64:
    """Hashes a single word like `WordHashes`, in a tenth of the time."""
    value = 0
    for char in reversed(word):
        value = value * _FACTOR + ord(char) + 1
    return np.uint64(value % 2**64)


def joined_hashes(lists: WordLists) -> Iterator[tuple[Ids, NDArray[np.uint64]]]:
    """Yields the texts, and the hashes, of each two and then each three adjacent words, joined.

    Strings would take ten times the memory, and most of the time.
    """
    hashes = WordHashes.of_words(lists.words).of(lists.ids)
    rows = lists.rows()
    joined = hashes
    for length in (2, 3):
        num_places = max(len(rows) - length + 1, 0)
        before = WordHashes(joined.values[:num_places], joined.shifts[:num_places])
        after = WordHashes(hashes.values[length - 1 :], hashes.shifts[length - 1 :])
        joined = before.followed(after)
        is_inside = rows[:num_places] == rows[length - 1 :]
        yield rows[:num_places][is_inside], joined.values[is_inside]


def text_hashes(lists: WordLists) -> NDArray[np.uint64]:
    """Hashes the words of each text, in order, `(num_texts,)`."""
    starts = lists.splits[:-1]
    lengths = lists.splits[1:] - starts
    ranks = np.arange(len(lists.ids)) - starts.repeat(lengths)
    hashes = WordHashes.of_words(lists.words).values[lists.ids]
    sums = _sums(hashes * _powers(_TEXT_FACTOR, lengths)[ranks])
    return sums[lists.splits[1:]] - sums[starts]
