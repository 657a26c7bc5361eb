"""Columns that one table has in each other's place, such as given names and surnames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tf_charagram.search._pairs.flat_arrays import Flags, Ids
from tf_charagram.search.linkage._columns.values import sampled

if TYPE_CHECKING:
    from tf_charagram.search.linkage._columns.columns import Column

# So many right rows are in the left table crosswise, and so many times as many as straight.
_MIN_CROSSED = 10
_MIN_RATIO = 5
# Some rows are crossed if they are so many of all.
_MIN_SHARE = 0.02
# Unlike a missing value.
_ABSENT = -2


def places_in(column: Column, other: Column) -> Ids:
    """Returns the positions in one column of the values of another one, -2 if it lacks them.

    The last position is of a missing value.
    """
    places = {value: place for place, value in enumerate(column.values)}
    return np.array([*(places.get(value, _ABSENT) for value in other.values), _ABSENT], np.int64)


def crossed_columns(columns: Sequence[Column]) -> list[tuple[int, int, int | None]]:
    """Finds pairs of columns whose right cells are in each other's place.

    Returns:
        Numbers of both columns, and the number of crossed rows, or `None` for all of them.
    """
    found: list[tuple[int, int, int | None]] = []
    for one, other in combinations(range(len(columns)), 2):
        first, second = columns[one], columns[other]
        if first.kind.name != second.kind.name or first.is_one_table:
            continue
        # Columns that have hardly a common value are not crossed.
        if set(first.values).isdisjoint(sampled(second.values)):
            continue
        straight, crossed = _are_known(first, second, None)
        if crossed.sum() < _MIN_CROSSED:
            continue
        num_crossed = int((crossed & ~straight).sum())
        # Teams that play at home and away are told by the day.
        for third in (None, *columns):
            if third is first or third is second:
                continue
            straight, crossed = _are_known(first, second, third)
            least = max(_MIN_RATIO * (straight & ~crossed).sum(), _MIN_CROSSED)
            if (crossed & ~straight).sum() >= least:
                found.append((one, other, None))
                break
        else:
            least = max(_MIN_SHARE * len(first.right), _MIN_CROSSED)
            if first.kind.name == "name" and num_crossed >= least:
                found.append((one, other, num_crossed))
    return found


def _are_known(first: Column, second: Column, third: Column | None) -> tuple[Flags, Flags]:
    """Tells the right rows whose values are in a left row, straight and crosswise.

    Args:
        first: A column.
        second: Another one.
        third: Another one that must agree, too, or `None`.
    """
    left = [first.left, second.left]
    straight = [first.right, second.right]
    there = places_in(first, second)
    back = places_in(second, first)
    crosswise = [there[second.right], back[first.right]]
    if third is not None:
        left.append(third.left)
        straight.append(third.right)
        crosswise.append(third.right)
    sizes = [len(column.values) for column in (first, second, third) if column is not None]
    known = _keys(left, sizes)
    known = known[known >= 0]
    return np.isin(_keys(straight, sizes), known), np.isin(_keys(crosswise, sizes), known)


def _keys(columns: Sequence[Ids], sizes: Sequence[int]) -> Ids:
    """Returns the values of each row as one integer, negative if one is missing."""
    keys = np.zeros(len(columns[0]), np.int64)
    for values, size in zip(columns, sizes, strict=True):
        keys = np.where((keys >= 0) & (values >= 0), keys * size + values, _ABSENT)
    return keys
