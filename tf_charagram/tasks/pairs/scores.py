"""Scores of predicted relatedness: both correlations and the mean squared error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tf_charagram.errors import ConfigError
from tf_charagram.evaluation.bootstrap import (
    Floats,
    interval,
    interval_lists,
    resample_counts,
    resampled_pearson,
    resampled_spearman,
)
from tf_charagram.evaluation.correlation import hundredfold, pearson, spearman


@dataclass(frozen=True, eq=False)
class RelatednessScore:
    """The score of predicted scores.

    Attributes:
        num_pairs: Pairs scored.
        pearson: Pearson's r x 100, `None` where one side is constant.
        spearman: Spearman's rho x 100, `None` where one side is constant.
        mse: Mean squared error, in the units of the scale, squared, and not x 100.
        intervals: 95 % interval by bootstrap of each of the three, if asked for.
        draws: Their values in the resamples, `(num_resamples,)` each, if asked for.
    """

    num_pairs: int
    pearson: float | None
    spearman: float | None
    mse: float
    intervals: dict[str, tuple[float, float] | None] = field(default_factory=dict)
    draws: dict[str, Floats] = field(default_factory=dict, repr=False)

    @property
    def metrics(self) -> dict[str, float | None]:
        """The numbers that two systems are compared by."""
        return {"pearson": self.pearson, "spearman": self.spearman, "mse": self.mse}

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes, but for the draws, for JSON."""
        return {
            "num_pairs": self.num_pairs,
            **self.metrics,
            "intervals": interval_lists(self.intervals),
        }


def score_relatedness(
    gold: ArrayLike, predicted: ArrayLike, *, num_resamples: int = 1000, seed: int = 0
) -> RelatednessScore:
    """Scores predicted scores.

    Two systems that are scored with one seed get the same resamples of the same pairs.

    Args:
        gold: `(num_pairs,)`, the human scores.
        predicted: `(num_pairs,)`, on the same scale.
        num_resamples: Resamples of the bootstrap; 0 for no intervals.
        seed: Seed of the resamples.

    Raises:
        ConfigError: There are no pairs, not as many predictions, or a number is not finite.
    """
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
    if gold.ndim != 1 or not len(gold) or gold.shape != predicted.shape:
        raise ConfigError(
            "`gold` and `predicted` must have equally many scores, at least 1. Received: shapes "
            f"{gold.shape} and {predicted.shape}"
        )
    if not np.isfinite([gold, predicted]).all():
        raise ConfigError("`gold` and `predicted` must be finite. Received: NaN or infinity")
    errors = (predicted - gold) ** 2
    draws = _draws(gold, predicted, errors, num_resamples, seed) if num_resamples else {}
    return RelatednessScore(
        len(gold),
        hundredfold(pearson(predicted, gold)),
        hundredfold(spearman(predicted, gold)),
        float(errors.mean()),
        {name: interval(values) for name, values in draws.items()},
        draws,
    )


def _draws(
    gold: Floats, predicted: Floats, errors: Floats, num_resamples: int, seed: int
) -> dict[str, Floats]:
    random = np.random.default_rng(seed)
    draws = [
        np.stack(
            [
                100.0 * resampled_pearson(predicted, gold, counts),
                100.0 * resampled_spearman(predicted, gold, counts),
                counts @ errors / len(errors),
            ]
        )
        for counts in resample_counts(len(gold), num_resamples, random)
    ]
    return dict(zip(("pearson", "spearman", "mse"), np.concatenate(draws, axis=1), strict=True))
