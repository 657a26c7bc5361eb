"""Finds the words that an unknown word may stand for, and the most probable of them.

The noisy channel model of spelling (Kernighan, Church & Gale 1990) chooses: the frequency of the
word times that of the error. Joined words must be more probable than a word outside the dictionary.

The key of a word is a polynomial of its letters modulo 2^64, so that prefix sums give the keys of
all its parts and candidates. A table of keys holds each word and its patterns, in which one letter
is a wildcard: the wildcard in place of a letter finds a wrong one, between two letters a missing
one.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.word_filter import BASE, letter_values, powers, powers_by_place, signed

#: Only words of these lengths are read as others: short ones have too many neighbors, and a typo
#: changes few of the n-grams of long ones.
MIN_LETTERS, MAX_LETTERS = 4, 16

#: Binary logarithms of the probability of a typo relative to that of a given wrong letter, per
#: position, from the 61,615 misspellings of codespell and typos with a single typo. DOUBLED is an
#: extra letter equal to the one before.
WRONG, MISSING, ADDED, DOUBLED, SWAPPED = 0.0, 5.1, -0.2, 3.3, 5.0
#: Added for typos of the first letter.
FIRST_LETTER = -2.0
#: The same for a word without its vowels, with letters or digits that look alike, and for two or
#: three words without the spaces between them.
VARIANT, JOINED = 0.0, 3.0
VOWELS = "aeiou"
LOOK_ALIKE = (("rn", "m"), ("cl", "d"), ("vv", "w"))
#: Digits, and the letters that they look like.
DIGITS = {"0": "o", "1": "l", "5": "s"}
#: Binary logarithm of the probability of a word outside the dictionary, such as a name: this, and
#: this for each letter. Chosen on SICK and the headlines of STS 2013 with joined words.
UNKNOWN_WORD, UNKNOWN_LETTER = -7.5, -2.25

_SEED = 2016
# The most frequent words: others are seldom written that way, and loading takes time.
_NUM_WITH_VARIANTS = 30_000


class CandidateTable:
    """Finds the most probable readings of unknown words.

    Args:
        values: Random values of the letters of all words, see `letter_values`, int64. A word has at
            most `MAX_LETTERS + 1` letters.
        splits: Row splits of the words, the most frequent first, int64 `(num_words + 1,)`.
        log_counts: Binary logarithms of their counts, float32 `(num_words,)`.

    Attributes:
        no_word: The row of the empty word, `num_words`.
        table: The table from keys to rows.
    """

    def __init__(
        self,
        values: NDArray[np.int64],
        splits: NDArray[np.int64],
        log_counts: NDArray[np.float32],
    ) -> None:
        self.no_word = len(log_counts)
        self._missing = self.no_word + 1
        self._powers = powers(MAX_LETTERS + 2)
        self._inverses = np.array([signed(pow(BASE, -n, 2**64)) for n in range(MAX_LETTERS + 2)])
        random = np.random.default_rng(_SEED)
        self._wildcard, self._no_vowels, self._look_alike = random.integers(1, 2**63, 3)
        total = np.log2(max(np.exp2(log_counts.astype(np.float64)).sum(), 1.0))
        # The empty word is certain. A tensor: a constant in each function would be saved with each.
        self._log_probabilities = tf.constant(
            np.append(log_counts - total, [0, -np.inf]), tf.float32
        )
        self._key_mask = -1 << len(log_counts).bit_length()
        keys, rows = self._pattern_keys(values, splits)
        self.table = LookupTable(
            np.append(keys, 0), np.append(rows, self.no_word).astype(np.int32), self._missing
        )

    def _pattern_keys(
        self, values: NDArray[np.int64], splits: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the keys of words and of their patterns, and the rows of the words."""
        lengths = np.diff(splits)
        factors = powers_by_place(lengths)
        sums = np.concatenate([[0], np.cumsum(values * factors)])
        words = sums[splits[1:]] - sums[splits[:-1]]
        patterns = np.repeat(words, lengths) + (self._wildcard - values) * factors
        few = splits[: _NUM_WITH_VARIANTS + 1]
        skeletons, skeleton_rows = _without_vowels(values[: few[-1]], few)
        likes, like_rows = _look_alikes(values[: few[-1]], factors[: few[-1]], few)
        variants = [skeletons + self._no_vowels, likes + self._look_alike]
        keys = np.concatenate([words, patterns, *variants])
        rows = np.arange(len(lengths))
        rows = np.concatenate([rows, np.repeat(rows, lengths), skeleton_rows, like_rows])
        # The row replaces the lowest bits of a key: integers sort much faster than pairs.
        keys = np.sort((keys & self._key_mask) | rows)
        # Of words with the same pattern, the first one is the most frequent.
        is_first = np.diff(keys & self._key_mask, prepend=0) != 0
        return keys[is_first] & self._key_mask, keys[is_first] & ~self._key_mask

    def readings(self, values: tf.Tensor, has_digits: tf.Tensor) -> tf.Tensor:
        """Returns the most probable reading of each unknown word.

        Args:
            values: Values of the letters, those of digits as of the letters they look like, 0 past
                the end, int64 `(num_unknown, MAX_LETTERS + 1)`.
            has_digits: Whether a word has digits, bool `(num_unknown,)`. It has no other errors
                than letters or digits that look alike.

        Returns:
            The rows of one to three words, the last ones perhaps `no_word`, int32
            `(num_unknown, 3)`. All are `no_word` if a word has no reading.
        """
        rows, scores = self._single_words(values, has_digits)
        best_scores = tf.reduce_max(scores, axis=1)
        rows = tf.gather(rows, tf.argmax(scores, axis=1), batch_dims=1)
        rows = tf.where(best_scores > -np.inf, rows, self.no_word)
        readings = tf.pad(rows[:, tf.newaxis], [[0, 0], [0, 2]], constant_values=self.no_word)
        words, parts, joined_scores = self._joined_words(values, has_digits)
        best_scores = tf.tensor_scatter_nd_max(best_scores, words[:, tf.newaxis], joined_scores)
        is_best = tf.where(joined_scores == tf.gather(best_scores, words))
        return tf.tensor_scatter_nd_update(
            readings, tf.gather(words, is_best), tf.gather_nd(parts, is_best)
        )

    def _lookup(self, keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the rows of words and their log probabilities, -inf for other keys."""
        rows = self.table.lookup(tf.bitwise.bitwise_and(keys, self._key_mask))
        return rows, tf.gather(self._log_probabilities, rows)

    def _single_words(
        self, values: tf.Tensor, has_digits: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the row and the score of each candidate, `(num_unknown, num_candidates)`."""
        shape = [tf.shape(values)[0], 4 * values.shape[1]]
        written = tf.reduce_sum(values * self._powers[: values.shape[1]], axis=1, keepdims=True)
        typos = tf.reshape(self._error_keys(values), shape)
        variants = written + np.array([self._no_vowels, 0, self._look_alike])
        rows, scores = self._lookup(tf.concat([typos, variants], axis=1))
        weights = tf.pad(
            tf.reshape(_error_weights(values), shape), [[0, 0], [0, 1]], constant_values=VARIANT
        )
        weights = tf.where(has_digits[:, tf.newaxis], -np.inf, weights)
        return rows, scores + tf.pad(weights, [[0, 0], [0, 2]], constant_values=VARIANT)

    def _joined_words(
        self, values: tf.Tensor, has_digits: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Finds words that are two or three words without the spaces between them.

        Returns:
            For each such reading the index of the unknown word, int64 `(num_readings,)`; the rows
            of its parts, int32 `(num_readings, 3)`; and its score, float32 `(num_readings,)`.
        """
        width = values.shape[1]
        terms, inverses = values * self._powers[:width], self._inverses[:width]
        before = tf.cumsum(terms, axis=1, exclusive=True)
        behind = tf.reduce_sum(terms, axis=1, keepdims=True) - before
        starts, start_scores = self._lookup(before)
        ends, end_scores = self._lookup(behind * inverses)
        is_letter = tf.not_equal(values, 0)
        length = tf.reduce_sum(tf.cast(is_letter, tf.float32), axis=1)
        least = tf.where(has_digits, np.inf, UNKNOWN_WORD + UNKNOWN_LETTER * length)
        # The first word ends before one place, the last begins there or further on.
        is_possible = is_letter[:, tf.newaxis] & np.triu(np.ones((width, width), bool))
        is_possible &= (np.arange(width) > 0)[:, np.newaxis]
        scores = start_scores[:, :, tf.newaxis] + end_scores[:, tf.newaxis]
        places = tf.where(is_possible & (scores > least[:, tf.newaxis, tf.newaxis]))
        words, first = places[:, 0], places[:, :2]
        last = tf.gather(places, [0, 2], axis=1)
        between = tf.gather_nd(before, last) - tf.gather_nd(before, first)
        middles, middle_scores = self._lookup(between * tf.gather(inverses, places[:, 1]))
        scores = tf.gather_nd(scores, places) + middle_scores
        parts = [tf.gather_nd(starts, first), middles, tf.gather_nd(ends, last)]
        probable = tf.where(scores > tf.gather(least, words))[:, 0]
        return (
            tf.gather(words, probable),
            tf.gather(tf.stack(parts, axis=1), probable),
            tf.gather(scores, probable) + JOINED,
        )

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


def _without_vowels(
    values: NDArray[np.int64], splits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the keys of words without the vowels after the first letter, and their rows.

    At least four letters must be left. Arguments as for `_look_alikes`.
    """
    starts = np.repeat(splits[:-1], np.diff(splits))
    # `np.isin` would sort.
    is_vowel = np.logical_or.reduce([values == vowel for vowel in _values_of(VOWELS)])
    is_kept = ~is_vowel | (np.arange(len(values)) == starts)
    num_kept = np.concatenate([[0], np.cumsum(is_kept)])
    places = num_kept[:-1] - num_kept[starts]
    terms = np.where(is_kept, values * powers(MAX_LETTERS + 2)[places], 0)
    lengths = num_kept[splits[1:]] - num_kept[splits[:-1]]
    rows = np.flatnonzero((lengths >= MIN_LETTERS) & (lengths < np.diff(splits)))
    return np.add.reduceat(terms, splits[:-1])[rows], rows


def _look_alikes(
    values: NDArray[np.int64], factors: NDArray[np.int64], splits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the keys of words with one pair of `LOOK_ALIKE` in place of the other; their rows.

    Args:
        values: Values of the letters of all words.
        factors: Their powers of the base.
        splits: Row splits of the words, `(num_words + 1,)`.
    """
    row_of = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    sums = np.concatenate([[0], np.cumsum(values * factors)])
    before = sums[:-1] - sums[splits[row_of]]
    behind = sums[splits[row_of + 1]] - sums[:-1]
    base, inverse = np.int64(signed(BASE)), np.int64(signed(pow(BASE, -1, 2**64)))
    keys, rows = [], []
    for pair, single in LOOK_ALIKE:
        # Arrays, because NumPy warns if a product of scalars overflows.
        first, second, one = np.split(_values_of(pair + single), 3)
        at = np.flatnonzero(values == one)
        rest = behind[at] - one * factors[at]
        keys.append(before[at] + (first + second * base) * factors[at] + rest * base)
        rows.append(row_of[at])
        at = np.flatnonzero((values[:-1] == first) & (values[1:] == second))
        at = at[row_of[at] == row_of[at + 1]]
        rest = behind[at] - first * factors[at] - second * factors[at + 1]
        keys.append(before[at] + one * factors[at] + rest * inverse)
        rows.append(row_of[at])
    return np.concatenate(keys), np.concatenate(rows)


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
