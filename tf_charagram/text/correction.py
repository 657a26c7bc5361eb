"""Corrects misspelled words in the graph, without building a string.

A word that is not in the dictionary but one error away from a word that is, is read as that word: a
letter may be missing, extra or wrong, or two adjacent letters swapped; all vowels may be missing,
or a letter may be two that look like it; letters may be digits that look like them. A word may also
be two or three words without the spaces between them.

Nearly all words are known; a key of a few windows of letters looks them up. `CandidateTable` finds
the readings of the others.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.text.candidates import DIGITS, MAX_LETTERS, MIN_LETTERS, VOWELS, CandidateTable
from tf_charagram.text.dictionary import OTHER, SYMBOL, Dictionary
from tf_charagram.text.normalize import SPACE, FlatTexts, replaced
from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.word_filter import letter_values, powers

_SEED = 2016


class WordCorrector:
    """Replaces words of a batch that are misspelled words of a dictionary, or several joined ones.

    A word is a run of letters, digits and combining marks. It is unchanged if it is known or among
    the right words of the dictionary, has a mark or a character without a symbol, fewer than 4
    characters or more than 16, or a letter of a script without spaces. The same holds if it begins
    with two digits, has more digits than letters, or others than 0, 1 and 5. Context is ignored.

    Args:
        dictionary: The known words; those with a letter without a symbol are skipped.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols of no or
            several code points. Symbols from `num_symbols` on, such as emoji, are between words.
    """

    def __init__(self, dictionary: Dictionary, code_points: np.ndarray) -> None:
        letters, splits, kept = _spelled(dictionary.words, code_points)
        # All symbols past the end count as this one.
        self._last_symbol = len(code_points)
        self._bits = self._last_symbol.bit_length()
        self._width = MIN_LETTERS if MIN_LETTERS * self._bits < 64 else MIN_LETTERS // 2
        random = np.random.default_rng(_SEED)
        self._factors = _random_keys(random, 1 + -(-MAX_LETTERS // self._width))
        codes = np.append(code_points, -1)
        letter_codes = codes.copy()
        for digit, letter in DIGITS.items():
            letter_codes[codes == ord(digit)] = ord(letter)
        values = letter_values(letter_codes)
        # Tensors: a constant in each function would be saved with each.
        self._values, self._is_digit = tf.constant(values), tf.constant(codes != letter_codes)
        self._powers = powers(MAX_LETTERS + 1)
        lengths = np.diff(splits)
        rows = np.flatnonzero((lengths >= MIN_LETTERS) & (lengths <= MAX_LETTERS))
        words = np.stack([splits[rows], splits[rows + 1]], axis=1)
        keys = self._window_keys(tf.constant(letters), tf.constant(words))
        self._known = _table(keys, rows)
        self._candidates = CandidateTable(values[letters], splits, dictionary.log_counts[kept])
        # Those of no word and a space follow those of the words.
        space = np.flatnonzero(code_points == SPACE).astype(np.int32)
        self._letters = tf.RaggedTensor.from_row_splits(
            tf.constant(np.append(letters, space)),
            tf.constant(np.append(splits, splits[-1] + [0, 1])),
            validate=False,
        )
        self._right_words = dictionary.right_words

    @property
    def resources(self) -> list[LookupTable]:
        """Lookup tables, which a SavedModel must track."""
        return [self._known, self._candidates.table]

    def __call__(self, texts: FlatTexts) -> FlatTexts:
        """Corrects the words of a batch whose symbols are `marked`."""
        marked = texts.symbols
        texts = texts._replace(symbols=tf.bitwise.bitwise_and(marked, SYMBOL))
        symbols = tf.minimum(texts.symbols, self._last_symbol)
        words = _words(marked > SYMBOL)
        unknown = tf.where(self._known.lookup(self._window_keys(symbols, words)) < 0)[:, 0]
        words = tf.gather(words, unknown)
        return tf.cond(
            tf.size(unknown) > 0,
            lambda: self._corrected(texts, marked, symbols, words),
            lambda: texts,
        )

    def _window_keys(self, symbols: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        """Returns a key for each word, int64 `(num_words,)`.

        It is a sum over adjacent windows of a few letters; the last windows end with the word.
        """
        windows, width = symbols, 1
        while width < self._width:
            shift = self._bits * width
            if 2 * shift > 31:
                windows = tf.cast(windows, tf.int64)
            windows = tf.bitwise.left_shift(windows[:-width], shift) | windows[width:]
            width *= 2
        starts, ends = tf.unstack(words, axis=1)
        keys = (ends - starts) * self._factors[0]
        for index, factor in enumerate(self._factors[1:]):
            begins = tf.minimum(starts + index * width, ends - width)
            keys += tf.cast(tf.gather(windows, begins), tf.int64) * factor
        return keys

    def _corrected(
        self, texts: FlatTexts, marked: tf.Tensor, symbols: tf.Tensor, words: tf.Tensor
    ) -> FlatTexts:
        """Corrects unknown words.

        Args:
            texts: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, those past the end all equal.
            words: The unknown words, see `_words`.
        """
        words, values, has_digits = self._correctable(marked, symbols, words)
        rows = self._candidates.readings(values, has_digits)
        no_word = self._candidates.no_word
        found = tf.where(rows[:, 0] < no_word)[:, 0]
        words, rows = tf.gather(words, found), tf.gather(rows, found)
        spaces = tf.where(rows < no_word, no_word + 1, no_word)
        first, middle, last = tf.unstack(rows, axis=1)
        pieces = tf.stack([first, spaces[:, 1], middle, spaces[:, 2], last], axis=1)
        return replaced(texts, words, tf.gather(self._letters, pieces).merge_dims(1, 2))

    def _correctable(
        self, marked: tf.Tensor, symbols: tf.Tensor, words: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns the words that may be read as others; arguments as for `_corrected`.

        Returns:
            Their starts and ends, int64 `(num_words, 2)`; the values of their letters, see
            `CandidateTable.readings`; and whether they have digits, bool `(num_words,)`.
        """
        starts, ends = tf.unstack(words, axis=1)
        columns = np.arange(MAX_LETTERS + 1)
        places = tf.minimum(starts[:, tf.newaxis] + columns, tf.size(symbols, tf.int64) - 1)
        is_inside = (ends - starts)[:, tf.newaxis] > columns
        symbols = tf.gather(symbols, places)
        is_letter = (tf.gather(marked, places) < OTHER) & is_inside
        is_digit = tf.gather(self._is_digit, symbols) & is_inside
        num_letters, num_digits = (
            tf.math.count_nonzero(part, axis=1) for part in (is_letter, is_digit)
        )
        is_word = (num_letters + num_digits == ends - starts) & (num_letters >= num_digits)
        is_word &= ~(is_digit[:, 0] & is_digit[:, 1])  # "50ft"
        values = tf.where(is_inside, tf.gather(self._values, symbols), 0)
        if self._right_words is not None:
            is_word &= ~self._right_words.contains(tf.reduce_sum(values * self._powers, axis=1))
        kept = tf.where(is_word)[:, 0]
        return tf.gather(words, kept), tf.gather(values, kept), tf.gather(num_digits > 0, kept)


