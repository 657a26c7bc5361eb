"""Corrects misspelled words of a batch, without building a string.

An unknown word that is one error away from a word of the dictionary is read as that word: a letter
may be missing, extra or wrong, or two adjacent letters swapped; all vowels may be missing, or a
letter may be two that look like it; letters may be digits that look like them. A word may also be
two or three words without the spaces between them.

Nearly all words are known; a key of a few windows of letters looks them up. `CandidateTable` finds
the readings of the others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tf_charagram._common.weights import STEPS_PER_WEIGHT
from tf_charagram.text._algorithm.code_points import SPACE
from tf_charagram.text._algorithm.flat import (
    Array,
    Batch,
    OnExecutor,
    Ops,
    Readings,
    Rows,
    all_selected,
    certain,
    interleaved,
    num_between,
    replaced,
    rows_of,
    some_texts,
)
from tf_charagram.text._algorithm.word_boundaries import CAPITAL, LETTER, SMALL, SYMBOL
from tf_charagram.text._spelling.candidates import CandidateTable
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.letters import (
    MAX_LETTERS,
    MIN_LETTERS,
    is_suitable,
    letter_codes,
    spelled,
)
from tf_charagram.text._spelling.patterns import Patterns
from tf_charagram.text._spelling.sureness import Shares, Sureness, letter_numbers
from tf_charagram.text._spelling.word_filter import (
    contains,
    letter_values,
    powers,
    values_of_no_letter,
)

# `charagram search --spelling` corrects words, too, in `search/_pairs/spelling`: it ranks all words
# by their vectors, which finds more errors and takes a search per word. Here, keys are looked up,
# in the graph and for every batch.


class WordCorrector(OnExecutor):
    """Replaces misspelled words of a batch by words of a dictionary; splits joined words.

    A word is a run of letters, digits and combining marks. It is unchanged if it is known or among
    the accepted words of the dictionary, has a mark or a character without a symbol, fewer than 4
    characters or more than 16, or a letter of a script without spaces. The same holds if it begins
    with two digits, has more digits than letters, or a digit that looks like no letter. Context is
    ignored.

    Args:
        dictionary: The known words; those with a letter without a symbol are skipped.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols of no or
            several code points. Symbols from `num_symbols` on, such as emoji, are between words.
        ops: Operations.

    With `weight_steps`, the batch gets the weights of its words. A space counts as the word after
    it, an unknown word as the word that it is read as, and signs count 1.

    Attributes:
        resources: Lookup tables, which a SavedModel must track.
    """

    def __init__(self, dictionary: Dictionary, code_points: np.ndarray, ops: Ops) -> None:
        self._ops = ops
        letters, splits, kept = spelled(dictionary.words, code_points)
        # All symbols past the end count as this one.
        self._last_symbol = len(code_points)
        self._bits = self._last_symbol.bit_length()
        # Letters of a window, a power of two: their symbols share an int64.
        self._width = MIN_LETTERS
        if self._width * self._bits >= 64:
            self._width = MIN_LETTERS // 2
        max_windows = math.ceil(MAX_LETTERS / self._width)
        # One factor for the length of a word, and one for each of its windows.
        self._factors = values_of_no_letter(1 + max_windows)
        codes = np.append(code_points, -1)
        read_codes = letter_codes(codes)
        values = letter_values(read_codes)
        self._is_digit = ops.constant(codes != read_codes)
        self._letter_numbers = ops.constant(letter_numbers(read_codes))
        self._values = ops.constant(values)
        self._powers = powers(MAX_LETTERS + 1)
        self._weights = None
        if dictionary.weight_steps is not None:
            # Two more, of no word and of a space.
            of_rows = np.append(kept, [-1, -1])
            steps = dictionary.weight_steps[of_rows].astype(np.int32)
            self._weights = ops.constant(steps)
        self._known = self._known_words(letters, splits)
        patterns = Patterns(values[letters], splits, dictionary.log_counts[kept])
        self._candidates = CandidateTable(patterns, ops)
        self.resources = [self._known, self._candidates.table]
        self._shares = None
        if dictionary.sureness is not None:
            known_codes = read_codes[letters]
            sureness = Sureness(
                dictionary.sureness, known_codes, splits, patterns.log_probabilities
            )
            self._shares = Shares(sureness, ops)
        # Two extra rows: an empty word, `no_word`, and a space.
        [space] = np.flatnonzero(code_points == SPACE)
        num_letters = splits[-1]
        letters_and_space = np.append(letters, np.int32(space))
        all_splits = np.append(splits, [num_letters, num_letters + 1])
        self._letters = Rows(
            ops.constant(letters_and_space),
            ops.constant(all_splits),
        )
        self._accepted_bits = None
        if dictionary.accepted_words is not None:
            self._accepted_bits = ops.constant(dictionary.accepted_words.bits)

    def _known_words(self, letters: np.ndarray, splits: np.ndarray) -> Array:
        """Returns a table of the keys of known words; other keys give -1.

        Only words of a suitable length are looked up, or, for their weights, short ones, too.
        """
        ops = self._ops
        words = np.stack([splits[:-1], splits[1:]], axis=1)
        is_key = is_suitable(words)
        if self._weights is not None:
            # Words that are too short to be corrected have weights, too.
            is_key = np.diff(splits) <= MAX_LETTERS
        rows = np.flatnonzero(is_key)
        symbols = ops.constant(letters)
        keys = self._window_keys(symbols, ops.constant(words[rows]))
        # A table must not be empty.
        keys = np.append(np.asarray(keys), 0)
        rows = np.append(rows, -1).astype(np.int32)
        return ops.Table(keys, rows, -1)

    def __call__(self, batch: Batch, min_share: Array) -> Readings:
        """Corrects the words of a batch whose symbols are `marked`.

        Args:
            batch: The batch.
            min_share: The share that a reading must exceed, float32.
        """
        ops = self._ops
        marked = batch.symbols
        batch = batch._replace(symbols=marked & SYMBOL)
        symbols = ops.minimum(batch.symbols, self._last_symbol)
        words = word_spans(ops, marked > SYMBOL)
        if self._weights is None:
            words = ops.selected(words, is_suitable(words))
        rows = self._known.lookup(self._window_keys(symbols, words))
        is_unknown = rows < 0
        if self._weights is not None:
            is_unknown &= is_suitable(words)
            weights = self._position_weights(words, rows, ops.size(symbols))
            batch = batch._replace(weights=weights)
        unknown = ops.selected(words, is_unknown)
        # A batch without unknown words skips the search for readings.
        return ops.cond(
            ops.size(unknown) > 0,
            lambda: self._corrected(batch, marked, symbols, unknown, min_share),
            lambda: certain(ops, batch),
        )

    def _position_weights(self, words: Array, rows: Array, num_symbols: Array) -> Array:
        """Returns the weight of each position of a batch, int32 `(num_symbols,)`.

        Args:
            words: Starts and ends of all words, int64 `(num_words, 2)`.
            rows: The row of each word; negative for unknown words.
            num_symbols: Number of symbols of the batch.
        """
        ops = self._ops
        no_word = np.int32(self._candidates.no_word)
        known = ops.where(rows < 0, no_word, rows)
        of_words = ops.take(self._weights, known)
        of_others = ops.full_like(of_words, STEPS_PER_WEIGHT, np.int32)
        weights = interleaved(ops, of_others, of_words)
        weights = ops.padded(weights, 0, 1, STEPS_PER_WEIGHT)
        # Each word with the space or sign before it, and the characters between two of them.
        starts = words[:, 0] - 1
        edges = interleaved(ops, starts, words[:, 1])
        end = ops.int64(ops.reshape(num_symbols, [1]))
        edges = ops.concat([edges, end])
        edges_before = ops.padded(edges[:-1], 1, 0)
        lengths = edges - edges_before
        return ops.repeat(weights, lengths)

    def _window_keys(self, symbols: Array, words: Array) -> Array:
        """Returns a key for each word, int64 `(num_words,)`.

        It is a sum over adjacent windows of a few letters; the last windows end with the word. A
        word that is shorter than a window is the first part of one.

        Args:
            symbols: Symbols of letters, int32 `(num_symbols,)`.
            words: Starts and ends of words in `symbols`, int64 `(num_words, 2)`.
        """
        ops = self._ops
        # `windows[i]` packs the symbols `i` to `i + width - 1`; each pass doubles the width.
        windows = symbols
        if self._weights is not None:
            windows = ops.padded(windows, 0, self._width - 1)
        width = 1
        while width < self._width:
            shift = self._bits * width
            if 2 * shift > 31:
                windows = ops.int64(windows)
            moved = ops.shift_left(windows[:-width], shift)
            windows = moved | windows[width:]
            width *= 2
        starts = words[:, 0]
        ends = words[:, 1]
        last_begins = ends - width
        length_factor, *window_factors = self._factors
        # The length tells words apart whose windows are equal because the last ones repeat.
        lengths = ends - starts
        keys = lengths * length_factor
        if self._weights is None:
            for index, factor in enumerate(window_factors):
                begins = ops.minimum(starts + index * width, last_begins)
                window = ops.int64(ops.take(windows, begins))
                keys += window * factor
            return keys
        # The only window of a shorter word has symbols past its end, which are shifted out.
        last_begins = ops.maximum(last_begins, starts)
        num_lost = ops.maximum(width - lengths, 0) * self._bits
        for index, factor in enumerate(window_factors):
            begins = ops.minimum(starts + index * width, last_begins)
            window = ops.int64(ops.take(windows, begins))
            keys += ops.shift_right(window, num_lost) * factor
        return keys

    def _corrected(
        self, batch: Batch, marked: Array, symbols: Array, words: Array, min_share: Array
    ) -> Readings:
        """Corrects unknown words.

        Args:
            batch: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all symbols past the end equal.
            words: Starts and ends of the unknown words, int64 `(num_words, 2)`.
            min_share: The share that a reading must exceed.
        """
        ops = self._ops
        unknown = self._correctable(batch, marked, symbols, words)
        rows, errors = self._candidates.readings(unknown.values, unknown.has_digits)
        no_word = self._candidates.no_word
        shares = ops.full_like(errors, 1, np.float32)
        if self._shares is not None:
            lengths = ops.num_nonzero(unknown.values, axis=1)
            shares = self._shares(unknown.letters, lengths, rows, errors)
        is_found = (rows[:, 0] < no_word) & (shares > min_share)
        words, rows, shares = all_selected(ops, is_found, unknown.words, rows, shares)
        # A space before the second and the third word, if there are any.
        space = np.int32(no_word + 1)
        spaces = ops.where(rows < no_word, space, np.int32(no_word))
        pieces = [
            rows[:, 0],
            spaces[:, 1],
            rows[:, 1],
            spaces[:, 2],
            rows[:, 2],
        ]
        pieces = ops.stack(pieces, axis=1)
        letters, lengths = rows_of(ops, self._letters, pieces)
        starts = words[:, 0]
        ends = words[:, 1]
        weights = None
        if self._weights is not None:
            of_rows = ops.take(self._weights, rows)
            # A space counts as the word after it.
            of_pieces = [of_rows[:, row] for row in (0, 1, 1, 2, 2)]
            of_pieces = ops.stack(of_pieces, axis=1)
            num_letters = ops.take(self._letters.splits, pieces + 1)
            num_letters -= ops.take(self._letters.splits, pieces)
            weights = ops.repeat(
                ops.flattened(of_pieces),
                ops.flattened(num_letters),
            )
            # The word as written, and the space before it, count as its reading.
            of_written = ops.repeat(of_rows[:, 0], ends - starts + 1)
            places = ops.positions(starts - 1, ends)
            written_weights = ops.put(batch.weights, places, of_written)
            batch = batch._replace(weights=written_weights)
        read = replaced(ops, batch, starts, ends, letters, lengths, weights)
        if self._shares is None:
            return certain(ops, read)
        changed, shares = self._by_text(batch, starts, shares)
        written = some_texts(ops, batch, changed)
        return Readings(read, written, changed, shares)

    def _correctable(self, batch: Batch, marked: Array, symbols: Array, words: Array) -> _Unknown:
        """Selects the words that may be read as others.

        Args:
            batch: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all symbols past the end equal.
            words: Starts and ends of the unknown words, int64 `(num_words, 2)`.
        """
        ops = self._ops
        starts = words[:, 0]
        ends = words[:, 1]
        lengths = ends - starts
        # A row of symbols for each word.
        index = np.arange(MAX_LETTERS + 1)
        is_inside = ops.with_axis(lengths, 1) > index
        # Places past the end of a word are masked, but must be in the batch.
        last = ops.size(symbols) - 1
        places = ops.with_axis(starts, 1) + index
        places = ops.minimum(places, last)
        of_words = ops.take(symbols, places)
        marks = ops.take(marked, places)
        marks = ops.masked(marks, is_inside)
        is_digit = ops.take(self._is_digit, of_words) & is_inside
        num_letters = ops.num_nonzero(marks & LETTER, axis=1)
        num_digits = ops.num_nonzero(is_digit, axis=1)
        # All other digits, marks and letters of scripts without spaces count as neither.
        is_word = num_letters + num_digits == lengths
        is_word &= num_letters >= num_digits
        # "50ft" is a number with a unit, and "port0" has a number.
        is_word &= ~ops.all_of(is_digit[:, :2], axis=1)
        is_word &= ~ops.take_each(is_digit, lengths - 1)
        is_word &= ~self._is_joined_by_signs(marked, starts, ends)
        is_capital = (marks & CAPITAL) != 0
        has_capitals = ops.any_of(is_capital[:, 1:], axis=1)
        is_word &= ~self._is_shouted(batch, marked, starts, has_capitals)
        values = ops.take(self._values, of_words)
        values = ops.masked(values, is_inside)
        letters = ops.take(self._letter_numbers, of_words)
        letters = ops.masked(letters, is_inside)
        if self._accepted_bits is not None:
            keys = ops.sum_of(values * self._powers, axis=1)
            is_word &= ~contains(ops, self._accepted_bits, keys)
        has_digits = num_digits > 0
        return _Unknown(*all_selected(ops, is_word, words, values, letters, has_digits))

    def _is_joined_by_signs(self, marked: Array, starts: Array, ends: Array) -> Array:
        """Returns whether words are parts of addresses, paths or identifiers, bool `(num_words,)`.

        Args:
            marked: The symbols of a batch with marks.
            starts: The starts of words, int64 `(num_words,)`.
            ends: Their ends.
        """
        ops = self._ops
        before = ops.take(marked, starts - 1)
        after = ops.take(marked, ends)
        # The space at the end of a batch is followed by itself.
        last = ops.size(marked) - 1
        following = ops.take(marked, ops.minimum(ends + 1, last))
        # A point at the end of a sentence joins nothing.
        is_joined_after = (after < 0) & (following > SYMBOL)
        return (before < 0) | is_joined_after

    def _is_shouted(self, batch: Batch, marked: Array, starts: Array, has_capitals: Array) -> Array:
        """Returns whether words have capitals inside, in a text that has small letters, too.

        Args:
            batch: The batch.
            marked: Its symbols with marks.
            starts: The starts of the words, int64 `(num_words,)`.
            has_capitals: Whether they have capitals after the first letter, bool `(num_words,)`.
        """
        ops = self._ops
        places = ops.positions_of_true(has_capitals)
        rows = self._text_rows(batch, ops.take(starts, places))
        text_starts = ops.take(batch.starts, rows)
        text_ends = ops.take(batch.ends, rows)
        is_small = (marked & SMALL) != 0
        num_small = num_between(ops, is_small, text_starts, text_ends)
        return ops.put(has_capitals, places, num_small > 0)

    def _text_rows(self, batch: Batch, places: Array) -> Array:
        """Returns the row of the text that each place of a batch is in or after, int64."""
        ops = self._ops
        places = ops.like(places, batch.starts)
        num_starts = ops.searchsorted(batch.starts, places, side="right")
        return ops.int64(num_starts) - 1

    def _by_text(self, batch: Batch, starts: Array, shares: Array) -> tuple[Array, Array]:
        """Averages the shares of words by text.

        Args:
            batch: The batch.
            starts: Starts of words, ascending, int64 `(num_words,)`.
            shares: Their shares, float32 `(num_words,)`.

        Returns:
            The rows of the texts with such words, int64 `(num_changed,)`, and their mean shares.
        """
        ops = self._ops
        rows = self._text_rows(batch, starts)
        # Words after the end of a text were cut off.
        ends = ops.int64(ops.take(batch.ends, rows))
        rows, shares = all_selected(ops, starts < ends, rows, shares)
        return ops.means_of_equal(rows, shares)


def word_spans(ops: Ops, in_word: Array) -> Array:
    """Finds the words of a batch.

    Args:
        ops: Operations.
        in_word: Whether each symbol is part of a word, `(num_symbols,)`; the first and the last
            are not.

    Returns:
        The start and the end of each word, int64 `(num_words, 2)`.
    """
    # Words start and end by turns.
    is_edge = in_word[1:] != in_word[:-1]
    edges = ops.positions_of_true(is_edge) + 1
    return ops.reshape(edges, [-1, 2])


class _Unknown(NamedTuple):
    """Unknown words that may be read as others.

    Attributes:
        words: Their starts and ends, int64 `(num_words, 2)`.
        values: The values of their letters, int64 `(num_words, MAX_LETTERS + 1)`, 0 past the end.
        letters: `letter_numbers` of their letters, int32 of the same shape.
        has_digits: Whether they have digits, bool `(num_words,)`.
    """

    words: Array
    values: Array
    letters: Array
    has_digits: Array
