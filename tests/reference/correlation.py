"""Pearson's r and Spearman's rho, never NaN."""

import math
from collections.abc import Sequence


def _checked(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """Returns both as floats; raises if the lengths differ or a value is not finite."""
    x, y = [float(value) for value in x], [float(value) for value in y]
    if len(x) != len(y):
        raise ValueError(f"Number of x ({len(x)}) and of y ({len(y)}) differ.")
    if not all(math.isfinite(value) for value in x + y):
        raise ValueError("All values must be finite.")
    return x, y


def average_ranks(values: Sequence[float]) -> list[float]:
    """Ranks values from 1 for the smallest; equal ones share the mean of their places.

    Args:
        values: `(n,)`.

    Returns:
        Ranks, `(n,)`.

    Example:
        >>> average_ranks([10, 30, 20, 30])
        [1.0, 3.5, 2.0, 3.5]
    """
    values = list(values)
    return [
        # `below` values come first; the `equal` ones fill the places below + 1 .. below + equal.
        sum(other < value for other in values) + (sum(o == value for o in values) + 1) / 2
        for value in values
    ]


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Returns Pearson's r.

    Args:
        x: `(n,)`, finite.
        y: `(n,)`, finite.

    Returns:
        r in [-1, 1]; None if x or y is constant, which includes fewer than two values.

    Raises:
        ValueError: If the lengths differ or a value is not finite.
    """
    x, y = _checked(x, y)
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    x, y = [value - mean_x for value in x], [value - mean_y for value in y]
    # The largest deviation becomes 1, so that no square under- or overflows.
    largest_x, largest_y = max(map(abs, x)), max(map(abs, y))
    x, y = [value / largest_x for value in x], [value / largest_y for value in y]
    products = math.fsum(u * v for u, v in zip(x, y, strict=True))
    squares = math.fsum(u * u for u in x) * math.fsum(v * v for v in y)
    return max(-1.0, min(1.0, products / math.sqrt(squares)))


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Returns Spearman's rho: Pearson's r of the average ranks.

    Args:
        x: `(n,)`, finite.
        y: `(n,)`, finite.

    Returns:
        rho in [-1, 1]; None if x or y is constant, which includes fewer than two values.

    Raises:
        ValueError: If the lengths differ or a value is not finite.
    """
    x, y = _checked(x, y)
    return pearson(average_ranks(x), average_ranks(y))
