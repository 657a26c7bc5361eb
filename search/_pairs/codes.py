"""Codes in texts: the numbers of models, parts and documents, amounts and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tf_charagram.search._pairs.flat_arrays import distinct_integers
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.text._algorithm.arrays import kept
from tf_charagram.text._algorithm.word_boundaries import without_signs

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


def codes_of(texts: Sequence[str], lists: WordLists) -> dict[int, frozenset[str]]:
    """Returns the numbers of models, parts and documents, amounts and dates in texts.

    Args:
        texts: The texts.
        lists: Their words.

    Returns:
        The codes of the texts that have any, by row.
    """
    # Most words have neither digits nor signs.
    is_special = np.array([not word.isalpha() for word in lists.words], bool)
    special = is_special.nonzero()[0]
    are_codes = is_special.copy()
    are_codes[special] = [_is_code(lists.words[place]) for place in special.tolist()]
    # An amount or a date has two numbers next to each other.
    has_digit = np.zeros(len(lists.words), bool)
    has_digit[special] = [_HAS_DIGIT.search(lists.words[place]) is not None for place in special]
    all_rows = lists.rows()
    are_numbers = has_digit[lists.ids]
    are_next = are_numbers[1:] & are_numbers[:-1] & (all_rows[1:] == all_rows[:-1])
    has_code = are_codes[lists.ids]
    rows = distinct_integers(np.append(all_rows[has_code], all_rows[1:][are_next]))
    code_words = WordLists(lists.words, *kept(lists.ids, has_code, lists.splits))
    found = {}
    for row, words in zip(rows.tolist(), code_words.strings(rows), strict=True):
        codes = set(words)
        for number in _NUMBER.findall(texts[row]):
            parts = _DIGITS.findall(number)
            codes.difference_update(parts)
            digits = "".join(parts)
            if len(digits) >= _MIN_CODE:
                # 100.00 is 100, and 1998.0 a year.
                is_whole = number.endswith(_ZEROS)
                codes.add("".join(parts[:-1]) if is_whole else digits)
        if codes:
            found[row] = frozenset(codes)
    return found


def _is_code(word: str) -> bool:
    """Returns whether a word with a digit or a sign is a code."""
    if without_signs(word) not in ("", word):
        return True
    return len(word) >= _MIN_CODE and _HAS_DIGIT.search(word) is not None


def compared_codes(
    left: frozenset[str], right: frozenset[str], left_letters: str, right_letters: str
) -> tuple[float, float]:
    """Returns `shared_code` and `codes_differ` of two texts.

    Args:
        left: Codes.
        right: Codes.
        left_letters: The words of the left text.
        right_letters: The words of the right text.
    """
    if left == right:
        longest = max(map(len, left))
        return min(longest / _LONG_CODE, 1), 0
    # "KD-55 X9000" has kd55x9000.
    left_letters = left_letters.replace(" ", "")
    right_letters = right_letters.replace(" ", "")
    left_rest = [code for code in left - right if not _has_code(right_letters, code)]
    right_rest = [code for code in right - left if not _has_code(left_letters, code)]
    num_different = min(len(left_rest), len(right_rest))
    if not all(map(str.isalnum, left_rest + right_rest)):
        # C++ and C differ, although C is no code.
        num_signs = _num_signs(left_rest, right_letters) + _num_signs(right_rest, left_letters)
        num_different = max(num_different, num_signs)
    common = (left | right).difference(left_rest, right_rest)
    if not common:
        return 0, float(num_different > 0)
    num_common = max(len(left) - len(left_rest), len(right) - len(right_rest))
    share = num_different / (num_common + num_different)
    longest = max(map(len, common))
    # One common code does not excuse others that differ.
    return min(longest / _LONG_CODE, 1) * (1 - share), share


def _num_signs(codes: Sequence[str], letters: str) -> int:
    """Counts the words with signs that the other text has without signs."""
    num = 0
    for code in codes:
        word = without_signs(code)
        num += word != code and word in letters
    return num


def _has_code(letters: str, code: str) -> bool:
    """Returns whether the words of a text, without spaces, have a code."""
    if code not in letters:
        return False
    return len(code) >= _LONG_NUMBER or not code.isdecimal()
