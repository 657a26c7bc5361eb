"""The characters that words are made of, from Unicode 14.0 whatever the version of Python."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

#: Code points that are classified even outside the alphabet: up to the last emoji.
NUM_MARKED = 0x1FB00

#: Marks in the bits above those of symbols; symbols between words are unmarked.
LETTER, OTHER = 1 << 24, 2 << 24
SYMBOL = LETTER - 1

# Thai and Lao; Burmese; Khmer; Japanese syllabaries, twice; Chinese characters, four blocks;
# halfwidth Japanese; and the planes of rare Chinese characters.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x2E80, 0x2FDF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)  # fmt: skip


@cache
def is_in_word(char: str) -> bool:
    """Returns whether a character belongs to words: a letter, a digit, or a combining mark."""
    return bool(_is_in_ranges("in_word", np.array(ord(char))))


def marked(symbols: np.ndarray, code_points: np.ndarray) -> np.ndarray:
    """Marks symbols of code points as letters, other parts of words, or neither; int32.

    Letters of scripts that put no spaces between words are other parts: between two spaces is a
    clause, not a word.

    Args:
        symbols: The symbol of each code point.
        code_points: As for `WordCorrector`.
    """
    is_letter = _is_in_ranges("letters", code_points)
    for first, last in _UNSPACED:
        is_letter &= (code_points < first) | (code_points > last)
    is_other = (code_points < 0) | _is_in_ranges("in_word", code_points)
    # The last mark is that of symbols past the end.
    marks = np.append(np.select([is_letter, is_other], [LETTER, OTHER], 0), 0).astype(np.int32)
    marks = marks[np.minimum(symbols, len(code_points))]
    # A symbol may stand for several characters, some of them between words.
    is_between = ~_is_in_ranges("in_word", np.arange(min(len(symbols), NUM_MARKED)))
    marks[: len(is_between)][is_between] = 0
    return symbols | marks


def _is_in_ranges(name: str, code_points: np.ndarray) -> np.ndarray:
    return np.searchsorted(_ranges()[name], code_points, side="right") % 2 == 1


@cache
def _ranges() -> dict[str, np.ndarray]:
    """Returns the code points at which a class of characters starts and ends, by turns."""
    # Made by `str.isalnum`, `str.isalpha` and `unicodedata.category` of Python 3.11.
    with np.load(Path(__file__).with_name("unicode_14.npz")) as file:
        return dict(file)
