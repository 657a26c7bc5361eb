"""Which characters make words, and marks on symbols that say it."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

#: Code points that are told apart as parts of words or not: up to the last emoji.
NUM_MARKED = 0x1FB00

#: What a symbol is, in the bits above those of symbols: nothing for what is between words.
LETTER, OTHER = 1 << 24, 2 << 24
SYMBOL = LETTER - 1

# Thai and Lao; Burmese; Khmer; Japanese syllables, twice; Chinese characters, in four blocks; again
# syllables, of half width; and the planes of rare Chinese characters.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x2E80, 0x2FDF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)  # fmt: skip


def is_in_word(char: str) -> bool:
    """Returns whether a character is a part of words: a letter, a digit, or a mark on one."""
    return char.isalnum() or unicodedata.category(char).startswith("M")


def is_unspaced(char: str) -> bool:
    """Returns whether a letter is of a script that puts no spaces between words.

    What is between two spaces is then no word but a clause, and a letter more or less another one.
    """
    return any(first <= ord(char) <= last for first, last in _UNSPACED)


def marked(symbols: np.ndarray, code_points: np.ndarray) -> np.ndarray:
    """Returns the symbols of code points with a mark on each that says what it is, int32.

    What is between words is so whatever else its symbol stands for, as far as the table goes, and
    up to `NUM_MARKED`.

    Args:
        symbols: The symbol of each code point.
        code_points: As for `WordCorrector`.
    """
    # The last symbol is that of all symbols past the end.
    marks = _marks(code_points)[np.minimum(symbols, len(code_points))]
    between = _between_words()[: len(symbols)]
    marks[: len(between)][between] = 0
    return symbols | marks


@cache
def _between_words() -> np.ndarray:
    """Returns which of the first code points are between words, bool `(NUM_MARKED,)`."""
    return np.array([not is_in_word(char) for char in map(chr, range(NUM_MARKED))])


def _marks(code_points: np.ndarray) -> np.ndarray:
    """Returns the mark of each symbol, int32 `(num_symbols + 1,)`."""
    chars = [chr(code) if code >= 0 else "" for code in code_points.tolist()]
    is_letter = [char.isalpha() and not is_unspaced(char) for char in chars]
    is_other = [not char or is_in_word(char) for char in chars]
    marks = np.select([is_letter, is_other], [LETTER, OTHER], 0)
    return np.append(marks, 0).astype(np.int32)
