"""Each text once, for what is the same wherever it occurs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=Hashable)


def distinct(texts: Iterable[T]) -> tuple[list[T], NDArray[np.int64]]:
    """Returns each text once, in the order of first occurrence, and where each one is in it.

    Example:
        >>> texts, row_indices = distinct(["a", "b", "a"])
        >>> texts, row_indices.tolist()
        (['a', 'b'], [0, 1, 0])
    """
    index: dict[T, int] = {}
    row_indices = [index.setdefault(text, len(index)) for text in texts]
    return list(index), np.array(row_indices, np.int64)
