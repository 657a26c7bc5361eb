"""Codes in texts: the numbers of models, parts and documents, amounts and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Flags,
    Ids,
    distinct_integers,
    list_numbers,
    places_in,
)
from tf_charagram.search._pairs.word_lists import WordLists, letter_sets
from tf_charagram.text._algorithm.arrays import positions
from tf_charagram.text._algorithm.word_boundaries import without_signs

if TYPE_CHECKING:
    from tf_charagram.search._pairs.prepared import Texts

# Minimum length of a code: shorter words with a digit, such as 18v, are rather sizes.
_MIN_CODE = 4
# Length from which a shared code counts in full.
_LONG_CODE = 10
# Length from which digits alone are a code wherever they stand: 10000 is in 100000 by chance.
_LONG_NUMBER = 7
_HAS_DIGIT = re.compile(r"\d")
# An amount, date or version: 100.00, 2024-01-05.
_NUMBER = re.compile(r"(?<!\w)\d+(?:[.,:/-]\d+)+(?!\w)")
_ZEROS = (".0", ".00")
_DIGITS = re.compile(r"\d+")
# Factor of the number of a pair that makes the hashes of its codes different.
_FACTOR = np.int64(0x3F58476D1CE4E5B9)


@dataclass
class Codes:
    """The codes of texts.

    Attributes:
        lists: The distinct codes of each text.
    """

    lists: WordLists

    @classmethod
    def of_texts(cls, texts: Sequence[str], lists: WordLists) -> Codes:
        """Finds the numbers of models, parts and documents, amounts and dates in texts.

        Args:
            texts: The texts.
            lists: Their words.
        """
        are_codes = np.zeros(len(lists.words), bool)
        have_digits = np.zeros(len(lists.words), bool)
        for place, word in enumerate(lists.words):
            # Most words have neither digits nor signs.
            if not word.isalpha():
                are_codes[place] = _is_code(word)
                have_digits[place] = _HAS_DIGIT.search(word) is not None
        # An amount or a date has two numbers next to each other.
        rows = lists.rows()
        are_numbers = have_digits[lists.ids]
        are_next = are_numbers[1:] & are_numbers[:-1] & (rows[1:] == rows[:-1])
        codes = lists.only(are_codes)
        replaced = {}
        number_rows = distinct_integers(rows[1:][are_next]).tolist()
        for row, words in zip(number_rows, codes.strings(number_rows), strict=True):
            numbers = _NUMBER.findall(texts[row])
            if numbers:
                replaced[row] = _with_numbers(words, numbers)
        return cls(codes.replaced(replaced))

    def followed(self, others: Codes) -> Codes:
        """Returns the codes of these texts and then of other ones."""
        return Codes(self.lists.extended(others.lists))

    @cached_property
    def are_there(self) -> Flags:
        """Whether each text has codes, `(num_texts,)`."""
        return self.lists.splits[1:] > self.lists.splits[:-1]

    @cached_property
    def facts(self) -> _Facts:
        """What comparisons need of each distinct code."""
        codes = self.lists.words
        sets, lengths = letter_sets(codes)
        are_numbers = np.array([code.isdecimal() for code in codes], bool)
        may_be_parts = (lengths >= _LONG_NUMBER) | ~are_numbers
        have_signs = np.array([without_signs(code) != code for code in codes], bool)
        hashes = np.array([hash(code) for code in codes], np.int64)
        return _Facts(hashes, sets, lengths, may_be_parts, have_signs)

    def of_pairs(self, rows: NDArray[np.integer]) -> tuple[Ids, NDArray[np.int32]]:
        """Returns the pair of each code of some texts, a text for each pair, and the codes."""
        starts = self.lists.splits[rows]
        stops = self.lists.splits[rows + 1]
        return list_numbers(stops - starts), self.lists.ids[positions(starts, stops)]


class _Facts(NamedTuple):
    """Facts about codes, each `(num_codes,)`.

    Attributes:
        hashes: A hash of each.
        sets: Its letters as 64 bits.
        lengths: Its length.
        may_be_parts: Whether it counts in other words, or over several ones; short numbers are
            there by chance.
        have_signs: Whether it has signs, as C++.
    """

    hashes: Ids
    sets: NDArray[np.uint64]
    lengths: Ids
    may_be_parts: Flags
    have_signs: Flags


def compared_codes(
    left: Texts, left_rows: NDArray[np.integer], right: Texts, right_rows: NDArray[np.integer]
) -> tuple[Array, Array]:
    """Returns `shared_code` and `codes_differ` of pairs of texts, each `(num_pairs,)`."""
    num_pairs = len(left_rows)
    sides = (left, left_rows), (right, right_rows)
    found = [texts.codes.of_pairs(rows) for texts, rows in sides]
    keys = [
        texts.codes.facts.hashes[ids] + pairs * _FACTOR
        for (texts, _), (pairs, ids) in zip(sides, found, strict=True)
    ]
    num_common = np.zeros((2, num_pairs), np.int64)
    num_rest = np.zeros((2, num_pairs), np.int64)
    num_signs = np.zeros(num_pairs, np.int64)
    longest = np.zeros(num_pairs, np.int64)
    for side, (pairs, ids) in enumerate(found):
        facts = sides[side][0].codes.facts
        is_common = places_in(np.sort(keys[1 - side]), keys[side]) >= 0
        other, other_rows = sides[1 - side]
        rest = (~is_common).nonzero()[0]
        parts, signs = _in_letters(sides[side][0].codes, ids[rest], other, other_rows[pairs[rest]])
        is_common[rest[parts]] = True
        num_signs += np.bincount(pairs[rest[signs]], minlength=num_pairs)
        num_common[side] = np.bincount(pairs[is_common], minlength=num_pairs)
        num_rest[side] = np.bincount(pairs[~is_common], minlength=num_pairs)
        np.maximum.at(longest, pairs[is_common], facts.lengths[ids[is_common]])
    # C++ and C differ, although C is no code.
    num_different = np.maximum(num_rest.min(axis=0), num_signs)
    # One common code does not excuse others that differ.
    share = num_different / np.maximum(num_common.max(axis=0) + num_different, 1)
    return np.minimum(longest / _LONG_CODE, 1) * (1 - share), share


def _in_letters(
    codes: Codes, ids: NDArray[np.integer], others: Texts, rows: NDArray[np.integer]
) -> tuple[list[int], list[int]]:
    """Finds codes in the words of a text without spaces: kd55x9000 is in "KD-55 X9000".

    Args:
        codes: All codes.
        ids: A code for each text.
        others: Texts.
        rows: Their rows.

    Returns:
        The places of codes that are found, and of those that are found without their signs.
    """
    facts = codes.facts
    is_part = facts.may_be_parts[ids] & (facts.sets[ids] & ~others.all_letters[rows] == 0)
    places = (is_part | facts.have_signs[ids]).nonzero()[0]
    parts = []
    signs = []
    letters = others.letters(rows[places])
    for place, words in zip(places.tolist(), letters, strict=True):
        code = codes.lists.words[ids[place]]
        spaceless = words.replace(" ", "")
        if code in spaceless:
            parts.append(place)
        elif facts.have_signs[ids[place]] and without_signs(code) in spaceless:
            signs.append(place)
    return parts, signs


def _with_numbers(words: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """Adds amounts and dates to the codes of a text, and removes their parts."""
    codes = set(words)
    for number in numbers:
        parts = _DIGITS.findall(number)
        codes.difference_update(parts)
        digits = "".join(parts)
        if len(digits) >= _MIN_CODE:
            # 100.00 is 100, and 1998.0 a year.
            is_whole = number.endswith(_ZEROS)
            codes.add("".join(parts[:-1]) if is_whole else digits)
    return sorted(codes)


def _is_code(word: str) -> bool:
    """Returns whether a word with a digit or a sign is a code."""
    if without_signs(word) not in ("", word):
        return True
    return len(word) >= _MIN_CODE and _HAS_DIGIT.search(word) is not None
