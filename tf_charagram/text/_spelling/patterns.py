"""The known words as candidates: their keys, the keys of their patterns, and weights of typos.

The key of a word is a polynomial of its letters modulo 2^64. In a pattern, one letter is a
wildcard, vowels are missing, or letters are others that look alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.flat import Array, Ops
from tf_charagram.text._algorithm.hashing import signed
from tf_charagram.text._spelling.letters import MAX_LETTERS, MIN_LETTERS, VOWELS
from tf_charagram.text._spelling.word_filter import (
    BASE,
    letter_values,
    powers,
    powers_by_place,
    values_of_no_letter,
)

# Binary logarithms of the probability of a typo relative to a wrong letter, per position, from the
# 61,615 misspellings of codespell and typos with a single typo. DOUBLED is an extra letter equal
# to the one before.
WRONG = 0.0
MISSING = 5.1
ADDED = np.float32(-0.2)
DOUBLED = np.float32(3.3)
SWAPPED = 5.0
# Added for typos of the first letter.
FIRST_LETTER = -2.0
# The same for a word without its vowels, or with letters or digits that look alike.
VARIANT = 0.0
# The same for two or three words without the spaces between them.
JOINED = np.float32(3.0)
_LOOK_ALIKE = (("rn", "m"), ("cl", "d"), ("vv", "w"))
# Binary logarithm of the probability of a word outside the dictionary, such as a name: a constant,
# and a term for each letter. Chosen on SICK and the headlines of STS 2013 with joined words.
UNKNOWN_WORD = np.float32(-7.5)
UNKNOWN_LETTER = np.float32(-2.25)

# The most frequent words: others are seldom written that way, and loading takes time.
_NUM_WITH_VARIANTS = 30_000
# Multiplying by them moves letters one place to the right or to the left.
SHIFT = np.int64(signed(BASE))
SHIFT_BACK = np.int64(signed(pow(BASE, -1, 2**64)))
_NUM_POWERS = MAX_LETTERS + 2


class Patterns:
    """The keys of words and of their patterns.

    Args:
        values: `letter_values` of the letters of all words, int64. A word has at most
            `MAX_LETTERS + 1` letters.
        splits: Row splits of the words, the most frequent first, int64 `(num_words + 1,)`.
        log_counts: Binary logarithms of their counts, float32 `(num_words,)`.

    Attributes:
        no_word: The row of the empty word, `num_words`.
        powers: Powers of the base, int64.
        inverses: The inverses of `powers`, int64.
        wildcard: Value of the wildcard.
        no_vowels: Added to the key of a word without its vowels.
        look_alike: Added to the key of a word with letters that look alike.
        digits: Added to the key of a word with an l in place of each i, as digits are read.
        log_probabilities: Of the words; 0 for the empty word, which is certain, and -inf for
            a missing key, float32 `(num_words + 2,)`.
        key_mask: Mask of the bits of keys that are compared.
        words: The keys of the words, with all bits, int64 `(num_words,)`.
        keys: The keys, ascending, int64.
        rows: The most frequent word of each key, int32.
    """

    def __init__(
        self,
        values: NDArray[np.int64],
        splits: NDArray[np.int64],
        log_counts: NDArray[np.float32],
    ) -> None:
        self.no_word = len(log_counts)
        self.powers = powers(_NUM_POWERS)
        inverses = []
        for power in range(_NUM_POWERS):
            inverse = pow(BASE, -power, 2**64)
            inverses.append(signed(inverse))
        self.inverses = np.array(inverses)
        # Added to the key of a pattern, so that it is not the key of a word.
        added = values_of_no_letter(4)
        self.wildcard, self.no_vowels, self.look_alike, self.digits = added
        counts = np.exp2(log_counts.astype(np.float64))
        total_count = max(counts.sum(), 1.0)
        log_shares = log_counts - np.log2(total_count)
        log_probabilities = np.append(log_shares, [0, -np.inf])
        self.log_probabilities = log_probabilities.astype(np.float32)
        self.key_mask = -1 << self.no_word.bit_length()
        pairs = self._pairs_of_patterns(values, splits)
        pairs.sort()
        # The lowest 32 bits contain the rows, of which there are fewer.
        row_mask = np.int32(~self.key_mask)
        rows = pairs.astype(np.int32) & row_mask
        keys = pairs
        keys &= self.key_mask
        # Of words with the same pattern, the first one is the most frequent.
        is_first = np.ones(len(keys), bool)
        is_first[1:] = keys[1:] != keys[:-1]
        keys = keys[is_first]
        rows = rows[is_first]
        # The key of the empty word is 0.
        place = np.searchsorted(keys, 0)
        self.keys = np.insert(keys, place, 0)
        self.rows = np.insert(rows, place, self.no_word)

    def _pairs_of_patterns(
        self, values: NDArray[np.int64], splits: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Returns the keys of words and of their patterns, packed with the rows of the words.

        Args:
            values: Values of the letters of all words.
            splits: Row splits of the words, `(num_words + 1,)`.
        """
        lengths = np.diff(splits)
        factors = powers_by_place(lengths)
        # The products are not named, because memory would hold them for longer.
        self.words = np.add.reduceat(values * factors, splits[:-1])
        as_digits = np.add.reduceat(with_l(arrays, values) * factors, splits[:-1])
        word_rows = np.arange(len(lengths), dtype=np.int32)
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
        # A pattern for each letter, which the wildcard replaces. They take most of the memory, so
        # they come last and are made in place.
        patterns = self.wildcard - values
        patterns *= factors
        patterns += np.repeat(self.words, lengths)
        pairs = [
            self._packed(self.words.copy(), word_rows),
            self._packed(patterns, np.repeat(word_rows, lengths)),
            self._packed(skeletons + self.no_vowels, skeleton_rows),
            self._packed(look_alikes + self.look_alike, look_alike_rows),
            self._packed(as_digits + self.digits, word_rows),
        ]
        return np.concatenate(pairs)

    def _packed(self, keys: NDArray[np.int64], rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Replaces the lowest bits of keys by rows, in place."""
        # Integers sort much faster than pairs.
        keys &= self.key_mask
        keys |= rows
        return keys


def places_in_order(width: int) -> NDArray[np.bool_]:
    """Returns where the first of several joined words may end, and the last one begin.

    Returns:
        bool `(width, width)`: the first word ends before one place, the last begins there or
        further on.
    """
    every = np.ones((width, width), bool)
    is_in_order = np.triu(every)
    # No word is empty.
    is_in_order[0] = False
    return is_in_order


def with_l(ops: Ops, values: Array) -> Array:
    """Replaces each i by an l: a 1 looks like both.

    Args:
        ops: Operations.
        values: Values of letters, int64.
    """
    letter, look_alike = _values_of("il")
    return ops.where(values == letter, look_alike, values)


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
        letters = _values_of(pair + single)
        first, second, letter = np.split(letters, 3)
        # The pair replaces the single letter, and the letters after it move to the right.
        places = np.flatnonzero(values == letter)
        written = first + second * SHIFT
        written = written * factors[places]
        rest = after[places] * SHIFT
        keys.append(before[places] + written + rest)
        rows.append(row_of[places])
        # The single letter replaces the pair, and the letters after it move to the left.
        is_first = values[:-1] == first
        is_second = values[1:] == second
        places = np.flatnonzero(is_first & is_second & is_one_word)
        written = letter * factors[places]
        rest = after[places + 1] * SHIFT_BACK
        keys.append(before[places] + written + rest)
        rows.append(row_of[places])
    return np.concatenate(keys), np.concatenate(rows)


def _values_of(letters: str) -> NDArray[np.int64]:
    codes = [ord(letter) for letter in letters]
    return letter_values(np.array(codes))
