"""Finds the words that an unknown word may stand for, and the most probable of them.

The noisy channel model of spelling (Kernighan, Church & Gale 1990) chooses: the frequency of the
word times the frequency of the error. Joined words must be more probable than a word outside the
dictionary.

The key of a word is a polynomial of its letters modulo 2^64, so that prefix sums give the keys of
all its parts and candidates. A table of keys holds each word and its patterns, in which one letter
is a wildcard: the wildcard in place of a letter finds a wrong letter, between two letters a missing
letter.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.text.keys import signed
from tf_charagram.text.spelling.word_filter import (
    BASE,
    letter_values,
    powers,
    powers_by_place,
)
from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.vectors import column, selected

#: Only words of these lengths are read as others: short ones have too many neighbors, and a typo
#: changes few of the n-grams of long ones.
MIN_LETTERS = 4
MAX_LETTERS = 16

# Binary logarithms of the probability of a typo relative to a wrong letter, per position, from the
# 61,615 misspellings of codespell and typos with a single typo. _DOUBLED is an extra letter equal
# to the one before.
_WRONG = 0.0
_MISSING = 5.1
_ADDED = -0.2
_DOUBLED = 3.3
_SWAPPED = 5.0
# Added for typos of the first letter.
_FIRST_LETTER = -2.0
# The same for a word without its vowels, or with letters or digits that look alike.
_VARIANT = 0.0
# The same for two or three words without the spaces between them.
_JOINED = 3.0
VOWELS = "aeiou"
_LOOK_ALIKE = (("rn", "m"), ("cl", "d"), ("vv", "w"))
#: Digits, and the letters that they look like.
DIGITS = {"0": "o", "1": "l", "5": "s"}
# Binary logarithm of the probability of a word outside the dictionary, such as a name: a constant,
# and a term for each letter. Chosen on SICK and the headlines of STS 2013 with joined words.
_UNKNOWN_WORD = -7.5
_UNKNOWN_LETTER = -2.25

_SEED = 2016
# The most frequent words: others are seldom written that way, and loading takes time.
_NUM_WITH_VARIANTS = 30_000
# Multiplying by them moves letters one place to the right or to the left.
_BASE = np.int64(signed(BASE))
_INVERSE = np.int64(signed(pow(BASE, -1, 2**64)))
_NUM_POWERS = MAX_LETTERS + 2
# Wrong, missing, added and swapped letters.
_NUM_KINDS = 4


class CandidateTable:
    """Finds the most probable readings of unknown words.

    Args:
        values: `letter_values` of the letters of all words, int64. A word has at most
            `MAX_LETTERS + 1` letters.
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
        self._powers = powers(_NUM_POWERS)
        inverses = [signed(pow(BASE, -power, 2**64)) for power in range(_NUM_POWERS)]
        self._inverses = np.array(inverses)
        # Added to the key of a pattern, so that it is not the key of a word.
        random = np.random.default_rng(_SEED)
        self._wildcard, self._no_vowels, self._look_alike = random.integers(1, 2**63, 3)
        counts = np.exp2(log_counts.astype(np.float64))
        total_count = max(counts.sum(), 1.0)
        log_shares = log_counts - np.log2(total_count)
        # The empty word is certain, a missing key impossible.
        log_probabilities = np.append(log_shares, [0, -np.inf])
        # A tensor: a constant in each function would be saved with each.
        self._log_probabilities = tf.constant(log_probabilities, tf.float32)
        self._key_mask = -1 << self.no_word.bit_length()
        keys, rows = self._pattern_keys(values, splits)
        # The key of the empty word is 0.
        keys = np.append(keys, 0)
        rows = np.append(rows, self.no_word).astype(np.int32)
        self.table = LookupTable(keys, rows, default=self.no_word + 1)

    def _pattern_keys(
        self, values: NDArray[np.int64], splits: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the keys of words and of their patterns, and the rows of the words."""
        lengths = np.diff(splits)
        factors = powers_by_place(lengths)
        words = np.add.reduceat(values * factors, splits[:-1])
        word_rows = np.arange(len(lengths))
        # A pattern for each letter, which the wildcard replaces.
        wildcards = (self._wildcard - values) * factors
        patterns = np.repeat(words, lengths) + wildcards
        pattern_rows = np.repeat(word_rows, lengths)
        frequent = splits[: _NUM_WITH_VARIANTS + 1]
        num_letters = frequent[-1]
        frequent_values = values[:num_letters]
        frequent_factors = factors[:num_letters]
        skeletons, skeleton_rows = _without_vowels(frequent_values, frequent)
        look_alikes, look_alike_rows = _look_alikes(
            frequent_values,
            frequent_factors,
            frequent,
        )
        keys = np.concatenate(
            [
                words,
                patterns,
                skeletons + self._no_vowels,
                look_alikes + self._look_alike,
            ]
        )
        rows = np.concatenate(
            [
                word_rows,
                pattern_rows,
                skeleton_rows,
                look_alike_rows,
            ]
        )
        # The row replaces the lowest bits of a key: integers sort much faster than pairs.
        pairs = (keys & self._key_mask) | rows
        pairs.sort()
        keys = pairs & self._key_mask
        rows = pairs & ~self._key_mask
        # Of words with the same pattern, the first one is the most frequent.
        is_first = np.diff(keys, prepend=0) != 0
        return keys[is_first], rows[is_first]

    def readings(self, values: tf.Tensor, has_digits: tf.Tensor) -> tf.Tensor:
        """Returns the most probable reading of each unknown word.

        Args:
            values: Values of the letters, int64 `(num_unknown, MAX_LETTERS + 1)`. A digit has the
                value of the letter it looks like; 0 past the end.
            has_digits: Whether a word has digits, bool `(num_unknown,)`. It has no other errors
                than letters or digits that look alike.

        Returns:
            The rows of one to three words, the last ones perhaps `no_word`, int32
            `(num_unknown, 3)`. All are `no_word` if a word has no reading.
        """
        rows, scores = self._single_words(values, has_digits)
        best = tf.argmax(scores, axis=1)
        best_scores = tf.reduce_max(scores, axis=1)
        is_read = best_scores > -np.inf
        best_rows = tf.gather(rows, best, batch_dims=1)
        rows = tf.where(is_read, best_rows, self.no_word)
        no_word = tf.fill(tf.shape(rows), self.no_word)
        readings = tf.stack([rows, no_word, no_word], axis=1)
        # Joined words replace a single word if they are more probable.
        words, parts, joined_scores = self._joined_words(values, has_digits)
        best_scores = tf.tensor_scatter_nd_max(
            best_scores,
            column(words),
            joined_scores,
        )
        is_best = joined_scores == tf.gather(best_scores, words)
        words = selected(words, is_best)
        parts = selected(parts, is_best)
        return tf.tensor_scatter_nd_update(readings, column(words), parts)

    def _lookup(self, keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the rows of words and their log probabilities, -inf for other keys."""
        rows = self.table.lookup(keys & self._key_mask)
        return rows, tf.gather(self._log_probabilities, rows)

    def _single_words(
        self, values: tf.Tensor, has_digits: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the row and the score of each candidate, `(num_unknown, num_candidates)`."""
        width = values.shape[1]
        # Each kind of typo at each letter.
        num_typos = _NUM_KINDS * width
        typos = tf.reshape(self._error_keys(values), [-1, num_typos])
        weights = tf.reshape(_error_weights(values), [-1, num_typos])
        terms = values * self._powers[:width]
        written = tf.reduce_sum(terms, axis=1, keepdims=True)
        keys = [
            typos,
            written + self._no_vowels,
            # Its digits are read as letters; without digits, an unknown word is not in the table.
            written,
            written + self._look_alike,
        ]
        rows, scores = self._lookup(tf.concat(keys, axis=1))
        # A word with digits has neither typos nor missing vowels, only the last two candidates.
        weights = _with_variants(weights, 1)
        weights = tf.where(column(has_digits), -np.inf, weights)
        weights = _with_variants(weights, 2)
        return rows, scores + weights

    def _joined_words(
        self, values: tf.Tensor, has_digits: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Finds words that are two or three words without the spaces between them.

        Returns:
            For each such reading the index of the unknown word, int64 `(num_readings,)`; the rows
            of its parts, int32 `(num_readings, 3)`; and its score, float32 `(num_readings,)`.
        """
        width = values.shape[1]
        inverses = self._inverses[:width]
        terms = values * self._powers[:width]
        before, behind = _split_keys(terms)
        starts, start_scores = self._lookup(before)
        # `behind` counts places from the start of the unknown word, the table from their own start.
        ends, end_scores = self._lookup(behind * inverses)
        min_score = _min_score(values, has_digits)
        # Tables of the places where the first word ends and where the last one begins.
        start_table = tf.expand_dims(start_scores, axis=2)
        end_table = tf.expand_dims(end_scores, axis=1)
        scores = start_table + end_table
        # The middle word makes no reading more probable, so few pairs need it.
        is_probable = scores > tf.reshape(min_score, [-1, 1, 1])
        places = tf.where(_is_possible(values) & is_probable)
        words = places[:, 0]
        first = places[:, :2]
        last = tf.gather(places, [0, 2], axis=1)
        # If the last word begins where the first one ends, the middle is the empty word.
        between = tf.gather_nd(before, last) - tf.gather_nd(before, first)
        to_start = tf.gather(inverses, places[:, 1])
        middles, middle_scores = self._lookup(between * to_start)
        parts = [
            tf.gather_nd(starts, first),
            middles,
            tf.gather_nd(ends, last),
        ]
        parts = tf.stack(parts, axis=1)
        scores = tf.gather_nd(scores, places) + middle_scores
        is_probable = scores > tf.gather(min_score, words)
        words = selected(words, is_probable)
        parts = selected(parts, is_probable)
        scores = selected(scores, is_probable)
        return words, parts, scores + _JOINED

    def _error_keys(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the keys of the words that a typo at each position may stem from.

        Args:
            values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

        Returns:
            int64 `(num_words, 4, width)`: the letter is wrong, a letter is missing before it, it is
            extra, it is swapped with the next. Past the end, keys match no word.
        """
        width = values.shape[1]
        factors = self._powers[:width]
        next_factors = self._powers[1 : width + 1]
        terms = values * factors
        wildcards = self._wildcard * factors
        before, behind = _split_keys(terms)
        # Keys of the letters after each place.
        after = behind - terms
        next_values = tf.pad(values[:, 1:], [[0, 0], [0, 1]])
        # The change of the key if both letters trade places.
        swapped = (next_values - values) * (factors - next_factors)
        # In the order of the weights of `_error_weights`.
        corrected = [
            wildcards + after,
            wildcards + behind * _BASE,
            after * _INVERSE,
            behind + swapped,
        ]
        corrected_keys = tf.stack(corrected, axis=1)
        return tf.expand_dims(before, axis=1) + corrected_keys


def _with_variants(weights: tf.Tensor, number: int) -> tf.Tensor:
    """Appends columns of `_VARIANT`."""
    padding = [[0, 0], [0, number]]
    return tf.pad(weights, padding, constant_values=_VARIANT)


def _min_score(values: tf.Tensor, has_digits: tf.Tensor) -> tf.Tensor:
    """Returns the score that joined words must exceed, float32 `(num_words,)`.

    A word with digits is never joined words.
    """
    is_letter = tf.cast(values != 0, tf.float32)
    length = tf.reduce_sum(is_letter, axis=1)
    of_unknown = _UNKNOWN_WORD + _UNKNOWN_LETTER * length
    return tf.where(has_digits, np.inf, of_unknown)


def _is_possible(values: tf.Tensor) -> tf.Tensor:
    """Returns where the first word may end and the last one begin.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

    Returns:
        bool `(num_words, width, width)`: the first word ends before one place, the last begins
        there or further on.
    """
    width = values.shape[1]
    every = np.ones((width, width), bool)
    is_in_order = np.triu(every)
    # No word is empty.
    is_in_order[0] = False
    is_letter = tf.expand_dims(values != 0, axis=1)
    return is_letter & is_in_order


def _split_keys(terms: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Splits the key of each word at each place.

    Args:
        terms: Values of letters times powers of the base, int64 `(num_words, width)`.

    Returns:
        The keys of the letters before each place, and of the letters from it on, both of the shape
        of `terms`. The latter count places from the start of the word.
    """
    before = tf.cumsum(terms, axis=1, exclusive=True)
    whole = tf.reduce_sum(terms, axis=1, keepdims=True)
    return before, whole - before


def _without_vowels(
    values: NDArray[np.int64], splits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the keys of words without the vowels after the first letter, and their rows.

    At least four letters must be left.

    Args:
        values: Values of the letters of all words.
        splits: Row splits of the words, `(num_words + 1,)`.
    """
    lengths = np.diff(splits)
    starts = splits[:-1]
    is_consonant = np.ones(len(values), bool)
    # `np.isin` would sort.
    for vowel in _values_of(VOWELS):
        is_consonant &= values != vowel
    is_kept = is_consonant
    is_kept[starts] = True
    num_kept = np.append(0, np.cumsum(is_kept))
    # The place of each letter among the kept ones of its word.
    kept_before_word = np.repeat(num_kept[starts], lengths)
    places = num_kept[:-1] - kept_before_word
    factors = powers(_NUM_POWERS)[places]
    terms = np.where(is_kept, values * factors, 0)
    keys = np.add.reduceat(terms, starts)
    kept_lengths = np.diff(num_kept[splits])
    is_shorter = kept_lengths < lengths
    is_enough = kept_lengths >= MIN_LETTERS
    rows = np.flatnonzero(is_enough & is_shorter)
    return keys[rows], rows


def _look_alikes(
    values: NDArray[np.int64], factors: NDArray[np.int64], splits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the keys of words with one pair of `_LOOK_ALIKE` in place of the other; their rows.

    Args:
        values: Values of the letters of all words.
        factors: Their powers of the base.
        splits: Row splits of the words, `(num_words + 1,)`.
    """
    lengths = np.diff(splits)
    word_rows = np.arange(len(lengths))
    row_of = np.repeat(word_rows, lengths)
    terms = values * factors
    sums = np.append(0, np.cumsum(terms))
    at_start = sums[splits[:-1]]
    at_end = sums[splits[1:]]
    # Keys of the letters of a word before each place, and after it.
    before = sums[:-1] - at_start[row_of]
    after = at_end[row_of] - sums[1:]
    is_one_word = row_of[:-1] == row_of[1:]
    keys = []
    rows = []
    for pair, single in _LOOK_ALIKE:
        # Arrays, because NumPy warns if a product of scalars overflows.
        first, second, letter = np.split(_values_of(pair + single), 3)
        # The pair replaces the single letter, and the letters after it move to the right.
        places = np.flatnonzero(values == letter)
        written = first + second * _BASE
        written = written * factors[places]
        rest = after[places] * _BASE
        keys.append(before[places] + written + rest)
        rows.append(row_of[places])
        # The single letter replaces the pair, and the letters after it move to the left.
        is_first = values[:-1] == first
        is_second = values[1:] == second
        places = np.flatnonzero(is_first & is_second & is_one_word)
        written = letter * factors[places]
        rest = after[places + 1] * _INVERSE
        keys.append(before[places] + written + rest)
        rows.append(row_of[places])
    return np.concatenate(keys), np.concatenate(rows)


def _values_of(letters: str) -> NDArray[np.int64]:
    codes = [ord(letter) for letter in letters]
    return letter_values(np.array(codes))


def _error_weights(values: tf.Tensor) -> tf.Tensor:
    """Returns the weight of each typo, float32 `(num_words, 4, width)`.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
    """
    previous = tf.pad(values[:, :-1], [[0, 0], [1, 0]])
    is_doubled = values == previous
    added = tf.where(is_doubled, _DOUBLED, _ADDED)
    shape = tf.shape(added)
    weights = [
        tf.fill(shape, _WRONG),
        tf.fill(shape, _MISSING),
        added,
        tf.fill(shape, _SWAPPED),
    ]
    at_first = np.zeros(values.shape[1], np.float32)
    at_first[0] = _FIRST_LETTER
    stacked = tf.stack(weights, axis=1)
    return stacked + at_first
