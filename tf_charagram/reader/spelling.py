"""Corrects misspelled words of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.reader.candidates import Candidates
from tf_charagram.reader.flat import (
    Batch,
    Ints,
    Readings,
    Runs,
    certain,
    positions,
    replaced,
    rows_of,
    some_texts,
)
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.letters import MAX_LETTERS, is_suitable, letter_codes, spelled
from tf_charagram.text._spelling.patterns import Patterns
from tf_charagram.text._spelling.sureness import (
    NUM_SHARES,
    STEP,
    Sureness,
    letter_numbers,
    shares_of_steps,
    triples_of,
)
from tf_charagram.text._spelling.word_filter import letter_values, powers
from tf_charagram.text.code_points import SPACE
from tf_charagram.text.key_table import KeyTable
from tf_charagram.text.word_boundaries import CAPITAL, LETTER, SMALL, SYMBOL

Bools = NDArray[np.bool_]


class Corrector:
    """Replaces misspelled words of a batch by words of a dictionary; splits joined words.

    Args:
        dictionary: The known words; those with a letter without a symbol are skipped.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols of no or
            several code points. Symbols from `num_symbols` on, such as emoji, are between words.
    """

    def __init__(self, dictionary: Dictionary, code_points: NDArray[np.integer]) -> None:
        letters, splits, kept = spelled(dictionary.words, code_points)
        # All symbols past the end count as this one.
        self._last_symbol = len(code_points)
        codes = np.append(code_points, -1)
        read_codes = letter_codes(codes)
        self._is_digit = codes != read_codes
        # Digits have values of their own among known words, and values of letters in candidates.
        self._values = letter_values(codes)
        self._read_values = letter_values(read_codes)
        self._powers = powers(MAX_LETTERS + 1)
        patterns = Patterns(self._values[letters], splits, dictionary.log_counts[kept])
        self._candidates = Candidates(patterns)
        self._letter_numbers = letter_numbers(read_codes)
        self._shares = None
        if dictionary.sureness is not None:
            known_codes = codes[letters]
            self._shares = _Shares(
                Sureness(dictionary.sureness, known_codes, splits, patterns.log_probabilities)
            )
        starts = splits[:-1]
        ends = splits[1:]
        words = np.stack([starts, ends], axis=1)
        rows = np.flatnonzero(is_suitable(words))
        self._known = KeyTable(patterns.words[rows], rows.astype(np.int32), -1)
        # Two extra rows: an empty word, `no_word`, and a space.
        space = np.flatnonzero(code_points == SPACE)
        num_letters = splits[-1]
        self._letters = Runs(
            np.append(letters, space.astype(np.int32)),
            np.append(splits, [num_letters, num_letters + 1]),
        )
        self._accepted_words = dictionary.accepted_words

    def __call__(self, batch: Batch, min_share: float) -> Readings:
        """Corrects the words of a batch whose symbols are `marked`.

        Args:
            batch: The batch.
            min_share: The share that a reading must exceed.
        """
        marked = batch.symbols
        batch = batch._replace(symbols=marked & SYMBOL)
        symbols = np.minimum(batch.symbols, self._last_symbol)
        in_word = marked > SYMBOL
        # Words start and end by turns.
        is_edge = in_word[1:] != in_word[:-1]
        edges = np.flatnonzero(is_edge) + 1
        words = edges.reshape(-1, 2)
        words = words[is_suitable(words)]
        keys = self._word_keys(symbols, words)
        rows = self._known.lookup(keys)
        unknown = self._correctable(batch, marked, symbols, words[rows < 0])
        if not len(unknown.words):
            return certain(batch)
        rows, errors = self._candidates.readings(unknown.values, unknown.has_digits)
        no_word = self._candidates.no_word
        shares = np.ones(len(rows), np.float32)
        if self._shares is not None:
            lengths = np.count_nonzero(unknown.values, axis=1)
            shares = self._shares(unknown.letters, lengths, rows, errors)
        is_found = (rows[:, 0] < no_word) & (shares > min_share)
        words = unknown.words[is_found]
        rows = rows[is_found]
        # A space before the second and the third word, if there are any.
        space = no_word + 1
        spaces = np.where(rows < no_word, space, no_word)
        pieces = [
            rows[:, 0],
            spaces[:, 1],
            rows[:, 1],
            spaces[:, 2],
            rows[:, 2],
        ]
        letters = rows_of(self._letters, np.stack(pieces, axis=1).ravel())
        others = Runs(letters.values, letters.splits[::5])
        starts, ends = words.T
        read = replaced(batch, starts, ends, others)
        if self._shares is None:
            return certain(read)
        changed, shares = _by_text(batch, starts, shares[is_found])
        return Readings(read, some_texts(batch, changed), changed, shares)

    def _word_keys(self, symbols: NDArray[np.integer], words: Ints) -> Ints:
        """Returns a key for each word, int64 `(num_words,)`.

        Args:
            symbols: Symbols of letters, `(num_symbols,)`.
            words: Starts and ends of words in `symbols`, `(num_words, 2)`.
        """
        starts, ends = words.T
        places = positions(starts, ends)
        lengths = ends - starts
        firsts = np.cumsum(lengths) - lengths
        if not len(words):
            return firsts
        in_word = places - np.repeat(starts, lengths)
        values = self._values[symbols[places]]
        terms = values * self._powers[in_word]
        return np.add.reduceat(terms, firsts)

    def _correctable(self, batch: Batch, marked: Ints, symbols: Ints, words: Ints) -> _Unknown:
        """Selects the words that may be read as others.

        Args:
            batch: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all symbols past the end equal.
            words: Starts and ends of the unknown words, `(num_words, 2)`.
        """
        starts, ends = words.T
        lengths = ends - starts
        # A row of symbols for each word.
        index = np.arange(MAX_LETTERS + 1)
        is_inside = index < np.expand_dims(lengths, 1)
        places = np.expand_dims(starts, 1) + index
        # Places past the end of a word are masked, but must be in the batch.
        last = len(symbols) - 1
        places = np.minimum(places, last)
        of_words = symbols[places]
        marks = np.where(is_inside, marked[places], 0)
        is_letter = (marks & LETTER) != 0
        is_digit = self._is_digit[of_words]
        is_digit &= is_inside
        num_letters = np.count_nonzero(is_letter, axis=1)
        num_digits = np.count_nonzero(is_digit, axis=1)
        # All other digits, marks and letters of scripts without spaces count as neither.
        is_word = num_letters + num_digits == lengths
        is_word &= num_letters >= num_digits
        # "50ft" is a number with a unit, and "port0" has a number.
        is_word &= ~is_digit[:, :2].all(axis=1)
        is_word &= ~self._is_digit[symbols[ends - 1]]
        is_word &= ~_is_joined_by_signs(marked, starts, ends)
        has_capitals = np.any((marks[:, 1:] & CAPITAL) != 0, axis=1)
        is_word &= ~_is_shouted(batch, marked, starts, has_capitals)
        values = self._read_values[of_words]
        values[~is_inside] = 0
        letters = self._letter_numbers[of_words]
        letters[~is_inside] = 0
        if self._accepted_words is not None:
            terms = values * self._powers
            keys = terms.sum(axis=1)
            is_word &= ~self._accepted_words.contains(keys)
        return _Unknown(
            words[is_word],
            values[is_word],
            letters[is_word],
            num_digits[is_word] > 0,
        )


class _Unknown(NamedTuple):
    """Unknown words that may be read as others.

    Attributes:
        words: Their starts and ends, `(num_words, 2)`.
        values: The values of their letters, int64 `(num_words, MAX_LETTERS + 1)`, 0 past the end.
        letters: `letter_numbers` of their letters, of the same shape.
        has_digits: Whether they have digits, bool `(num_words,)`.
    """

    words: Ints
    values: Ints
    letters: NDArray[np.int32]
    has_digits: Bools


class _Shares:
    """Computes how much of the vector of an unknown word is that of its reading.

    Args:
        sureness: The terms of the sureness of readings.
    """

    def __init__(self, sureness: Sureness) -> None:
        self._sureness = sureness
        self._shares = shares_of_steps()

    def __call__(
        self, letters: NDArray[np.int32], lengths: Ints, rows: Ints, errors: Ints
    ) -> NDArray[np.float32]:
        """Returns the share of each reading, float32 `(num_words,)`.

        Args:
            letters: `letter_numbers` of the words, 0 past the end, `(num_words, MAX_LETTERS + 1)`.
            lengths: Their numbers of letters, `(num_words,)`.
            rows: The rows of the words read, `(num_words, 3)`.
            errors: The errors that explain the written words, `(num_words,)`.
        """
        sureness = self._sureness
        triples, is_counted = triples_of(letters, lengths)
        evidence = np.where(is_counted, sureness.triples[triples], 0).sum(axis=1)
        evidence += sureness.words[rows].sum(axis=1)
        evidence += sureness.errors[errors]
        evidence += lengths * sureness.length
        steps = evidence // STEP + NUM_SHARES // 2
        return self._shares[np.clip(steps, 0, NUM_SHARES - 1)]


def _is_joined_by_signs(marked: Ints, starts: Ints, ends: Ints) -> Bools:
    """Returns whether words are parts of addresses, paths or identifiers, bool `(num_words,)`.

    Args:
        marked: The symbols of a batch with marks.
        starts: The starts of words, `(num_words,)`.
        ends: Their ends.
    """
    last = len(marked) - 1
    before = marked[starts - 1]
    after = marked[ends]
    following = marked[np.minimum(ends + 1, last)]
    # A point at the end of a sentence joins nothing.
    return (before < 0) | ((after < 0) & (following > SYMBOL))


def _is_shouted(batch: Batch, marked: Ints, starts: Ints, has_capitals: Bools) -> Bools:
    """Returns whether words have capitals inside, in a text that has small letters, too.

    Args:
        batch: The batch.
        marked: Its symbols with marks.
        starts: The starts of the words, `(num_words,)`.
        has_capitals: Whether they have capitals after the first letter, `(num_words,)`.
    """
    is_shouted = has_capitals.copy()
    for word in np.flatnonzero(has_capitals).tolist():
        row = _text_rows(batch, starts[word])
        chars = marked[batch.starts[row] : batch.ends[row]]
        is_shouted[word] = np.any((chars & SMALL) != 0)
    return is_shouted


def _text_rows(batch: Batch, places: Ints) -> Ints:
    """Returns the row of the text that each place of a batch is in or after."""
    return np.searchsorted(batch.starts, places, side="right") - 1


def _by_text(
    batch: Batch, starts: Ints, shares: NDArray[np.float32]
) -> tuple[Ints, NDArray[np.float32]]:
    """Averages the shares of words by text.

    Args:
        batch: The batch.
        starts: Starts of words, ascending, `(num_words,)`.
        shares: Their shares, float32 `(num_words,)`.

    Returns:
        The rows of the texts with such words, `(num_changed,)`, and their mean shares.
    """
    rows = _text_rows(batch, starts)
    # Words after the end of a text were cut off.
    is_inside = starts < batch.ends[rows]
    changed, index, counts = np.unique(
        rows[is_inside],
        return_inverse=True,
        return_counts=True,
    )
    sums = np.bincount(index, shares[is_inside], len(changed))
    means = sums / counts
    return changed, means.astype(np.float32)
