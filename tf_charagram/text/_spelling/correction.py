"""Corrects misspelled words in the graph, without building a string.

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
import tensorflow as tf

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
from tf_charagram.text._spelling.shares import Shares
from tf_charagram.text._spelling.sureness import Sureness, letter_numbers
from tf_charagram.text._spelling.word_filter import NUM_BITS_SET, letter_values, powers
from tf_charagram.text.code_points import SPACE
from tf_charagram.text.keys import mix64
from tf_charagram.text.normalize import FlatTexts, Readings, certain, replaced, some_texts
from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.vectors import between, column, flatnonzero, ragged, selected
from tf_charagram.text.word_boundaries import CAPITAL, LETTER, SMALL, SYMBOL

_SEED = 2016


class WordCorrector:
    """Replaces misspelled words of a batch by words of a dictionary; splits joined words.

    A word is a run of letters, digits and combining marks. It is unchanged if it is known or among
    the accepted words of the dictionary, has a mark or a character without a symbol, fewer than 4
    characters or more than 16, or a letter of a script without spaces. The same holds if it begins
    with two digits, has more digits than letters, or others than 0, 1 and 5. Context is ignored.

    Args:
        dictionary: The known words; those with a letter without a symbol are skipped.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols of no or
            several code points. Symbols from `num_symbols` on, such as emoji, are between words.
    """

    def __init__(self, dictionary: Dictionary, code_points: np.ndarray) -> None:
        letters, splits, kept = spelled(dictionary.words, code_points)
        log_counts = dictionary.log_counts[kept]
        # All symbols past the end count as this one.
        self._last_symbol = len(code_points)
        self._bits = self._last_symbol.bit_length()
        # Letters of a window, a power of two: their symbols share an int64.
        self._width = MIN_LETTERS
        if self._width * self._bits >= 64:
            self._width = MIN_LETTERS // 2
        max_windows = math.ceil(MAX_LETTERS / self._width)
        # One factor for the length of a word, and one for each of its windows.
        random = np.random.default_rng(_SEED)
        self._factors = random.integers(1, 2**63, 1 + max_windows, np.int64)
        codes = np.append(code_points, -1)
        read_codes = letter_codes(codes)
        is_digit = codes != read_codes
        values = letter_values(read_codes)
        # Tensors: a constant in each function would be saved with each.
        self._is_digit = tf.constant(is_digit)
        self._letter_numbers = tf.constant(letter_numbers(read_codes))
        self._values = tf.constant(values)
        self._powers = powers(MAX_LETTERS + 1)
        self._known = self._known_words(letters, splits)
        patterns = Patterns(values[letters], splits, log_counts)
        self._candidates = CandidateTable(patterns)
        self._shares = None
        if dictionary.sureness is not None:
            known_codes = read_codes[letters]
            self._shares = Shares(
                Sureness(dictionary.sureness, known_codes, splits, patterns.log_probabilities)
            )
        # Two extra rows: an empty word, `no_word`, and a space.
        space = np.flatnonzero(code_points == SPACE)
        letters = np.append(letters, space.astype(np.int32))
        num_letters = splits[-1]
        splits = np.append(splits, [num_letters, num_letters + 1])
        self._letters = ragged(tf.constant(letters), tf.constant(splits))
        self._accepted_bits = None
        if dictionary.accepted_words is not None:
            self._accepted_bits = tf.constant(dictionary.accepted_words.bits)

    def _known_words(self, letters: np.ndarray, splits: np.ndarray) -> LookupTable:
        """Returns a table of the keys of known words of a suitable length; other keys give -1."""
        starts = splits[:-1]
        ends = splits[1:]
        words = np.stack([starts, ends], axis=1)
        rows = np.flatnonzero(is_suitable(words))
        suitable = tf.constant(words[rows])
        symbols = tf.constant(letters)
        keys = self._window_keys(symbols, suitable)
        # A table must not be empty.
        keys = tf.concat([keys, [0]], axis=0)
        rows = np.append(rows, -1)
        return LookupTable(keys, rows.astype(np.int32), -1)

    @property
    def resources(self) -> list[LookupTable]:
        """Lookup tables, which a SavedModel must track."""
        return [self._known, self._candidates.table]

    def __call__(self, texts: FlatTexts, min_share: tf.Tensor) -> Readings:
        """Corrects the words of a batch whose symbols are `marked`.

        Args:
            texts: The batch.
            min_share: The share that a reading must exceed, float32.
        """
        marked = texts.symbols
        texts = texts._replace(symbols=marked & SYMBOL)
        symbols = tf.minimum(texts.symbols, self._last_symbol)
        words = _word_spans(marked > SYMBOL)
        words = selected(words, is_suitable(words))
        keys = self._window_keys(symbols, words)
        rows = self._known.lookup(keys)
        unknown = selected(words, rows < 0)
        # A batch without unknown words skips the search for readings.
        return tf.cond(
            tf.size(unknown) > 0,
            lambda: self._corrected(texts, marked, symbols, unknown, min_share),
            lambda: certain(texts),
        )

    def _window_keys(self, symbols: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        """Returns a key for each word, int64 `(num_words,)`.

        It is a sum over adjacent windows of a few letters; the last windows end with the word.

        Args:
            symbols: Symbols of letters, `(num_symbols,)`.
            words: Starts and ends of words in `symbols`, int64 `(num_words, 2)`.
        """
        # `windows[i]` packs the symbols `i` to `i + width - 1`; each pass doubles the width.
        windows = symbols
        width = 1
        while width < self._width:
            shift = self._bits * width
            if 2 * shift > 31:
                windows = tf.cast(windows, tf.int64)
            first_halves = tf.bitwise.left_shift(windows[:-width], shift)
            windows = first_halves | windows[width:]
            width *= 2
        starts, ends = tf.unstack(words, axis=1)
        last_begins = ends - width
        length_factor, *window_factors = self._factors
        # The length tells words apart whose windows are equal because the last ones repeat.
        keys = (ends - starts) * length_factor
        for index, factor in enumerate(window_factors):
            begins = tf.minimum(starts + index * width, last_begins)
            letters = tf.gather(windows, begins)
            keys += tf.cast(letters, tf.int64) * factor
        return keys

    def _corrected(
        self,
        texts: FlatTexts,
        marked: tf.Tensor,
        symbols: tf.Tensor,
        words: tf.Tensor,
        min_share: tf.Tensor,
    ) -> Readings:
        """Corrects unknown words.

        Args:
            texts: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all symbols past the end equal.
            words: Starts and ends of the unknown words, int64 `(num_words, 2)`.
            min_share: The share that a reading must exceed.
        """
        unknown = self._correctable(texts, marked, symbols, words)
        rows, errors = self._candidates.readings(unknown.values, unknown.has_digits)
        no_word = self._candidates.no_word
        space = no_word + 1
        shares = tf.ones(tf.shape(errors))
        if self._shares is not None:
            lengths = tf.math.count_nonzero(unknown.values, axis=1)
            shares = self._shares(unknown.letters, lengths, rows, errors)
        is_found = (rows[:, 0] < no_word) & (shares > min_share)
        words = selected(unknown.words, is_found)
        rows = selected(rows, is_found)
        # A space before the second and the third word, if there are any.
        spaces = tf.where(rows < no_word, space, no_word)
        pieces = [
            rows[:, 0],
            spaces[:, 1],
            rows[:, 1],
            spaces[:, 2],
            rows[:, 2],
        ]
        pieces = tf.stack(pieces, axis=1)
        letters = tf.gather(self._letters, pieces)
        joined = letters.merge_dims(1, 2)
        read = replaced(texts, words, joined)
        if self._shares is None:
            return certain(read)
        changed, shares = _by_text(texts, words, selected(shares, is_found))
        return Readings(read, some_texts(texts, changed), changed, shares)

    def _correctable(
        self, texts: FlatTexts, marked: tf.Tensor, symbols: tf.Tensor, words: tf.Tensor
    ) -> _Unknown:
        """Selects the words that may be read as others.

        Args:
            texts: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all symbols past the end equal.
            words: Starts and ends of the unknown words, int64 `(num_words, 2)`.
        """
        starts, ends = tf.unstack(words, axis=1)
        lengths = ends - starts
        # A row of symbols for each word.
        index = np.arange(MAX_LETTERS + 1)
        is_inside = column(lengths) > index
        last = tf.size(symbols, tf.int64) - 1
        places = column(starts) + index
        # Places past the end of a word are masked, but must be in the batch.
        places = tf.minimum(places, last)
        symbols = tf.gather(symbols, places)
        marks = tf.where(is_inside, tf.gather(marked, places), 0)
        is_letter = (marks & LETTER) != 0
        is_digit = tf.gather(self._is_digit, symbols)
        is_digit &= is_inside
        num_letters = tf.math.count_nonzero(is_letter, axis=1)
        num_digits = tf.math.count_nonzero(is_digit, axis=1)
        # All other digits, marks and letters of scripts without spaces count as neither.
        is_word = num_letters + num_digits == lengths
        is_word &= num_letters >= num_digits
        # "50ft" is a number with a unit, and "port0" has a number.
        is_word &= ~tf.reduce_all(is_digit[:, :2], axis=1)
        last_symbols = tf.gather(symbols, lengths - 1, batch_dims=1)
        is_word &= ~tf.gather(self._is_digit, last_symbols)
        is_word &= ~_is_joined_by_signs(marked, starts, ends)
        capitals = (marks[:, 1:] & CAPITAL) != 0
        is_word &= ~_is_shouted(texts, marked, starts, tf.reduce_any(capitals, axis=1))
        values = tf.gather(self._values, symbols)
        values = tf.where(is_inside, values, 0)
        letters = tf.gather(self._letter_numbers, symbols)
        letters = tf.where(is_inside, letters, 0)
        if self._accepted_bits is not None:
            keys = tf.reduce_sum(values * self._powers, axis=1)
            is_word &= ~_is_accepted(self._accepted_bits, keys)
        return _Unknown(
            selected(words, is_word),
            selected(values, is_word),
            selected(letters, is_word),
            selected(num_digits > 0, is_word),
        )


class _Unknown(NamedTuple):
    """Unknown words that may be read as others.

    Attributes:
        words: Their starts and ends, int64 `(num_words, 2)`.
        values: The values of their letters, int64 `(num_words, MAX_LETTERS + 1)`, 0 past the end.
        letters: `letter_numbers` of their letters, int32 of the same shape.
        has_digits: Whether they have digits, bool `(num_words,)`.
    """

    words: tf.Tensor
    values: tf.Tensor
    letters: tf.Tensor
    has_digits: tf.Tensor


def _is_joined_by_signs(marked: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor) -> tf.Tensor:
    """Returns whether words are parts of addresses, paths or identifiers, bool `(num_words,)`.

    Args:
        marked: The symbols of a batch with marks.
        starts: The starts of words, int64 `(num_words,)`.
        ends: Their ends.
    """
    last = tf.size(marked, tf.int64) - 1
    before = tf.gather(marked, starts - 1)
    after = tf.gather(marked, ends)
    following = tf.gather(marked, tf.minimum(ends + 1, last))
    # A point at the end of a sentence joins nothing.
    return (before < 0) | ((after < 0) & (following > SYMBOL))


def _is_shouted(
    texts: FlatTexts, marked: tf.Tensor, starts: tf.Tensor, has_capitals: tf.Tensor
) -> tf.Tensor:
    """Returns whether words have capitals inside, in a text that has small letters, too.

    Args:
        texts: The batch.
        marked: Its symbols with marks.
        starts: The starts of the words, int64 `(num_words,)`.
        has_capitals: Whether they have capitals after the first letter, bool `(num_words,)`.
    """
    places = flatnonzero(has_capitals)
    rows = _text_rows(texts, tf.gather(starts, places))
    chars = between(marked, tf.gather(texts.starts, rows), tf.gather(texts.ends, rows))
    is_small = chars.with_values((chars.values & SMALL) != 0)
    has_small = tf.reduce_any(is_small, axis=1)
    return tf.tensor_scatter_nd_update(has_capitals, column(places), has_small)


def _text_rows(texts: FlatTexts, places: tf.Tensor) -> tf.Tensor:
    """Returns the row of the text that each place of a batch is in or after, int64."""
    places = tf.cast(places, tf.int32)
    return tf.searchsorted(texts.starts, places, side="right", out_type=tf.int64) - 1


def _by_text(texts: FlatTexts, words: tf.Tensor, shares: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Averages the shares of words by text.

    Args:
        texts: The batch.
        words: Starts and ends of words, ascending, int64 `(num_words, 2)`.
        shares: Their shares, float32 `(num_words,)`.

    Returns:
        The rows of the texts with such words, int64 `(num_changed,)`, and their mean shares.
    """
    starts = words[:, 0]
    rows = _text_rows(texts, starts)
    # Words after the end of a text were cut off.
    ends = tf.gather(texts.ends, rows)
    is_inside = starts < tf.cast(ends, tf.int64)
    rows, index = tf.unique(selected(rows, is_inside))
    return rows, tf.math.segment_mean(selected(shares, is_inside), index)


