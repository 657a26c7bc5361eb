"""Scores of predicted relatedness: both correlations and the mean squared error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rich.table import Table

from tf_charagram.evaluation.bootstrap import (
    Floats,
    interval,
    resample_counts,
    resampled_pearson,
    resampled_spearman,
)
from tf_charagram.evaluation.correlation import hundredfold, pearson, spearman
from tf_charagram.tasks.supervised import metric_table


@dataclass(frozen=True, eq=False)
class RelatednessScore:
    """The score of predicted scores.

    Attributes:
        num_pairs: Number of pairs.
        pearson: Pearson's r x 100; `None` if one side is constant.
        spearman: Spearman's rho x 100; `None` if one side is constant.
        mse: Mean squared error, in squared units of the scale.
        intervals: 95 % bootstrap interval of each of the three, if asked for.
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
        """The numbers by which two models are compared."""
        return {"pearson": self.pearson, "spearman": self.spearman, "mse": self.mse}

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes except the draws, for JSON."""
        return {
            "num_pairs": self.num_pairs,
            **self.metrics,
            "intervals": self.intervals,
        }


def score_relatedness(
    gold: ArrayLike, predicted: ArrayLike, *, num_resamples: int = 1000, seed: int = 0
) -> RelatednessScore:
    """Scores predicted scores.

    Args:
        gold: The human scores, `(num_pairs,)`.
        predicted: The predicted scores on the same scale, `(num_pairs,)`.
        num_resamples: Bootstrap resamples; 0 for no intervals.
        seed: Seed of the resamples. Two models scored with one seed get the same resamples.
    """
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
    errors = (predicted - gold) ** 2
    draws: dict[str, Floats] = {}
    if num_resamples:
        random = np.random.default_rng(seed)
        resampled = [
            [
                100.0 * resampled_pearson(predicted, gold, counts),
                100.0 * resampled_spearman(predicted, gold, counts),
                counts @ errors / len(errors),
            ]
            for counts in resample_counts(len(gold), num_resamples, random)
        ]
        values = np.concatenate(resampled, axis=1)
        draws = dict(zip(("pearson", "spearman", "mse"), values, strict=True))
    return RelatednessScore(
        len(gold),
        hundredfold(pearson(predicted, gold)),
        hundredfold(spearman(predicted, gold)),
        float(errors.mean()),
        {name: interval(values) for name, values in draws.items()},
        draws,
    )


def relatedness_table(scores: Sequence[tuple[str, RelatednessScore]]) -> Table:
    """Returns a table with correlations x 100 and the squared error, one row per set."""
    metrics = {
        "pearson": ("Pearson", ".2f"), "spearman": ("Spearman", ".2f"), "mse": ("MSE", ".4f"),
    }  # fmt: skip
    rows = [(name, score.num_pairs, score) for name, score in scores]
    table = metric_table("Relatedness: correlations x 100", "pairs", metrics, rows)
    table.caption = "MSE: in squared units of the scale."
    return table
