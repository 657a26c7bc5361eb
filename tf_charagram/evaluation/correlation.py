"""Rank and linear correlation, defined for every input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats


def spearman(predicted: np.ndarray, gold: np.ndarray) -> float | None:
    """Computes Spearman's rho with average ranks; `None` if one side is constant."""
    return _correlation(stats.spearmanr, predicted, gold)


def pearson(predicted: np.ndarray, gold: np.ndarray) -> float | None:
    """Computes Pearson's r; `None` if one side is constant."""
    return _correlation(stats.pearsonr, predicted, gold)


def _correlation(
    function: Callable[..., Any], predicted: np.ndarray, gold: np.ndarray
) -> float | None:
    if len(gold) < 2 or np.ptp(predicted) == 0 or np.ptp(gold) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        value = float(function(predicted, gold).statistic)
    return value if np.isfinite(value) else None


def hundredfold(value: float | None) -> float | None:
    """Returns 100 times a correlation, as it is reported; `None` stays `None`."""
    return None if value is None else 100.0 * value
