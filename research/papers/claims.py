"""Checks of the papers' claims on our numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from research.analysis.table import Cell


def is_above(value: Cell, others: Iterable[Cell]) -> bool | None:
    """Returns whether a number is above others; `None` if one is missing."""
    others = list(others)
    if not others or not all(isinstance(each, float | int) for each in (value, *others)):
        return None
    return all(value > other for other in others)  # type: ignore[operator]


def all_above(values: Iterable[Cell], others: Iterable[Cell]) -> bool | None:
    """Returns whether all numbers are above all others; `None` if one is missing."""
    others = list(others)
    results = [is_above(value, others) for value in values]
    return None if None in results else all(results)


def is_above_throughout(values: Iterable[Cell], *others: Iterable[Cell]) -> bool | None:
    """Returns whether each number is above the others of its row; rows with a gap are left out."""
    rows = zip(values, *others, strict=True)
    told = [above for value, *rest in rows if (above := is_above(value, rest)) is not None]
    return all(told) if told else None


def is_within(values: Sequence[Cell], most: float) -> bool | None:
    """Returns whether numbers differ by at most `most`; `None` if one is missing."""
    numbers = [value for value in values if isinstance(value, float | int)]
    return max(numbers) - min(numbers) <= most if len(numbers) == len(values) else None