def _words(in_word: tf.Tensor) -> tf.Tensor:
    """Returns starts and ends of the words of a suitable length, int64 `(num_words, 2)`.

    Args:
        in_word: Whether each symbol is part of a word, `(num_symbols,)`; the first and the last
            are not.
    """
    edges = tf.where(in_word[1:] != in_word[:-1])[:, 0] + 1
    words = tf.reshape(edges, [-1, 2])
    lengths = words[:, 1] - words[:, 0]
    return tf.gather(words, tf.where((lengths >= MIN_LETTERS) & (lengths <= MAX_LETTERS))[:, 0])


def _spelled(
    words: list[str], code_points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spells words as symbols, except for those that no word can be corrected to.

    Returns:
        The symbols of all kept words, int32; their row splits, int64; and the indices of the kept
        words.
    """
    symbol_of = np.zeros(max(map(ord, set("".join(words)))) + 1, np.int32)
    symbols = np.flatnonzero((code_points >= 0) & (code_points < len(symbol_of)))
    symbol_of[code_points[symbols]] = symbols
    lengths = np.array([*map(len, words)])
    starts = np.cumsum(lengths) - lengths
    codes = np.frombuffer("".join(words).encode("utf-32-le"), "<u4")
    letters = symbol_of[codes]
    is_kept = (np.minimum.reduceat(letters, starts) > 0) & (lengths <= MAX_LETTERS + 1)
    # A single consonant is part of a word, such as "don't".
    is_kept &= (lengths > 1) | np.isin(codes[starts], [*map(ord, VOWELS)])
    letters = letters[np.repeat(is_kept, lengths)]
    splits = np.concatenate([[0], np.cumsum(lengths[is_kept])])
    return letters, splits, np.flatnonzero(is_kept)


def _table(keys: tf.Tensor | np.ndarray, rows: np.ndarray) -> LookupTable:
    # Tables must not be empty.
    keys = tf.concat([keys, [0]], axis=0)
    rows = tf.concat([tf.cast(rows, tf.int32), [-1]], axis=0)
    return LookupTable(keys, rows, -1)


def _random_keys(random: np.random.Generator, size: int) -> np.ndarray:
    return random.integers(1, 2**63, size, np.int64)
