"""Percentile bootstrap of a correlation, one resample at a time."""

from collections.abc import Callable, Sequence

import numpy as np

Correlation = Callable[[Sequence[float], Sequence[float]], float | None]


def resampled(
    correlation: Correlation,
    x: Sequence[float],
    y: Sequence[float],
    counts: Sequence[Sequence[int]],
) -> list[float]:
    """Writes each resample out and correlates it.

    Args:
        correlation: Of two lists of equal length.
        x: `(n,)`.
        y: `(n,)`.
        counts: `(num_resamples, n)`, how often a resample holds each pair.

    Returns:
        `(num_resamples,)`; NaN where the correlation does not exist.
    """
    values = []
    for row in counts:
        chosen = [i for i, count in enumerate(row) for _ in range(int(count))]
        value = correlation([x[i] for i in chosen], [y[i] for i in chosen])
        values.append(float("nan") if value is None else value)
    return values


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the bounds that leave 2.5 % of the values that exist outside on each side."""
    ordered = np.sort([value for value in values if value == value])

    def quantile(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))

    return quantile(0.025), quantile(0.975)
