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

from tf_charagram.text._spelling.patterns import (
    ADDED,
    DOUBLED,
    FIRST_LETTER,
    JOINED,
    MISSING,
    SHIFT,
    SHIFT_BACK,
    SWAPPED,
    UNKNOWN_LETTER,
    UNKNOWN_WORD,
    VARIANT,
    WRONG,
    Patterns,
    places_in_order,
)
from tf_charagram.text._spelling.sureness import (
    ADDED_KIND,
    DOUBLED_KIND,
    FIRST,
    FIRST_VARIANT,
    INSIDE,
    JOINED_ERROR,
    LAST,
    NUM_PLACES,
)
from tf_charagram.text.tensors import LookupTable
from tf_charagram.text.vectors import column, selected

# Wrong, missing, added and swapped letters.
_NUM_KINDS = 4


class CandidateTable:
    """Finds the most probable readings of unknown words.

    Args:
        patterns: The words, and the patterns in which they are found.

    Attributes:
        no_word: The row of the empty word, the number of words.
        table: The table from keys to rows.
    """

    def __init__(self, patterns: Patterns) -> None:
        self.no_word = patterns.no_word
        self._patterns = patterns
        # A tensor: a constant in each function would be saved with each.
        self._log_probabilities = tf.constant(patterns.log_probabilities)
        self.table = LookupTable(patterns.keys, patterns.rows, default=self.no_word + 1)

    def readings(self, values: tf.Tensor, has_digits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the most probable reading of each unknown word, and its error.

        Args:
            values: Values of the letters, int64 `(num_unknown, MAX_LETTERS + 1)`. A digit has the
                value of the letter it looks like; 0 past the end.
            has_digits: Whether a word has digits, bool `(num_unknown,)`. It has no other errors
                than letters or digits that look alike.

        Returns:
            The rows of one to three words, the last ones perhaps `no_word`, int32
            `(num_unknown, 3)`, all `no_word` if a word has no reading; and the error that explains
            the written word, a number below `NUM_ERRORS`, int64 `(num_unknown,)`.
        """
        rows, scores = self._single_words(values, has_digits)
        best = tf.argmax(scores, axis=1)
        best_scores = tf.reduce_max(scores, axis=1)
        is_read = best_scores > -np.inf
        best_rows = tf.gather(rows, best, batch_dims=1)
        rows = tf.where(is_read, best_rows, self.no_word)
        no_word = tf.fill(tf.shape(rows), self.no_word)
        readings = tf.stack([rows, no_word, no_word], axis=1)
        errors = _errors(values, best)
        # Joined words replace a single word if they are more probable.
        words, parts, joined_scores = self._joined_words(values, has_digits)
        best_scores = tf.tensor_scatter_nd_max(
            best_scores,
            column(words),
            joined_scores,
        )
        is_best = joined_scores == tf.gather(best_scores, words)
        words = column(selected(words, is_best))
        parts = selected(parts, is_best)
        readings = tf.tensor_scatter_nd_update(readings, words, parts)
        joined = tf.fill(tf.shape(words)[:1], np.int64(JOINED_ERROR))
        return readings, tf.tensor_scatter_nd_update(errors, words, joined)

    def _lookup(self, keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the rows of words and their log probabilities, -inf for other keys."""
        rows = self.table.lookup(keys & self._patterns.key_mask)
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
        terms = values * self._patterns.powers[:width]
        written = tf.reduce_sum(terms, axis=1, keepdims=True)
        keys = [
            typos,
            written + self._patterns.no_vowels,
            # Its digits are read as letters; without digits, an unknown word is not in the table.
            written,
            written + self._patterns.look_alike,
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
        inverses = self._patterns.inverses[:width]
        terms = values * self._patterns.powers[:width]
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
        return words, parts, scores + JOINED

    def _error_keys(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the keys of the words that a typo at each position may stem from.

        Args:
            values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

        Returns:
            int64 `(num_words, 4, width)`: the letter is wrong, a letter is missing before it, it is
            extra, it is swapped with the next. Past the end, keys match no word.
        """
        width = values.shape[1]
        factors = self._patterns.powers[:width]
        next_factors = self._patterns.powers[1 : width + 1]
        terms = values * factors
        wildcards = self._patterns.wildcard * factors
        before, behind = _split_keys(terms)
        # Keys of the letters after each place.
        after = behind - terms
        next_values = tf.pad(values[:, 1:], [[0, 0], [0, 1]])
        # The change of the key if both letters trade places.
        swapped = (next_values - values) * (factors - next_factors)
        # In the order of the weights of `_error_weights`.
        corrected = [
            wildcards + after,
            wildcards + behind * SHIFT,
            after * SHIFT_BACK,
            behind + swapped,
        ]
        corrected_keys = tf.stack(corrected, axis=1)
        return tf.expand_dims(before, axis=1) + corrected_keys


def _errors(values: tf.Tensor, candidates: tf.Tensor) -> tf.Tensor:
    """Returns the error of a candidate of each word, int64 `(num_words,)`.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
        candidates: Columns of the candidates, int64 `(num_words,)`.
    """
    width = values.shape[1]
    kinds = candidates // width
    places = candidates % width
    letters = tf.gather(values, places, batch_dims=1)
    before = tf.gather(values, tf.maximum(places - 1, 0), batch_dims=1)
    is_first = places == 0
    is_doubled = (kinds == ADDED_KIND) & (letters == before) & ~is_first
    kinds = tf.where(is_doubled, np.int64(DOUBLED_KIND), kinds)
    lengths = tf.math.count_nonzero(values, axis=1)
    parts = tf.where(places < lengths - 1, np.int64(INSIDE), np.int64(LAST))
    parts = tf.where(is_first, np.int64(FIRST), parts)
    variants = candidates - _NUM_KINDS * width
    return tf.where(
        variants < 0,
        kinds * NUM_PLACES + parts,
        FIRST_VARIANT + variants,
    )


def _with_variants(weights: tf.Tensor, number: int) -> tf.Tensor:
    """Appends columns of `VARIANT`."""
    padding = [[0, 0], [0, number]]
    return tf.pad(weights, padding, constant_values=VARIANT)


def _min_score(values: tf.Tensor, has_digits: tf.Tensor) -> tf.Tensor:
    """Returns the score that joined words must exceed, float32 `(num_words,)`.

    A word with digits is never joined words.
    """
    is_letter = tf.cast(values != 0, tf.float32)
    length = tf.reduce_sum(is_letter, axis=1)
    of_unknown = UNKNOWN_WORD + UNKNOWN_LETTER * length
    return tf.where(has_digits, np.inf, of_unknown)


def _is_possible(values: tf.Tensor) -> tf.Tensor:
    """Returns where the first word may end and the last one begin.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

    Returns:
        bool `(num_words, width, width)`: the first word ends before one place, the last begins
        there or further on.
    """
    is_letter = tf.expand_dims(values != 0, axis=1)
    return is_letter & places_in_order(values.shape[1])


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


def _error_weights(values: tf.Tensor) -> tf.Tensor:
    """Returns the weight of each typo, float32 `(num_words, 4, width)`.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
    """
    previous = tf.pad(values[:, :-1], [[0, 0], [1, 0]])
    is_doubled = values == previous
    added = tf.where(is_doubled, DOUBLED, ADDED)
    shape = tf.shape(added)
    weights = [
        tf.fill(shape, WRONG),
        tf.fill(shape, MISSING),
        added,
        tf.fill(shape, SWAPPED),
    ]
    at_first = np.zeros(values.shape[1], np.float32)
    at_first[0] = FIRST_LETTER
    stacked = tf.stack(weights, axis=1)
    return stacked + at_first
