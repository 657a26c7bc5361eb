"""Rank and linear correlation that are defined on any input."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats


def spearman(predicted: np.ndarray, gold: np.ndarray) -> float | None:
    """Returns Spearman's rho with average ranks, or `None` where one side is constant."""
    return _correlation(stats.spearmanr, predicted, gold)


def pearson(predicted: np.ndarray, gold: np.ndarray) -> float | None:
    """Returns Pearson's r, or `None` where one side is constant."""
    return _correlation(stats.pearsonr, predicted, gold)


def _correlation(function, predicted: np.ndarray, gold: np.ndarray) -> float | None:  # type: ignore[no-untyped-def]
    if len(gold) < 2 or np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        value = float(function(predicted, gold).statistic)
    return value if np.isfinite(value) else None


def hundredfold(value: float | None) -> float | None:
    """Returns a correlation as it is reported, times 100; `None` stays `None`."""
    return None if value is None else 100.0 * value
