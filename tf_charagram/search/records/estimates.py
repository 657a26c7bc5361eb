"""How many of the answers are right, as the probabilities of the pairs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Thresholds whose precision and recall are shown next to the chosen one.
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
#: With fewer expected matches, an estimate says nothing.
MIN_MATCHES = 20


class Estimate(NamedTuple):
    """The expected precision and recall of the pairs above a threshold.

    Attributes:
        threshold: Minimum probability.
        num_pairs: Number of pairs above it.
        precision: Expected share of these that match; NaN without any.
        recall: Expected share of all matches that are among them; NaN if no match is expected.
    """

    threshold: float
    num_pairs: int
    precision: float
    recall: float


def estimate(
    shown: NDArray[np.floating], candidates: NDArray[np.floating], thresholds: Sequence[float]
) -> list[Estimate]:
    """Estimates precision and recall.

    A pair of probability p is p matches, so precision is the mean probability of the pairs that are
    shown, and recall their sum over the sum of all pairs.

    Args:
        shown: Probabilities of the pairs of the answer, for the smallest threshold.
        candidates: Probabilities of all candidates.
        thresholds: Thresholds.
    """
    expected = candidates.sum()
    estimates = []
    for threshold in thresholds:
        chosen = shown[shown >= threshold]
        precision = chosen.mean() if len(chosen) else np.nan
        recall = min(chosen.sum() / expected, 1) if expected > 0 else np.nan
        estimates.append(Estimate(threshold, len(chosen), float(precision), float(recall)))
    return estimates
