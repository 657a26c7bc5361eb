"""The letters of words, as the correction of spelling sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tf_charagram.text._algorithm.word_boundaries import NUM_MARKED, marked
from tf_charagram.text._spelling.word_filter import joined_codes
from tf_charagram.text.alphabet import MAX_CODE_POINT

#: Only words of these lengths are read as others: short ones have too many neighbors, and a typo
#: changes few of the n-grams of long ones.
MIN_LETTERS = 4
MAX_LETTERS = 16
VOWELS = "aeiou"
#: Digits, and the letters that they look like. A 1 may also be an i.
DIGITS = {"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t"}
#: A character without a symbol, as texts are read.
REPLACEMENT = "\ufffd"
_NO_DIGITS = str.maketrans("", "", "".join(DIGITS))
_TYPOGRAPHIC_APOSTROPHES = [0x2018, 0x2019]


def letter_codes(codes: np.ndarray) -> np.ndarray:
    """Replaces the code points of digits by the letters that they look like."""
    letter_codes = codes.copy()
    for digit, letter in DIGITS.items():
        is_digit = codes == ord(digit)
        letter_codes[is_digit] = ord(letter)
    return letter_codes


def is_suitable(words: Any) -> Any:
    """Returns whether words have a suitable length, bool `(num_words,)`.

    Args:
        words: Their starts and ends, an array or a tensor `(num_words, 2)`.
    """
    lengths = words[:, 1] - words[:, 0]
    is_long = lengths >= MIN_LETTERS
    is_short = lengths <= MAX_LETTERS
    return is_long & is_short


def spelled(words: list[str], code_points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spells words as symbols, and skips words that no word can be corrected to.

    Args:
        words: The words of a dictionary.
        code_points: The code point of each symbol, `(num_symbols,)`; -1 for symbols of no or
            several code points.

    Returns:
        The symbols of all kept words, int32; their row splits, int64; and the indices of the kept
        words.
    """
    codes = joined_codes(words)
    # 0 is no symbol of a letter.
    symbol_of = np.zeros(MAX_CODE_POINT + 1, np.int32)
    [symbols] = np.nonzero(code_points >= 0)
    symbol_of[code_points[symbols]] = symbols
    letters = symbol_of[codes]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    starts = np.cumsum(lengths) - lengths
    # All letters of a kept word have symbols.
    min_symbols = np.minimum.reduceat(letters, starts)
    is_kept = min_symbols > 0
    is_kept &= lengths <= MAX_LETTERS + 1
    vowels = [ord(vowel) for vowel in VOWELS]
    begins_with_vowel = np.isin(codes[starts], vowels)
    is_single = lengths == 1
    # A single consonant is part of a word, such as "don't".
    is_kept &= ~is_single | begins_with_vowel
    is_kept_letter = np.repeat(is_kept, lengths)
    kept_lengths = lengths[is_kept]
    splits = np.append(0, np.cumsum(kept_lengths))
    return letters[is_kept_letter], splits, np.flatnonzero(is_kept)


def marked_symbols(
    symbols: np.ndarray, code_points: np.ndarray, *, has_alphabet: bool
) -> np.ndarray:
    """Prepares a table of symbols for the correction of words.

    Args:
        symbols: The symbol of each code point, int32 `(table_size,)`.
        code_points: The code point of each symbol; -1 for symbols of no or several code points.
        has_alphabet: Whether all code points past the table have the symbol of its last entry.

    Returns:
        The symbols with marks of letters and other parts of words, int32.
    """
    if has_alphabet:
        # Some code points past the table are between words, and need a mark of their own.
        num_missing = max(0, NUM_MARKED + 1 - len(symbols))
        symbols = np.pad(symbols, (0, num_missing), mode="edge")
    # Dictionaries have "don't", and phones write "don\u2019t".
    symbols = np.array(symbols)
    symbols[_TYPOGRAPHIC_APOSTROPHES] = symbols[ord("'")]
    return marked(symbols, code_points)


def changed_words(
    words: Iterable[str], read_words: Callable[[list[str]], list[str]]
) -> dict[str, str]:
    """Maps lowercase words that are read as other words to these; skips all other words.

    Args:
        words: The words.
        read_words: Corrects words.
    """
    # Digits may stand for letters, but numbers are not corrected.
    correctable = {word for word in words if word.translate(_NO_DIGITS).isalpha()}
    written = sorted(correctable)
    changed = {}
    for word, other in zip(written, read_words(written), strict=True):
        if word != other:
            changed[word] = other
    return changed
