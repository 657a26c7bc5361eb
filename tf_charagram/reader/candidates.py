"""Finds the most probable readings of unknown words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tf_charagram.reader.flat import Ints
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
from tf_charagram.text.key_table import KeyTable

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class Candidates:
    """Finds the most probable readings of unknown words.

    Args:
        patterns: The words, and the patterns in which they are found.

    Attributes:
        no_word: The row of the empty word, the number of words.
    """

    def __init__(self, patterns: Patterns) -> None:
        self.no_word = patterns.no_word
        self._patterns = patterns
        self._table = KeyTable(patterns.keys, patterns.rows, patterns.no_word + 1)

    def readings(self, values: Ints, has_digits: Bools) -> tuple[Ints, Ints]:
        """Returns the most probable reading of each unknown word, and its error.

        Args:
            values: Values of the letters, int64 `(num_unknown, MAX_LETTERS + 1)`. A digit has the
                value of the letter it looks like; 0 past the end.
            has_digits: Whether a word has digits, bool `(num_unknown,)`. It has no other errors
                than letters or digits that look alike.

        Returns:
            The rows of one to three words, the last ones perhaps `no_word`, `(num_unknown, 3)`, all
            `no_word` if a word has no reading; and the error that explains the written word, a
            number below `NUM_ERRORS`, `(num_unknown,)`.
        """
        rows, scores = self._single_words(values, has_digits)
        num_words = len(values)
        every = np.arange(num_words)
        best = scores.argmax(axis=1)
        best_scores = scores[every, best]
        is_read = best_scores > -np.inf
        readings = np.full((num_words, 3), self.no_word)
        best_rows = rows[every, best]
        readings[is_read, 0] = best_rows[is_read]
        errors = _errors(values, best)
        # Joined words replace a single word if they are more probable.
        words, parts, joined_scores = self._joined_words(values, has_digits)
        np.maximum.at(best_scores, words, joined_scores)
        is_best = joined_scores == best_scores[words]
        words = words[is_best]
        readings[words] = parts[is_best]
        errors[words] = JOINED_ERROR
        return readings, errors

    def _lookup(self, keys: Ints) -> tuple[Ints, Floats]:
        """Returns the rows of words and their log probabilities, -inf for other keys."""
        rows = self._table.lookup(keys & self._patterns.key_mask)
        return rows, self._patterns.log_probabilities[rows]

    def _single_words(self, values: Ints, has_digits: Bools) -> tuple[Ints, Floats]:
        """Returns the row and the score of each candidate, `(num_unknown, num_candidates)`."""
        patterns = self._patterns
        num_words, width = values.shape
        terms = values * patterns.powers[:width]
        written = terms.sum(axis=1, keepdims=True)
        typos = self._error_keys(values).reshape(num_words, -1)
        keys = [
            typos,
            written + patterns.no_vowels,
            # Its digits are read as letters; without digits, an unknown word is not in the table.
            written,
            written + patterns.look_alike,
        ]
        rows, scores = self._lookup(np.concatenate(keys, axis=1))
        num_typos = typos.shape[1]
        error_weights = _error_weights(values)
        weights = np.full_like(scores, VARIANT)
        weights[:, :num_typos] = error_weights.reshape(num_words, num_typos)
        # A word with digits has neither typos nor missing vowels, only the last two candidates.
        weights[has_digits, :-2] = -np.inf
        return rows, scores + weights

    def _joined_words(self, values: Ints, has_digits: Bools) -> tuple[Ints, Ints, Floats]:
        """Finds words that are two or three words without the spaces between them.

        Returns:
            For each such reading the index of the unknown word, `(num_readings,)`; the rows of its
            parts, `(num_readings, 3)`; and its score, float32 `(num_readings,)`.
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
        start_table = np.expand_dims(start_scores, 2)
        end_table = np.expand_dims(end_scores, 1)
        scores = start_table + end_table
        # The middle word makes no reading more probable, so few pairs need it.
        is_probable = scores > min_score.reshape(-1, 1, 1)
        is_probable &= _is_possible(values)
        words, first, last = np.nonzero(is_probable)
        # If the last word begins where the first one ends, the middle is the empty word.
        between = before[words, last] - before[words, first]
        middles, middle_scores = self._lookup(between * inverses[first])
        rows = [
            starts[words, first],
            middles,
            ends[words, last],
        ]
        parts = np.stack(rows, axis=1)
        scores = scores[words, first, last] + middle_scores
        is_probable = scores > min_score[words]
        words = words[is_probable]
        parts = parts[is_probable]
        scores = scores[is_probable]
        return words, parts, scores + np.float32(JOINED)

    def _error_keys(self, values: Ints) -> Ints:
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
        next_values = np.zeros_like(values)
        next_values[:, :-1] = values[:, 1:]
        # The change of the key if both letters trade places.
        swapped = (next_values - values) * (factors - next_factors)
        # In the order of the weights of `_error_weights`.
        corrected = [
            wildcards + after,
            wildcards + behind * SHIFT,
            after * SHIFT_BACK,
            behind + swapped,
        ]
        corrected_keys = np.stack(corrected, axis=1)
        return np.expand_dims(before, 1) + corrected_keys


