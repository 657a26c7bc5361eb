"""Corrects misspelled words in the graph, without building a string.

A word that is not in the dictionary but one typo away from a word that is, is read as that word: a
letter may be missing, extra or wrong, or two adjacent letters swapped; all vowels may be missing,
or a letter may be two that look like it. Among several candidates, the noisy channel model of
spelling (Kernighan, Church & Gale 1990) chooses: the frequency of the word times that of the typo.

Nearly all words are known; a key of a few windows of letters looks them up. The others get a second
key: a polynomial of the letters modulo 2^64, so that prefix sums give the keys of all candidates.
The table of these keys holds each word and its patterns, in which one letter is a wildcard: the
wildcard in place of a letter finds a wrong one, between two letters a missing one.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.text.dictionary import OTHER, SYMBOL, Dictionary
from tf_charagram.text.normalize import FlatTexts, replaced
from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.word_filter import BASE, letter_values, powers, powers_by_place, signed

#: Only words of these lengths are corrected: short ones have too many neighbors, and a typo changes
#: few of the n-grams of long ones.
MIN_LETTERS, MAX_LETTERS = 4, 16

#: Binary logarithms of the probability of a typo relative to that of a given wrong letter, per
#: position, from the 61,615 misspellings of codespell and typos with a single typo. DOUBLED is an
#: extra letter equal to the one before.
WRONG, MISSING, ADDED, DOUBLED, SWAPPED = 0.0, 5.1, -0.2, 3.3, 5.0
#: Added for typos of the first letter.
FIRST_LETTER = -2.0
#: The same for a word without its vowels, or with letters that look alike.
VARIANT = 0.0
VOWELS = "aeiou"
LOOK_ALIKE = (("rn", "m"), ("cl", "d"), ("vv", "w"))

_SEED = 2016
# The most frequent words: others are seldom written that way, and loading takes time.
_NUM_WITH_VARIANTS = 30_000


class WordCorrector:
    """Replaces words of a batch that are one typo away from a word of a dictionary.

    A word is a run of letters, digits and combining marks. It is unchanged if it is known or among
    the right words of the dictionary, has a digit, a mark or a character without a symbol, fewer
    than 4 letters or more than 16, or a letter of a script without spaces. Context is ignored.

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
        self._wildcard, self._variant = _random_keys(random, 2)
        values = letter_values(np.append(code_points, -1))
        # A tensor: a constant in each function would be saved with each.
        self._values = tf.constant(values)
        self._powers = powers(MAX_LETTERS + 2)
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
        self._right_words = dictionary.right_words
        self._log_counts = tf.constant(np.append(dictionary.log_counts[kept], np.float32(0)))

    @property
    def resources(self) -> list[LookupTable]:
        """Lookup tables, which a SavedModel must track."""
        return [self._known, self._patterns]

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

    def _pattern_keys(
        self, values: np.ndarray, splits: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the keys of words and of their patterns, and the rows of the words.

        Args:
            values: Random values of the letters of all words, int64.
            splits: Row splits of the words, int64 `(num_words + 1,)`.
        """
        lengths = np.diff(splits)
        factors = powers_by_place(lengths)
        sums = np.concatenate([[0], np.cumsum(values * factors)])
        words = sums[splits[1:]] - sums[splits[:-1]]
        patterns = np.repeat(words, lengths) + (self._wildcard - values) * factors
        few = splits[: _NUM_WITH_VARIANTS + 1]
        variants, variant_rows = _variants(values[: few[-1]], factors[: few[-1]], few)
        keys = np.concatenate([words, patterns, variants + self._variant])
        rows = np.arange(len(lengths))
        rows = np.concatenate([rows, np.repeat(rows, lengths), variant_rows])
        # The row replaces the lowest bits of a key: integers sort much faster than pairs.
        keys = np.sort((keys & self._key_mask) | rows)
        # Of words with the same pattern, the first one is the most frequent.
        is_first = np.diff(keys & self._key_mask, prepend=0) != 0
        return keys[is_first] & self._key_mask, keys[is_first] & ~self._key_mask

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
        starts, ends = tf.unstack(words, axis=1)
        columns = np.arange(MAX_LETTERS + 1)
        places = tf.minimum(starts[:, tf.newaxis] + columns, tf.size(symbols, tf.int64) - 1)
        is_inside = (ends - starts)[:, tf.newaxis] > columns
        is_word = tf.reduce_all((tf.gather(marked, places) < OTHER) | ~is_inside, axis=1)
        values = tf.gather(self._values, tf.gather(symbols, places))
        values = tf.where(is_inside, values, 0)
        written = tf.reduce_sum(values * self._powers[: values.shape[1]], axis=1)
        if self._right_words is not None:
            is_word &= ~self._right_words.contains(written)
        wrong = tf.where(is_word)[:, 0]
        words, values, written = (tf.gather(part, wrong) for part in (words, values, written))
        shape = [tf.size(wrong), 4 * len(columns)]
        keys = tf.reshape(self._error_keys(values), shape)
        keys = tf.concat([keys, (written + self._variant)[:, tf.newaxis]], axis=1)
        rows = self._patterns.lookup(tf.bitwise.bitwise_and(keys, self._key_mask))
        weights = tf.pad(
            tf.reshape(_error_weights(values), shape), [[0, 0], [0, 1]], constant_values=VARIANT
        )
        scores = tf.gather(self._log_counts, tf.maximum(rows, 0)) + weights
        best = tf.argmax(tf.where(rows >= 0, scores, -np.inf), axis=1)
        rows = tf.gather(rows, best, batch_dims=1)
        found = tf.where(rows >= 0)[:, 0]
        right = tf.gather(self._letters, tf.gather(rows, found))
        return replaced(texts, tf.gather(words, found), right)

    def _error_keys(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the keys of the words that a typo at each position may stem from.

        Args:
            values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

        Returns:
            int64 `(num_words, 4, width)`: the letter is wrong, one is missing before it, it is
            extra, it is swapped with the next. Past the end, keys match no word.
        """
        factors = self._powers[: values.shape[1] + 1]
        terms, wildcards = values * factors[:-1], self._wildcard * factors[:-1]
        before = tf.cumsum(terms, axis=1, exclusive=True)
        behind = tf.reduce_sum(terms, axis=1, keepdims=True) - before
        after = behind - terms
        following = tf.pad(values[:, 1:], [[0, 0], [0, 1]])
        swapped = (following - values) * (factors[:-1] - factors[1:])
        return before[:, tf.newaxis] + tf.stack(
            [
                wildcards + after,
                wildcards + behind * signed(BASE),
                after * signed(pow(BASE, -1, 2**64)),
                behind + swapped,
            ],
            axis=1,
        )


def _variants(
    values: np.ndarray, factors: np.ndarray, splits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the keys of other ways to write words, and the rows of the words.

    A word without its vowels, but with its first letter, if four letters are left; and with one
    pair of `LOOK_ALIKE` letters in the place of the other.

    Args:
        values: Values of the letters of all words, int64.
        factors: Their powers of the base.
        splits: Row splits of the words, int64 `(num_words + 1,)`.
    """
    row_of = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    starts = splits[row_of]
    sums = np.concatenate([[0], np.cumsum(values * factors)])
    before = sums[:-1] - sums[starts]
    behind = sums[splits[row_of + 1]] - sums[:-1]
    # `np.isin` would sort.
    is_vowel = np.logical_or.reduce([values == vowel for vowel in _values_of(VOWELS)])
    is_kept = ~is_vowel | (np.arange(len(values)) == starts)
    num_kept = np.concatenate([[0], np.cumsum(is_kept)])
    places = num_kept[:-1] - num_kept[starts]
    terms = np.where(is_kept, values * powers(MAX_LETTERS + 2)[places], 0)
    lengths = num_kept[splits[1:]] - num_kept[splits[:-1]]
    rows = np.flatnonzero((lengths >= MIN_LETTERS) & (lengths < np.diff(splits)))
    keys, all_rows = [np.add.reduceat(terms, splits[:-1])[rows]], [rows]
    base, inverse = np.int64(signed(BASE)), np.int64(signed(pow(BASE, -1, 2**64)))
    for pair, single in LOOK_ALIKE:
        # Arrays, because NumPy warns if a product of scalars overflows.
        first, second, one = np.split(_values_of(pair + single), 3)
        at = np.flatnonzero(values == one)
        rest = behind[at] - one * factors[at]
        keys.append(before[at] + (first + second * base) * factors[at] + rest * base)
        all_rows.append(row_of[at])
        at = np.flatnonzero((values[:-1] == first) & (values[1:] == second))
        at = at[row_of[at] == row_of[at + 1]]
        rest = behind[at] - first * factors[at] - second * factors[at + 1]
        keys.append(before[at] + one * factors[at] + rest * inverse)
        all_rows.append(row_of[at])
    return np.concatenate(keys), np.concatenate(all_rows)


def _values_of(letters: str) -> np.ndarray:
    return letter_values(np.array([*map(ord, letters)]))


def _error_weights(values: tf.Tensor) -> tf.Tensor:
    """Returns the weight of each typo, float32 `(num_words, 4, width)`, see `_error_keys`."""
    is_doubled = values == tf.pad(values[:, :-1], [[0, 0], [1, 0]])
    added = tf.where(is_doubled, DOUBLED, ADDED)
    weights = [tf.fill(tf.shape(added), weight) for weight in (WRONG, MISSING, SWAPPED)]
    weights.insert(2, added)
    at_first = np.zeros(values.shape[1], np.float32)
    at_first[0] = FIRST_LETTER
    return tf.stack(weights, axis=1) + at_first


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
    letters = symbol_of[np.frombuffer("".join(words).encode("utf-32-le"), "<u4")]
    is_kept = np.minimum.reduceat(letters, np.cumsum(lengths) - lengths) > 0
    is_kept &= (lengths >= MIN_LETTERS - 1) & (lengths <= MAX_LETTERS + 1)
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
