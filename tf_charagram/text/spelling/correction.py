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
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.text.keys import MAX_CODE_POINT
from tf_charagram.text.normalize import SPACE, FlatTexts, replaced
from tf_charagram.text.spelling.candidates import (
    DIGITS,
    MAX_LETTERS,
    MIN_LETTERS,
    VOWELS,
    CandidateTable,
)
from tf_charagram.text.spelling.dictionary import Dictionary
from tf_charagram.text.spelling.word_filter import joined_codes, letter_values, powers
from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.vectors import column, ragged, selected
from tf_charagram.text.word_boundaries import OTHER, SYMBOL, word_spans

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
        letters, splits, kept = _spelled(dictionary.words, code_points)
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
        letter_codes = _with_letters_for_digits(codes)
        is_digit = codes != letter_codes
        values = letter_values(letter_codes)
        # Tensors: a constant in each function would be saved with each.
        self._is_digit = tf.constant(is_digit)
        self._values = tf.constant(values)
        self._powers = powers(MAX_LETTERS + 1)
        self._known = self._known_words(letters, splits)
        self._candidates = CandidateTable(values[letters], splits, log_counts)
        # Two extra rows: an empty word, `no_word`, and a space.
        space = np.flatnonzero(code_points == SPACE)
        letters = np.append(letters, space.astype(np.int32))
        num_letters = splits[-1]
        splits = np.append(splits, [num_letters, num_letters + 1])
        self._letters = ragged(tf.constant(letters), tf.constant(splits))
        self._accepted_words = dictionary.accepted_words

    def _known_words(self, letters: np.ndarray, splits: np.ndarray) -> LookupTable:
        """Returns a table of the keys of known words of a suitable length; other keys give -1."""
        starts = splits[:-1]
        ends = splits[1:]
        words = np.stack([starts, ends], axis=1)
        rows = np.flatnonzero(_is_suitable(words))
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

    def __call__(self, texts: FlatTexts) -> FlatTexts:
        """Corrects the words of a batch whose symbols are `marked`."""
        marked = texts.symbols
        texts = texts._replace(symbols=marked & SYMBOL)
        symbols = tf.minimum(texts.symbols, self._last_symbol)
        words = word_spans(marked > SYMBOL)
        words = selected(words, _is_suitable(words))
        keys = self._window_keys(symbols, words)
        rows = self._known.lookup(keys)
        unknown = selected(words, rows < 0)
        # A batch without unknown words skips the search for readings.
        return tf.cond(
            tf.size(unknown) > 0,
            lambda: self._corrected(texts, marked, symbols, unknown),
            lambda: texts,
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
        self, texts: FlatTexts, marked: tf.Tensor, symbols: tf.Tensor, words: tf.Tensor
    ) -> FlatTexts:
        """Corrects unknown words.

        Args:
            texts: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all symbols past the end equal.
            words: Starts and ends of the unknown words, int64 `(num_words, 2)`.
        """
        words, values, has_digits = self._correctable(
            marked,
            symbols,
            words,
        )
        rows = self._candidates.readings(values, has_digits)
        no_word = self._candidates.no_word
        space = no_word + 1
        is_found = rows[:, 0] < no_word
        words = selected(words, is_found)
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
        return replaced(texts, words, joined)

    def _correctable(
        self, marked: tf.Tensor, symbols: tf.Tensor, words: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Selects the words that may be read as others.

        Args:
            marked: The symbols of a batch with marks.
            symbols: The symbols of the batch, all symbols past the end equal.
            words: Starts and ends of the unknown words, int64 `(num_words, 2)`.

        Returns:
            Starts and ends of the selected words, int64 `(num_words, 2)`; the values of their
            letters, int64 `(num_words, MAX_LETTERS + 1)`, 0 past the end; and whether they have
            digits, bool `(num_words,)`.
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
        marks = tf.gather(marked, places)
        is_letter = marks < OTHER
        is_letter &= is_inside
        is_digit = tf.gather(self._is_digit, symbols)
        is_digit &= is_inside
        num_letters = tf.math.count_nonzero(is_letter, axis=1)
        num_digits = tf.math.count_nonzero(is_digit, axis=1)
        # All other digits, marks and letters of scripts without spaces count as neither.
        is_word = num_letters + num_digits == lengths
        is_word &= num_letters >= num_digits
        # "50ft" is a number with a unit.
        is_word &= ~tf.reduce_all(is_digit[:, :2], axis=1)
        values = tf.gather(self._values, symbols)
        values = tf.where(is_inside, values, 0)
        if self._accepted_words is not None:
            keys = tf.reduce_sum(values * self._powers, axis=1)
            is_word &= ~self._accepted_words.contains(keys)
        words = selected(words, is_word)
        values = selected(values, is_word)
        has_digits = selected(num_digits > 0, is_word)
        return words, values, has_digits


def _with_letters_for_digits(codes: np.ndarray) -> np.ndarray:
    """Replaces the code points of digits by the letters that they look like."""
    letter_codes = codes.copy()
    for digit, letter in DIGITS.items():
        is_digit = codes == ord(digit)
        letter_codes[is_digit] = ord(letter)
    return letter_codes


def _is_suitable(words: Any) -> Any:
    """Returns whether words have a suitable length, bool `(num_words,)`.

    Args:
        words: Their starts and ends, an array or a tensor `(num_words, 2)`.
    """
    lengths = words[:, 1] - words[:, 0]
    is_long = lengths >= MIN_LETTERS
    is_short = lengths <= MAX_LETTERS
    return is_long & is_short


def _spelled(
    words: list[str], code_points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spells words as symbols, and skips words that no word can be corrected to.

    Args:
        words: The words of a dictionary.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols of no or
            several code points.

    Returns:
        The symbols of all kept words, int32; their row splits, int64; and the indices of the kept
        words.
    """
    codes = joined_codes(words)
    # 0 is no symbol of a letter.
    symbol_of = np.zeros(MAX_CODE_POINT + 1, np.int32)
    [symbols] = np.nonzero(code_points >= 0)
    symbol_of[code_points[symbols]] = symbols
    letters = symbol_of[codes]
    lengths = np.array([len(word) for word in words])
    starts = np.cumsum(lengths) - lengths
    # All letters of a kept word have symbols.
    min_symbols = np.minimum.reduceat(letters, starts)
    is_kept = min_symbols > 0
    is_kept &= lengths <= MAX_LETTERS + 1
    vowels = [ord(vowel) for vowel in VOWELS]
    begins_with_vowel = np.isin(codes[starts], vowels)
    is_single = lengths == 1
    # A single consonant is part of a word, such as "don't".
    is_kept &= ~is_single | begins_with_vowel
    is_kept_letter = np.repeat(is_kept, lengths)
    kept_lengths = lengths[is_kept]
    splits = np.append(0, np.cumsum(kept_lengths))
    return letters[is_kept_letter], splits, np.flatnonzero(is_kept)
