"""The one form of each character, for an alphabet."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import normalize

import numpy as np

from tf_charagram.text._algorithm.code_points import (
    PAST_CODES,
    SPACE,
    normalized_code_points,
)
from tf_charagram.text._algorithm.hashing import signed
from tf_charagram.text._algorithm.unicode import code_points_of, unicode_ranges, vowel_points
from tf_charagram.text.alphabet import MAX_CODE_POINT, Alphabet

#: Letters without a decomposition, and punctuation, in ASCII.
PLAIN = {
    "ß": "ss", "ẞ": "SS", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "đ": "d", "ł": "l", "ø": "o",
    "\u0131": "i", "ħ": "h", "ŧ": "t", "ŋ": "ng", "ĸ": "k", "ȷ": "j", "ə": "a", "ɓ": "b", "ɗ": "d",
    "ƙ": "k", "ɛ": "e", "ɔ": "o", "\u2044": "/", "\u00d7": "x",
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u02bb\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}  # fmt: skip
PLAIN |= {
    letter.upper(): plain.upper()
    for letter, plain in PLAIN.items()
    if len(letter.upper()) == 1 and not letter.upper().isascii()
}
#: Code points without width: soft hyphen, joiners, direction marks, variation selectors, ...
INVISIBLE = (
    0xAD, 0x34F, 0x61C, *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F),
    *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, *range(0xE0100, 0xE01F0),
)  # fmt: skip
#: The Arabic letter that stretches words, and spells nothing.
TATWEEL = 0x640
#: The first Greek letter, and the first code point after them.
GREEK = (0x370, 0x400)
# The Greek sigma at the end of a word, and everywhere else.
_FINAL_SIGMA, _SIGMA = "\u03c2", "\u03c3"
#: No mark has a smaller code point.
FIRST_MARK = 0x300
#: Korean vowels and final consonants follow their syllable as marks follow a letter.
FIRST_JAMO = 0x1160
STOP_JAMO = 0x1200
#: No character decomposes into a letter and more marks.
MAX_MARKS = 3
#: Factor of the keys of letters with marks.
FACTOR = 0x9E3779B97F4A7C15 - 2**64
_SEPARATOR = 0x0A


class CharacterForms(NamedTuple):
    """What folding does to characters, for an alphabet.

    Attributes:
        codes: Code points that folding changes, ascending, then an unused one, so that a search
            never ends past the end, int32 `(num_changed + 1,)`.
        values: The code points that replace them, int32.
        splits: Where in `values` those of each begin and end, int64 `(num_changed + 1,)`.
        mark_edges: Code points at which ranges of marks start and end, by turns, int32.
        points: Vowel points of Arabic, Hebrew and others, ascending, then an unused one, int32.
        keys: `key_of` of the letters with marks that the alphabet has as one character, ascending,
            then an unused key, int64.
        composites: These characters, int32.
    """

    codes: np.ndarray
    values: np.ndarray
    splits: np.ndarray
    mark_edges: np.ndarray
    points: np.ndarray
    keys: np.ndarray
    composites: np.ndarray

    @classmethod
    def of(cls, alphabet: Alphabet) -> CharacterForms:
        """Returns the forms of characters for an alphabet of lowercase ones."""
        kept = _kept_characters(alphabet)
        codes, values, splits = _changed_forms(kept)
        codes = np.append(codes, np.int32(PAST_CODES))
        edges = np.append(unicode_ranges()["marks"], [FIRST_JAMO, STOP_JAMO])
        edges.sort()
        composites = {}
        for char in kept:
            parts = normalize("NFD", char)
            if len(parts) > 1:
                key = key_of(parts)
                composites[key] = ord(char)
        composites[2**63 - 1] = 0
        keys = sorted(composites)
        letters = [composites[key] for key in keys]
        return cls(
            codes,
            values,
            splits,
            edges.astype(np.int32),
            np.array([*vowel_points(), PAST_CODES], np.int32),
            np.array(keys, np.int64),
            np.array(letters, np.int32),
        )


def _kept_characters(alphabet: Alphabet) -> set[str]:
    """Selects the characters of an alphabet, and their capitals, that are their own NFKC form."""
    known = alphabet.characters
    lowercase = normalized_code_points()
    # Not by `upper`, which makes "SS" of a sharp s.
    capitals = np.flatnonzero(np.isin(lowercase, known) & (lowercase != SPACE))
    candidates = map(chr, {*known.tolist(), *capitals.tolist()})
    return {char for char in candidates if normalize("NFKC", char) == char}


def _changed_forms(kept: set[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists the code points that folding changes, except for some characters.

    Returns:
        The code points, ascending, int32 `(num_changed,)`; the code points that replace them,
        int32; and where those of each begin and end, int64 `(num_changed + 1,)`.
    """
    forms_of: dict[int, str | None] = dict.fromkeys(INVISIBLE)
    for letter, plain in PLAIN.items():
        if letter not in kept:
            forms_of[ord(letter)] = plain
    if _FINAL_SIGMA not in kept:
        forms_of[ord(_FINAL_SIGMA)] = _SIGMA
    if chr(TATWEEL) not in kept:
        forms_of[TATWEEL] = None
    kept_codes = [ord(char) for char in kept]
    is_changed = np.zeros(MAX_CODE_POINT + 1, bool)
    is_changed[code_points_of("decomposed")] = True
    is_changed[kept_codes] = False
    is_changed[list(forms_of)] = True
    codes = np.flatnonzero(is_changed)
    codes = codes.astype(np.int32)
    # One string with a character a line is normalized much faster than single characters.
    separators = np.full_like(codes, _SEPARATOR)
    lines = np.stack([codes, separators], axis=1)
    text = lines.tobytes().decode("utf-32-le")
    # The acute accent would become a space and a mark.
    text = text.replace("\u00b4", "'")
    text = normalize("NFKD", text)
    text = text.translate(forms_of)
    forms = np.frombuffer(text.encode("utf-32-le"), np.int32)
    is_end = forms == _SEPARATOR
    # Without the separators, each end moves by the number of separators before it.
    num_separators = np.arange(len(codes))
    ends = np.flatnonzero(is_end) - num_separators
    splits = np.append(0, ends)
    return codes, forms[~is_end], splits


def key_of(chars: str) -> int:
    """Returns the key of a letter with its marks, a polynomial modulo 2^64 as an int64."""
    key = 0
    for char in chars:
        key = key * FACTOR + ord(char)
    return signed(key % 2**64)
