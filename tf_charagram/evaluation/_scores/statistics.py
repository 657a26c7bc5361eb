"""Correlations, and bootstrap intervals of scores over resampled examples."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

# Share of the resamples inside an interval.
_LEVEL = 0.95
# Counts of values in memory at the same time: 16 MB as float64.
_MAX_CELLS = 2_000_000
# Below this share of resamples with a defined value there is no interval.
_MIN_DEFINED = 0.5
# Variances below this are rounding errors of a constant side.
_MIN_VARIANCE = 1e-12


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
    # Nearly constant sides can still give NaN.
    return value if np.isfinite(value) else None


def hundredfold(value: float | None) -> float | None:
    """Multiplies a correlation by 100 for reports; `None` stays `None`."""
    return None if value is None else 100.0 * value


@dataclass(frozen=True, eq=False)
class MetricScore:
    """Numbers that compare predictions with the truth.

    Attributes:
        num_examples: Examples scored.
        metrics: The numbers, by name; `None` if undefined.
        intervals: 95 % bootstrap interval of each number, if asked for.
    """

    num_examples: int
    metrics: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float] | None]

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes, for JSON."""
        return {
            "num_examples": self.num_examples,
            **self.metrics,
            "intervals": dict(self.intervals),
        }


def bootstrap(
    predicted: NDArray[np.floating],
    gold: NDArray[np.floating],
    *,
    metric: str,
    num_resamples: int,
    seed: int,
    name: str = "",
) -> Floats:
    """Computes the correlation of resampled pairs.

    Two predictions for the same `gold` get the same resamples, so their differences are a paired
    bootstrap.

    Args:
        predicted: `(num_pairs,)`.
        gold: `(num_pairs,)`.
        metric: `"pearson"` or `"spearman"`.
        num_resamples: Number of resamples.
        seed: Seed of the resamples, together with `name`.
        name: Name of the set.

    Returns:
        `(num_resamples,)`; NaN if one side of a resample is constant.
    """
    resampled = resampled_spearman if metric == "spearman" else resampled_pearson
    # Sets of equal size must not share resamples: errors of their means would add up.
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    values = [np.empty(0)]
    for counts in resample_counts(len(gold), num_resamples, random):
        values.append(resampled(predicted, gold, counts))
    return np.concatenate(values)


def resample_counts(
    num_values: int, num_resamples: int, random: np.random.Generator
) -> Iterator[Floats]:
    """Yields the count of each value in each resample, in chunks `(num_rows, num_values)`."""
    size = max(1, _MAX_CELLS // max(1, num_values))
    for start in range(0, num_resamples, size):
        num_rows = min(size, num_resamples - start)
        shape = (num_rows, num_values)
        drawn = random.integers(num_values, size=shape)
        # Each row gets numbers of its own, so one `bincount` counts all rows.
        offsets = num_values * np.arange(num_rows)
        drawn += offsets[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=drawn.size)
        yield counts.reshape(shape).astype(np.float64)


def intervals_of(
    names: Sequence[str],
    num_examples: int,
    statistics: Callable[[Floats], Iterable[Floats]],
    *,
    num_resamples: int,
    seed: int,
) -> dict[str, tuple[float, float] | None]:
    """Computes the intervals of some metrics over resampled examples.

    Args:
        names: Names of the metrics.
        num_examples: Number of examples.
        statistics: Computes each metric of each resample, `(num_rows,)` each, from the counts of
            the examples, `(num_rows, num_examples)`.
        num_resamples: Number of resamples; 0 for no intervals.
        seed: Seed of the resamples. Results with the same seed have the same resamples.
    """
    if not num_resamples:
        return {}
    random = np.random.default_rng(seed)
    chunks = [statistics(counts) for counts in resample_counts(num_examples, num_resamples, random)]
    draws = np.concatenate([np.stack(list(chunk)) for chunk in chunks], axis=1)
    return {name: interval(values) for name, values in zip(names, draws, strict=True)}


def resampled_pearson(
    predicted: NDArray[np.floating], gold: NDArray[np.floating], counts: Floats
) -> Floats:
    """Computes Pearson's r of resamples from five weighted sums: one matrix product.

    Args:
        predicted: `(num_pairs,)`.
        gold: `(num_pairs,)`.
        counts: Count of each pair in each resample, `(num_resamples, num_pairs)`.

    Returns:
        `(num_resamples,)`; NaN if one side is constant.
    """
    x = _standard(predicted)
    y = _standard(gold)
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)
    means = counts @ columns / len(x)
    mean_x, mean_y, mean_xx, mean_yy, mean_xy = means.T
    # cov(x, y) = E[xy] - E[x] E[y]
    covariance = mean_xy - mean_x * mean_y
    return _ratio(covariance, mean_xx - mean_x**2, mean_yy - mean_y**2)