def _errors(values: Ints, candidates: Ints) -> Ints:
    """Returns the error of a candidate of each word, `(num_words,)`.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
        candidates: Columns of the candidates, `(num_words,)`.
    """
    num_words, width = values.shape
    every = np.arange(num_words)
    kinds, places = np.divmod(candidates, width)
    is_first = places == 0
    is_doubled = values[every, places] == values[every, places - 1]
    is_doubled &= (kinds == ADDED_KIND) & ~is_first
    kinds[is_doubled] = DOUBLED_KIND
    lengths = np.count_nonzero(values, axis=1)
    parts = np.where(places < lengths - 1, INSIDE, LAST)
    parts[is_first] = FIRST
    variants = candidates - 4 * width
    return np.where(
        variants < 0,
        kinds * NUM_PLACES + parts,
        FIRST_VARIANT + variants,
    )


def _error_weights(values: Ints) -> Floats:
    """Returns the weight of each typo, float32 `(num_words, 4, width)`.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.
    """
    num_words, width = values.shape
    weights = np.empty((num_words, 4, width), np.float32)
    weights[:, 0] = WRONG
    weights[:, 1] = MISSING
    weights[:, 2] = ADDED
    is_doubled = np.zeros(values.shape, bool)
    is_doubled[:, 1:] = values[:, 1:] == values[:, :-1]
    weights[:, 2][is_doubled] = DOUBLED
    weights[:, 3] = SWAPPED
    weights[:, :, 0] += np.float32(FIRST_LETTER)
    return weights


def _min_score(values: Ints, has_digits: Bools) -> Floats:
    """Returns the score that joined words must exceed, float32 `(num_words,)`.

    A word with digits is never joined words.
    """
    lengths = np.count_nonzero(values, axis=1).astype(np.float32)
    of_unknown = np.float32(UNKNOWN_WORD) + np.float32(UNKNOWN_LETTER) * lengths
    return np.where(has_digits, np.float32(np.inf), of_unknown)


def _is_possible(values: Ints) -> Bools:
    """Returns where the first word may end and the last one begin.

    Args:
        values: Values of the letters, 0 past the end, int64 `(num_words, width)`.

    Returns:
        bool `(num_words, width, width)`: the first word ends before one place, the last begins
        there or further on.
    """
    is_letter = np.expand_dims(values != 0, 1)
    return is_letter & places_in_order(values.shape[1])


def _split_keys(terms: Ints) -> tuple[Ints, Ints]:
    """Splits the key of each word at each place.

    Args:
        terms: Values of letters times powers of the base, int64 `(num_words, width)`.

    Returns:
        The keys of the letters before each place, and of the letters from it on, both of the shape
        of `terms`. The latter count places from the start of the word.
    """
    up_to = np.cumsum(terms, axis=1)
    whole = up_to[:, -1:]
    before = up_to - terms
    return before, whole - before
