"""Classes of characters of Unicode 14.0, whatever the version of Python."""

from __future__ import annotations

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
