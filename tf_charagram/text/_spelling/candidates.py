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

from tf_charagram.text._algorithm.flat import Array, OnExecutor, Ops, all_selected
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
    with_l,
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

# Wrong, missing, added and swapped letters.
_NUM_KINDS = 4


class CandidateTable(OnExecutor):
    """Finds the most probable readings of unknown words.

    Args:
        patterns: The words, and the patterns in which they are found.
        ops: Operations.

    Attributes:
        no_word: The row of the empty word, the number of words.
        table: The table from keys to rows.
    """

    def __init__(self, patterns: Patterns, ops: Ops) -> None:
        self.no_word = patterns.no_word
        self._ops = ops
        self._patterns = patterns
        self._log_probabilities = ops.constant(patterns.log_probabilities)
        self.table = ops.Table(patterns.keys, patterns.rows, patterns.no_word + 1)

    def readings(self, values: Array, has_digits: Array) -> tuple[Array, Array]:
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
        ops = self._ops
        rows, scores = self._single_words(values, has_digits)
        best = ops.place_of_max(scores, axis=1)
        best_scores = ops.max_of(scores, axis=1)
        best_rows = ops.take_each(rows, best)
        no_word = ops.full_like(best_rows, self.no_word, np.int32)
        rows = ops.where(best_scores > -np.inf, best_rows, no_word)
        readings = ops.stack([rows, no_word, no_word], axis=1)
        errors = self._errors(values, best)
        # Joined words replace a single word if they are more probable.
        words, parts, joined_scores = self._joined_words(values, has_digits)
        best_scores = ops.max_at(best_scores, words, joined_scores)
        is_best = joined_scores == ops.take(best_scores, words)
        words, parts = all_selected(ops, is_best, words, parts)
        readings = ops.put(readings, words, parts)
        joined = ops.full_like(words, JOINED_ERROR, np.int64)
        return readings, ops.put(errors, words, joined)

    def _lookup(self, keys: Array) -> tuple[Array, Array]:
        """Returns the rows of words and their log probabilities, -inf for other keys."""
        rows = self.table.lookup(keys & self._patterns.key_mask)
        return rows, self._ops.take(self._log_probabilities, rows)

    def _single_words(self, values: Array, has_digits: Array) -> tuple[Array, Array]:
        """Returns the row and the score of each candidate, `(num_unknown, num_candidates)`."""
        ops = self._ops
        patterns = self._patterns
        width = values.shape[1]
        # Each kind of typo at each letter.
        num_typos = _NUM_KINDS * width
        typos = ops.reshape(self._error_keys(values), [-1, num_typos])
        factors = patterns.powers[:width]
        written = ops.sum_of(values * factors, axis=1, keepdims=True)
        with_digits = ops.sum_of(with_l(ops, values) * factors, axis=1, keepdims=True)
        keys = [
            typos,
            written + patterns.no_vowels,
            with_digits + patterns.digits,
            written + patterns.look_alike,
        ]
        rows, scores = self._lookup(ops.concat(keys, axis=1))
        # A word with digits has neither typos nor missing vowels, only the last two candidates.
        weights = ops.reshape(self._error_weights(values), [-1, num_typos])
        # Missing vowels, then digits.
        weights = ops.padded(weights, 0, 2, VARIANT)
        needs_digits = np.arange(num_typos + 2) == num_typos + 1
        is_possible = ops.with_axis(has_digits, 1) == needs_digits
        weights = ops.where(is_possible, weights, np.float32(-np.inf))
        weights = ops.padded(weights, 0, 1, VARIANT)
        return rows, scores + weights

    def _joined_words(self, values: Array, has_digits: Array) -> tuple[Array, Array, Array]:
        """Finds words that are two or three words without the spaces between them.

        Returns:
            For each such reading the index of the unknown word, int64 `(num_readings,)`; the rows
            of its parts, int32 `(num_readings, 3)`; and its score, float32 `(num_readings,)`.
        """
        ops = self._ops
        width = values.shape[1]
        inverses = self._patterns.inverses[:width]
        terms = values * self._patterns.powers[:width]
        before, behind = self._split_keys(terms)
        starts, start_scores = self._lookup(before)
        # `behind` counts places from the start of the unknown word, the table from their own start.
        ends, end_scores = self._lookup(behind * inverses)
        min_score = self._min_score(values, has_digits)
        # Tables of the places where the first word ends and where the last one begins.
        scores = ops.with_axis(start_scores, 2) + ops.with_axis(end_scores, 1)
        # The middle word makes no reading more probable, so few pairs need it.
        is_probable = scores > ops.reshape(min_score, [-1, 1, 1])
        is_letter = ops.with_axis(values != 0, 1)
        is_possible = is_letter & places_in_order(width)
        words, first, last = ops.places_of_true(is_possible & is_probable)
        # Keys of the letters before the last word, and before the end of the first one.
        before_last = ops.take_at(before, words, last)
        before_middle = ops.take_at(before, words, first)
        # If the last word begins where the first one ends, the middle is the empty word.
        between = before_last - before_middle
        middle_keys = between * ops.take(inverses, first)
        middles, middle_scores = self._lookup(middle_keys)
        parts = [
            ops.take_at(starts, words, first),
            middles,
            ops.take_at(ends, words, last),
        ]
        parts = ops.stack(parts, axis=1)
        scores = ops.take_at(scores, words, first, last) + middle_scores
        is_probable = scores > ops.take(min_score, words)
        words, parts, scores = all_selected(ops, is_probable, words, parts, scores)
        return words, parts, scores + JOINED

    def _error_keys(self, values: Array) -> Array:
        """Returns the keys of the words that a typo at each position may stem from.

        Args:
            values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

        Returns:
            int64 `(num_words, 4, width)`: the letter is wrong, a letter is missing before it, it is
            extra, it is swapped with the next. Past the end, keys match no word.
        """
        ops = self._ops
        width = values.shape[1]
        factors = self._patterns.powers[:width]
        next_factors = self._patterns.powers[1 : width + 1]
        terms = values * factors
        wildcards = self._patterns.wildcard * factors
        before, behind = self._split_keys(terms)
        # Keys of the letters after each place.
        after = behind - terms
        next_values = ops.padded(values[:, 1:], 0, 1)
        # The change of the key if both letters trade places.
        swapped = (next_values - values) * (factors - next_factors)
        # In the order of the weights of `_error_weights`.
        corrected = [
            wildcards + after,
            wildcards + behind * SHIFT,
            after * SHIFT_BACK,
            behind + swapped,
        ]
        by_kind = ops.stack(corrected, axis=1)
        return ops.with_axis(before, 1) + by_kind

    def _errors(self, values: Array, candidates: Array) -> Array:
        """Returns the error of a candidate of each word, int64 `(num_words,)`.

        Args:
            values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
            candidates: Columns of the candidates, int64 `(num_words,)`.
        """
        ops = self._ops
        width = values.shape[1]
        kinds = candidates // width
        places = candidates % width
        letters = ops.take_each(values, places)
        before = ops.take_each(values, ops.maximum(places - 1, 0))
        is_first = places == 0
        is_doubled = (kinds == ADDED_KIND) & (letters == before) & ~is_first
        kinds = ops.where(is_doubled, DOUBLED_KIND, kinds)
        lengths = ops.num_nonzero(values, axis=1)
        parts = ops.where(places < lengths - 1, INSIDE, LAST)
        parts = ops.where(is_first, FIRST, parts)
        variants = candidates - _NUM_KINDS * width
        typos = kinds * NUM_PLACES + parts
        return ops.where(variants < 0, typos, FIRST_VARIANT + variants)

    def _min_score(self, values: Array, has_digits: Array) -> Array:
        """Returns the score that joined words must exceed, float32 `(num_words,)`.

        A word with digits is never joined words.
        """
        ops = self._ops
        lengths = ops.cast_to(ops.num_nonzero(values, axis=1), "float32")
        of_unknown = UNKNOWN_WORD + UNKNOWN_LETTER * lengths
        return ops.where(has_digits, np.float32(np.inf), of_unknown)

    def _split_keys(self, terms: Array) -> tuple[Array, Array]:
        """Splits the key of each word at each place.

        Args:
            terms: Values of letters times powers of the base, int64 `(num_words, width)`.

        Returns:
            The keys of the letters before each place, and of the letters from it on, both of the
            shape of `terms`. The latter count places from the start of the word.
        """
        before = self._ops.sums_before(terms)
        whole = self._ops.sum_of(terms, axis=1, keepdims=True)
        return before, whole - before

    def _error_weights(self, values: Array) -> Array:
        """Returns the weight of each typo, float32 `(num_words, 4, width)`.

        Args:
            values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
        """
        ops = self._ops
        previous = ops.padded(values[:, :-1], 1, 0)
        added = ops.where(values == previous, DOUBLED, ADDED)
        weights = [
            ops.full_like(added, WRONG, np.float32),
            ops.full_like(added, MISSING, np.float32),
            added,
            ops.full_like(added, SWAPPED, np.float32),
        ]
        at_first = np.zeros(values.shape[1], np.float32)
        at_first[0] = FIRST_LETTER
        by_kind = ops.stack(weights, axis=1)
        return by_kind + at_first
