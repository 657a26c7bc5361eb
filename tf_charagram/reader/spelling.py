"""Corrects misspelled words of a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tf_charagram.reader.candidates import Candidates
from tf_charagram.reader.flat import (
    Batch,
    Ints,
    Runs,
    positions,
    replaced,
    rows_of,
)
from tf_charagram.reader.key_table import KeyTable
from tf_charagram.text.code_points import SPACE
from tf_charagram.text.spelling.dictionary import Dictionary
from tf_charagram.text.spelling.letters import MAX_LETTERS, is_suitable, letter_codes, spelled
from tf_charagram.text.spelling.patterns import Patterns
from tf_charagram.text.spelling.word_filter import letter_values, powers
from tf_charagram.text.word_boundaries import OTHER, SYMBOL

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
        starts = splits[:-1]
        ends = splits[1:]
        words = np.stack([starts, ends], axis=1)
        rows = np.flatnonzero(is_suitable(words))
        self._known = KeyTable.of_rows(patterns.words[rows], rows)
        # Two extra rows: an empty word, `no_word`, and a space.
        space = np.flatnonzero(code_points == SPACE)
        num_letters = splits[-1]
        self._letters = Runs(
            np.append(letters, space.astype(np.int32)),
            np.append(splits, [num_letters, num_letters + 1]),
        )
        self._accepted_words = dictionary.accepted_words

    def __call__(self, batch: Batch) -> Batch:
        """Corrects the words of a batch whose symbols are `marked`."""
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
        rows = self._known.rows(keys)
        unknown = words[rows < 0]
        words, values, has_digits = self._correctable(marked, symbols, unknown)
        if not len(words):
            return batch
        readings = self._candidates.readings(values, has_digits)
        no_word = self._candidates.no_word
        is_found = readings[:, 0] < no_word
        readings = readings[is_found]
        # A space before the second and the third word, if there are any.
        space = no_word + 1
        spaces = np.where(readings < no_word, space, no_word)
        pieces = [
            readings[:, 0],
            spaces[:, 1],
            readings[:, 1],
            spaces[:, 2],
            readings[:, 2],
        ]
        rows = np.stack(pieces, axis=1)
        letters = rows_of(self._letters, rows.ravel())
        others = Runs(letters.values, letters.splits[::5])
        starts, ends = words[is_found].T
        return replaced(batch, starts, ends, others)

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

    def _correctable(self, marked: Ints, symbols: Ints, words: Ints) -> tuple[Ints, Ints, Bools]:
        """Selects the words that may be read as others.

        Args:
            marked: The symbols of a batch with marks.
            symbols: The symbols of the batch, all symbols past the end equal.
            words: Starts and ends of the unknown words, `(num_words, 2)`.

        Returns:
            Starts and ends of the selected words, `(num_words, 2)`; the values of their letters,
            int64 `(num_words, MAX_LETTERS + 1)`, 0 past the end; and whether they have digits,
            bool `(num_words,)`.
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
        symbols = symbols[places]
        is_letter = marked[places] < OTHER
        is_letter &= is_inside
        is_digit = self._is_digit[symbols]
        is_digit &= is_inside
        num_letters = np.count_nonzero(is_letter, axis=1)
        num_digits = np.count_nonzero(is_digit, axis=1)
        # All other digits, marks and letters of scripts without spaces count as neither.
        is_word = num_letters + num_digits == lengths
        is_word &= num_letters >= num_digits
        # "50ft" is a number with a unit.
        is_word &= ~is_digit[:, :2].all(axis=1)
        values = self._read_values[symbols]
        values[~is_inside] = 0
        if self._accepted_words is not None:
            terms = values * self._powers
            keys = terms.sum(axis=1)
            is_word &= ~self._accepted_words.contains(keys)
        words = words[is_word]
        values = values[is_word]
        has_digits = num_digits[is_word] > 0
        return words, values, has_digits