def resampled_spearman(
    predicted: NDArray[np.floating], gold: NDArray[np.floating], counts: Floats
) -> Floats:
    """Computes Spearman's rho of resamples: Pearson's r of their average ranks.

    Resamples are not sorted: a rank is a running sum of the counts.

    Args:
        predicted: `(num_pairs,)`.
        gold: `(num_pairs,)`.
        counts: Count of each pair in each resample, `(num_resamples, num_pairs)`.

    Returns:
        `(num_resamples,)`; NaN if one side is constant.
    """
    x = _ranks(predicted, counts)
    y = _ranks(gold, counts)
    num_pairs = counts.shape[1]
    # Ranks have mean 0, so weighted sums of products are covariances.
    covariance = _weighted_sums(counts, x, y) / num_pairs
    variance_x = _weighted_sums(counts, x, x) / num_pairs
    variance_y = _weighted_sums(counts, y, y) / num_pairs
    return _ratio(covariance, variance_x, variance_y)


def _weighted_sums(counts: Floats, x: Floats, y: Floats) -> Floats:
    return np.einsum("ri,ri,ri->r", counts, x, y)


def interval(draws: Floats) -> tuple[float, float] | None:
    """Returns the percentile interval of resampled values; `None` if most are NaN."""
    defined = draws[np.isfinite(draws)]
    if not len(draws) or len(defined) < _MIN_DEFINED * len(draws):
        return None
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def _standard(values: NDArray[np.floating]) -> Floats:
    """Scales values to mean 0 and deviation 1, so that sums of squares lose no digits."""
    centered = values.astype(np.float64) - np.mean(values, dtype=np.float64)
    deviation = centered.std()
    return centered / deviation if deviation > 0 else centered


def _ranks(values: NDArray[np.floating], counts: Floats) -> Floats:
    """Returns the average ranks in each resample, scaled to about -1..1 around their mean."""
    # A group is a distinct value: its members share a rank.
    _, groups = np.unique(values, return_inverse=True)
    order = np.argsort(groups, kind="stable")
    _, starts = np.unique(groups[order], return_index=True)
    group_counts = np.add.reduceat(counts[:, order], starts, axis=1)
    # A rank is the number of smaller values, and half the number of equal values.
    num_up_to = np.cumsum(group_counts, axis=1)
    middle = num_up_to - group_counts / 2
    # The mean of all ranks is half the number of pairs, with or without ties.
    half = len(values) / 2
    group_ranks = (middle - half) / half
    return group_ranks[:, groups]


def _ratio(covariance: Floats, variance_x: Floats, variance_y: Floats) -> Floats:
    """Divides covariances by deviations; NaN if a variance is zero up to rounding."""
    is_defined = np.minimum(variance_x, variance_y) > _MIN_VARIANCE
    product = np.where(is_defined, variance_x * variance_y, 1.0)
    ratio = covariance / np.sqrt(product)
    return np.where(is_defined, np.clip(ratio, -1.0, 1.0), np.nan)
