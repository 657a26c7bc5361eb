"""Misspelled words become known ones, in the graph and without building a string.

A word that is not in the dictionary, and one typing error away from a word that is, is read as that
word: a letter may be missing, too many or wrong, or two neighbours swapped. Of several such words
the most probable one is taken, in the noisy channel model of spelling (Kernighan, Church & Gale
1990): how often it occurs, times how often people make the error.

Nearly all words are known, which a key of a few windows of letters tells. The others get a second
key: a polynomial of the letters modulo 2^64, from which the key of what an error makes of a word
follows by sums over its first letters. The table of these keys holds, beside each word, its
patterns, in which any one letter is the wildcard: a wrong letter is found by putting the wildcard
in its place, a missing one by putting it in between.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.text.dictionary import Dictionary
from tf_charagram.text.lookup import LookupTable
from tf_charagram.text.normalize import FlatTexts
from tf_charagram.text.replacement import replaced
from tf_charagram.text.word_characters import OTHER, SYMBOL

#: Words of other lengths are left as they are: short ones have too many neighbours, and an error
#: changes few of the n-grams of long ones.
MIN_LETTERS, MAX_LETTERS = 4, 16

#: Binary logarithms of how much more probable an error is than that a letter becomes one certain
#: other letter: of 61,615 misspellings of codespell and typos that have one error, by the number of
#: places where it could be. A letter is missing, too many, or too many and as the one before.
WRONG, MISSING, ADDED, DOUBLED, SWAPPED = 0.0, 5.1, -0.2, 3.3, 5.0
#: Added to these where the first letter is concerned.
FIRST_LETTER = -2.0

_BASE = 0x5851F42D4C957F2D  # odd, so that it has an inverse
_SEED = 2016


class WordCorrector:
    """Replaces words of a batch that are one typing error away from a word of a dictionary.

    A word is a run of letters, digits and combining marks. It is left as it is if it is known, has
    anything but letters or a character that no symbol stands for, fewer than 4 letters or more than
    16, or a letter of a script without spaces. Nothing but the word itself decides what becomes of
    it.

    Args:
        dictionary: The known words; those with a letter that no symbol stands for are left out.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols that stand for
            none or for several. Symbols from `num_symbols` on, such as emoji, are between words.
    """

    def __init__(self, dictionary: Dictionary, code_points: np.ndarray) -> None:
        letters, splits, kept = _spelled(dictionary.words, code_points)
        # The last symbol is that of all symbols past the end.
        self._last_symbol = len(code_points)
        self._bits = self._last_symbol.bit_length()
        self._width = MIN_LETTERS if MIN_LETTERS * self._bits < 64 else MIN_LETTERS // 2
        random = np.random.default_rng(_SEED)
        self._factors = _random_keys(random, 1 + -(-MAX_LETTERS // self._width))
        [self._wildcard] = _random_keys(random, 1)
        values = _random_keys(random, self._last_symbol + 1)
        # A tensor: a constant in each function would be saved with each.
        self._values = tf.constant(values)
        self._powers = _powers(MAX_LETTERS + 2)
        lengths = np.diff(splits)
        rows = np.flatnonzero((lengths >= MIN_LETTERS) & (lengths <= MAX_LETTERS))
        words = np.stack([splits[rows], splits[rows + 1]], axis=1)
        keys = self._window_keys(tf.constant(letters), tf.constant(words))
        self._known = _table(keys, rows)
        self._key_mask = -1 << len(kept).bit_length()
        self._patterns = _table(*self._pattern_keys(values[letters], splits))
        self._letters = tf.RaggedTensor.from_row_splits(
            tf.constant(letters), tf.constant(splits), validate=False
        )
        self._log_counts = tf.constant(np.append(dictionary.log_counts[kept], np.float32(0)))

    @property
    def resources(self) -> list[LookupTable]:
        """Resources that a SavedModel holds besides the graph: the look-up tables."""
        return [self._known, self._patterns]

    def __call__(self, texts: FlatTexts) -> FlatTexts:
        """Returns the texts with words corrected.

        Args:
            texts: The batch, its symbols `marked`.
        """
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
        """Returns keys that tell words apart, int64 `(num_words,)`.

        They are sums over windows of a few letters, one after the other; the last windows of a word
        end where it does.
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

    def _pattern_keys(
        self, values: np.ndarray, splits: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the keys of words and of their patterns, and the rows of the words.

        Args:
            values: Of the letters of all words, int64.
            splits: Where each word begins, and the last one ends, int64 `(num_words + 1,)`.
        """
        lengths = np.diff(splits)
        powers = self._powers[np.arange(len(values)) - np.repeat(splits[:-1], lengths)]
        sums = np.concatenate([[0], np.cumsum(values * powers)])
        words = sums[splits[1:]] - sums[splits[:-1]]
        patterns = np.repeat(words, lengths) + (self._wildcard - values) * powers
        keys = np.concatenate([words, patterns])
        rows = np.arange(len(lengths))
        rows = np.concatenate([rows, np.repeat(rows, lengths)])
        # The lowest bits of a key make room for its row: numbers sort much faster than pairs.
        keys = np.sort((keys & self._key_mask) | rows)
        # Of words with the same pattern the first, which is the most frequent, stays.
        is_first = np.diff(keys & self._key_mask, prepend=0) != 0
        return keys[is_first] & self._key_mask, keys[is_first] & ~self._key_mask

    def _corrected(
        self, texts: FlatTexts, marked: tf.Tensor, symbols: tf.Tensor, words: tf.Tensor
    ) -> FlatTexts:
        """Corrects those of some words that can be.

        Args:
            texts: The batch.
            marked: Its symbols with marks.
            symbols: Its symbols, all that are no letters of known words the same.
            words: As `_words` returns them.
        """
        starts, ends = tf.unstack(words, axis=1)
        columns = np.arange(MAX_LETTERS + 1)
        places = tf.minimum(starts[:, tf.newaxis] + columns, tf.size(symbols, tf.int64) - 1)
        is_inside = (ends - starts)[:, tf.newaxis] > columns
        is_word = tf.reduce_all((tf.gather(marked, places) < OTHER) | ~is_inside, axis=1)
        values = tf.gather(self._values, tf.gather(symbols, places))
        values = tf.where(is_inside, values, 0)
        keys = tf.bitwise.bitwise_and(self._error_keys(values), self._key_mask)
        rows = self._patterns.lookup(keys)
        scores = tf.gather(self._log_counts, tf.maximum(rows, 0)) + _error_weights(values)
        scores = tf.where(rows >= 0, scores, -np.inf)
        shape = [tf.shape(rows)[0], 4 * len(columns)]
        best = tf.argmax(tf.reshape(scores, shape), axis=1)
        rows = tf.gather(tf.reshape(rows, shape), best, batch_dims=1)
        found = tf.where(is_word & (rows >= 0))[:, 0]
        right = tf.gather(self._letters, tf.gather(rows, found))
        return replaced(texts, tf.gather(words, found), right)

    def _error_keys(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the keys of what words may have been before an error at each place.

        Args:
            values: Of the letters of the words, 0 behind the last, int64 `(num_words, width)`.

        Returns:
            int64 `(num_words, 4, width)`: the letter there is wrong, one is missing before it, it
            is too many, it is swapped with the next. Keys of no word where there is no letter.
        """
        powers = self._powers[: values.shape[1] + 1]
        terms, wildcards = values * powers[:-1], self._wildcard * powers[:-1]
        before = tf.cumsum(terms, axis=1, exclusive=True)
        behind = tf.reduce_sum(terms, axis=1, keepdims=True) - before
        after = behind - terms
        following = tf.pad(values[:, 1:], [[0, 0], [0, 1]])
        swapped = (following - values) * (powers[:-1] - powers[1:])
        return before[:, tf.newaxis] + tf.stack(
            [
                wildcards + after,
                wildcards + behind * _signed(_BASE),
                after * _signed(pow(_BASE, -1, 2**64)),
                behind + swapped,
            ],
            axis=1,
        )


def _error_weights(values: tf.Tensor) -> tf.Tensor:
    """Returns the weight of each error, float32 `(num_words, 4, width)`; as `_error_keys`."""
    is_doubled = values == tf.pad(values[:, :-1], [[0, 0], [1, 0]])
    added = tf.where(is_doubled, DOUBLED, ADDED)
    weights = [tf.fill(tf.shape(added), weight) for weight in (WRONG, MISSING, SWAPPED)]
    weights.insert(2, added)
    at_first = np.zeros(values.shape[1], np.float32)
    at_first[0] = FIRST_LETTER
    return tf.stack(weights, axis=1) + at_first


def _words(in_word: tf.Tensor) -> tf.Tensor:
    """Returns where the words begin and end that are neither too short nor too long.

    Args:
        in_word: Whether each symbol is a part of a word, `(num_symbols,)`; the first and the last
            are not.

    Returns:
        int64 `(num_words, 2)`.
    """
    edges = tf.where(in_word[1:] != in_word[:-1])[:, 0] + 1
    words = tf.reshape(edges, [-1, 2])
    lengths = words[:, 1] - words[:, 0]
    return tf.gather(words, tf.where((lengths >= MIN_LETTERS) & (lengths <= MAX_LETTERS))[:, 0])


def _spelled(
    words: list[str], code_points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns words as symbols.

    Returns:
        The symbols of all words, int32; where each one begins and the last ends, int64; and which
        words these are: those that others can be corrected to, and symbols stand for all letters.
    """
    symbol_of = np.zeros(max(map(ord, set("".join(words)))) + 1, np.int32)
    symbols = np.flatnonzero((code_points >= 0) & (code_points < len(symbol_of)))
    symbol_of[code_points[symbols]] = symbols
    lengths = np.array([*map(len, words)])
    letters = symbol_of[np.frombuffer("".join(words).encode("utf-32-le"), "<u4")]
    is_kept = np.minimum.reduceat(letters, np.cumsum(lengths) - lengths) > 0
    is_kept &= (lengths >= MIN_LETTERS - 1) & (lengths <= MAX_LETTERS + 1)
    letters = letters[np.repeat(is_kept, lengths)]
    splits = np.concatenate([[0], np.cumsum(lengths[is_kept])])
    return letters, splits, np.flatnonzero(is_kept)


def _table(keys: tf.Tensor | np.ndarray, rows: np.ndarray) -> LookupTable:
    # A table must not be empty.
    keys = tf.concat([keys, [0]], axis=0)
    rows = tf.concat([tf.cast(rows, tf.int32), [-1]], axis=0)
    return LookupTable(keys, rows, -1)


def _random_keys(random: np.random.Generator, size: int) -> np.ndarray:
    return random.integers(1, 2**63, size, np.int64)


def _powers(size: int) -> np.ndarray:
    """Returns the first powers of the base modulo 2^64, as int64."""
    return np.array([_signed(pow(_BASE, power, 2**64)) for power in range(size)])


def _signed(value: int) -> int:
    """Returns the int64 of the same bits as an unsigned integer below 2^64."""
    return value - 2**64 if value >= 2**63 else value