def _word_spans(in_word: tf.Tensor) -> tf.Tensor:
    """Finds the words of a batch.

    Args:
        in_word: Whether each symbol is part of a word, `(num_symbols,)`; the first and the last
            are not.

    Returns:
        The start and the end of each word, int64 `(num_words, 2)`.
    """
    # Words start and end by turns.
    edges = flatnonzero(in_word[1:] != in_word[:-1]) + 1
    return tf.reshape(edges, [-1, 2])


def _is_accepted(bits: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
    """Returns whether a `WordFilter` contains words, bool `(num_words,)`.

    Args:
        bits: Its bits, uint8 `(num_bytes,)`.
        keys: int64 `(num_words,)`, for each word the sum over its letters of
            `letter_values(letter) * powers(size)[place]`.
    """
    mixed = mix64(tf.bitcast(keys, tf.uint64))
    # Both halves of the mixed key serve as hashes.
    high = tf.bitwise.right_shift(mixed, np.uint64(32))
    low = mixed & np.uint64(2**32 - 1)
    first = tf.cast(high, tf.int64)
    step = tf.cast(low, tf.int64)
    # An even step may return to the same bits.
    step |= 1
    index = np.arange(NUM_BITS_SET)
    places = column(first) + column(step) * index
    places %= 8 * tf.size(bits, tf.int64)
    # A place is eight times a byte plus a bit of it.
    byte = places // 8
    bit = tf.cast(places % 8, tf.uint8)
    mask = tf.bitwise.left_shift(np.uint8(1), bit)
    found = tf.gather(bits, byte) & mask
    return tf.reduce_all(found != 0, axis=1)
