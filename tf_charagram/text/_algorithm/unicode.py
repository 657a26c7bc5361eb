"""Classes of characters of Unicode 14.0, whatever the version of Python."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

import numpy as np


@cache
def unicode_ranges() -> dict[str, np.ndarray]:
    """Returns the code points at which a class of characters starts and ends, by turns.

    `decomposed` characters have another NFKD form; `in_word` are `marks` and alphanumeric ones.
    """
    # Made by `str.isalnum`, `str.isalpha` and `unicodedata` of Python 3.11.
    with np.load(Path(__file__).with_name("unicode_14.npz")) as file:
        return dict(file)


def is_in_class(name: str, code_points: np.ndarray | int) -> np.ndarray:
    """Returns whether code points belong to a class in `unicode_ranges`; bool of their shape."""
    edges = unicode_ranges()[name]
    # Ranges start and end by turns, so inside is after an odd number of edges.
    num_edges = np.searchsorted(edges, code_points, side="right")
    return num_edges % 2 == 1


def code_points_of(name: str) -> np.ndarray:
    """Lists the code points of a class in `unicode_ranges`, ascending, int64."""
    edges = unicode_ranges()[name]
    is_edge = np.zeros(edges[-1] + 1, bool)
    is_edge[edges] = True
    is_inside = np.logical_xor.accumulate(is_edge)
    return np.flatnonzero(is_inside)


# First words of the names of marks that many scripts share, such as the acute accent, and of the
# marks of scripts whose letters spell words without them.
_SHARED_MARK = "COMBINING"
_SCRIPTS_WITH_OPTIONAL_MARKS = (_SHARED_MARK, "ARABIC", "HEBREW", "SYRIAC", "SAMARITAN", "MANDAIC")
# Canonical combining classes: overlays; points of Hebrew, Arabic and Syriac; and the first of the
# classes of accents, which say on which side of a letter they are.
_OVERLAY = 1
_FIRST_POINT, _LAST_POINT = 10, 36
_FIRST_SIDE = 200


@cache
def optional_marks() -> list[int]:
    """Lists the marks that readers do without: accents, and vowel points of Arabic and Hebrew.

    Vowel signs, tone marks and other marks that spell a word, such as those of Devanagari and Thai,
    have classes between, or none.
    """
    return [code for code in code_points_of("marks").tolist() if _is_optional(chr(code))]


@cache
def vowel_points() -> list[int]:
    """Lists the optional marks of scripts that are usually written without, such as Arabic."""
    points = []
    for code in optional_marks():
        if not unicodedata.name(chr(code), "").startswith(_SHARED_MARK):
            points.append(code)
    return points


def _is_optional(mark: str) -> bool:
    combining_class = unicodedata.combining(mark)
    is_enclosing = unicodedata.category(mark) == "Me"
    if is_enclosing or combining_class == _OVERLAY:
        return True
    if _FIRST_POINT <= combining_class <= _LAST_POINT:
        return True
    has_side = combining_class >= _FIRST_SIDE
    return has_side and unicodedata.name(mark, "").startswith(_SCRIPTS_WITH_OPTIONAL_MARKS)
