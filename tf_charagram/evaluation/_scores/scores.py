"""Scores an embedder on sets of pairs: correlations of cosines with human scores, and their means.

A mean is over a group of sets: `STS2012` over the sets of that year, `STS` over all sets of STS if
there are at least two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.evaluation._scores.statistics import (
    bootstrap,
    hundredfold,
    interval,
    pearson,
    spearman,
)
from tf_charagram.text._algorithm.arguments import distinct

#: Maps texts to unit-length (or zero) rows `(num_texts, dim)`: an array, or SciPy's CSR matrix.
Embed = Callable[[Sequence[str]], Any]

# Name of the mean over all sets of STS, and of the group of STS sets whose year is unknown.
_STS = "STS"
# Pairs multiplied at a time: the gathered rows of 10,000 pairs take 24 MB at 300 dimensions.
_CHUNK = 10_000


@dataclass(frozen=True)
class SetScore:
    """The score of one set, or the mean over several; correlations x 100.

    Attributes:
        name: Name of the set or mean.
        num_pairs: Pairs scored.
        spearman: Spearman's rho x 100; `None` if one side is constant.
        pearson: Pearson's r x 100; `None` if one side is constant.
        metric: The primary correlation: `"spearman"` or `"pearson"`.
        num_unscored: Pairs left out because they have no human score.
        sets: Names of the sets of a mean.
        left_out: Sets without a correlation, which are not part of the mean.
        interval: 95 % bootstrap interval of `value`, if asked for.
        draws: Values of the resamples `(num_resamples,)`, if asked for.
    """

    name: str
    num_pairs: int
    spearman: float | None
    pearson: float | None
    metric: str = "spearman"
    num_unscored: int = 0
    sets: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    draws: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> float | None:
        """The primary correlation."""
        return self.spearman if self.metric == "spearman" else self.pearson

    @property
    def is_mean(self) -> bool:
        """Whether this is a mean over sets."""
        return bool(self.sets or self.left_out)

    @property
    def num_sets(self) -> int:
        """Number of sets: 1, or the number of sets in the mean."""
        return len(self.sets) if self.is_mean else 1

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes except the draws, for JSON."""
        result = {part.name: getattr(self, part.name) for part in fields(self)}
        del result["draws"]
        return {**result, "value": self.value, "num_sets": self.num_sets}

    def rounded(self) -> SetScore:
        """Returns the score with its numbers, but not its draws, rounded to 0.01."""
        return replace(
            self,
            spearman=None if self.spearman is None else round(self.spearman, 2),
            pearson=None if self.pearson is None else round(self.pearson, 2),
            interval=_rounded(self.interval),
        )


@dataclass(frozen=True)
class Difference:
    """The second score minus the first; x 100, rounded to 0.01.

    Attributes:
        name: Name of the set or mean.
        value: The difference; `None` if one of the scores is undefined, or if two means are over
            different sets.
        interval: Its 95 % interval by paired bootstrap, if both scores have draws.
    """

    name: str
    value: float | None = None
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes as a dictionary."""
        return asdict(self)


def differences(first: Sequence[SetScore], second: Sequence[SetScore]) -> list[Difference]:
    """Subtracts two results of `score_sets` on the same pairs and with the same seed."""
    return [_difference(*scores) for scores in zip(first, second, strict=True)]


def _difference(first: SetScore, second: SetScore) -> Difference:
    if first.value is None or second.value is None or first.sets != second.sets:
        return Difference(first.name)
    change = round(second.value - first.value, 2)
    bounds = None
    if first.draws is not None and second.draws is not None:
        # Paired: draw i of both scores is from the same resample.
        bounds = interval(second.draws - first.draws)
    return Difference(first.name, change, _rounded(bounds))


def _rounded(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    if bounds is None:
        return None
    low, high = bounds
    return round(low, 2), round(high, 2)


def score_sets(
    embed: Embed, sets: Iterable[ScoredPairs], *, num_resamples: int = 0, seed: int = 0
) -> list[SetScore]:
    """Scores sets by the cosine of each pair.

    A pair with a zero vector has cosine 0. Each distinct text of a set is embedded once.

    Args:
        embed: Embeds texts to unit length.
        sets: The sets.
        num_resamples: Bootstrap resamples for intervals; 0 for no intervals.
        seed: Seed of the resamples. The resamples of a set depend on its name too, not on other
            sets.

    Returns:
        A score per set, in order, then the means; all rounded to 0.01.
    """
    sets = list(sets)
    return score_all(sets, set_cosines(embed, sets), num_resamples=num_resamples, seed=seed)


def score_all(
    sets: Sequence[ScoredPairs],
    cosines: Iterable[np.ndarray],
    *,
    num_resamples: int = 0,
    seed: int = 0,
) -> list[SetScore]:
    """Scores sets from the cosines of their pairs.

    Args:
        sets: The sets.
        cosines: Cosines of the pairs of each set, `(num_pairs,)`.
        num_resamples: Bootstrap resamples for intervals; 0 for no intervals.
        seed: Seed of the resamples.

    Returns:
        A score per set, in order, then the means; all rounded to 0.01.
    """
    scores = []
    for pairs, values in zip(sets, cosines, strict=True):
        scores.append(score_cosines(pairs, values, num_resamples=num_resamples, seed=seed))
    by_name = {score.name: score for score in scores}
    for name, members in mean_members(sets).items():
        scores.append(mean_score(name, [by_name[member] for member in members]))
    # Means are of scores that are not rounded yet.
    return [score.rounded() for score in scores]


def score_names(sets: Iterable[ScoredPairs]) -> list[str]:
    """Returns the names of the scores that `score_sets` computes, in order."""
    sets = list(sets)
    names = [pairs.name for pairs in sets]
    return names + list(mean_members(sets))


def score_cosines(
    pairs: ScoredPairs, cosines: np.ndarray, *, num_resamples: int = 0, seed: int = 0
) -> SetScore:
    """Scores one set from the cosines of its pairs, `(num_pairs,)`; not rounded."""
    draws = None
    if num_resamples:
        draws = 100.0 * bootstrap(
            cosines,
            pairs.scores,
            metric=pairs.metric,
            num_resamples=num_resamples,
            seed=seed,
            name=pairs.name,
        )
    return SetScore(
        name=pairs.name,
        num_pairs=len(pairs),
        spearman=hundredfold(spearman(cosines, pairs.scores)),
        pearson=hundredfold(pearson(cosines, pairs.scores)),
        metric=pairs.metric,
        num_unscored=pairs.num_unscored,
        interval=None if draws is None else interval(draws),
        draws=draws,
    )


def mean_members(sets: Sequence[ScoredPairs]) -> dict[str, list[str]]:
    """Returns the names of the means over some sets, each with the names of its sets."""
    groups: dict[str, list[str]] = {}
    for pairs in sets:
        if pairs.group is not None:
            groups.setdefault(pairs.group, []).append(pairs.name)
    sts = []
    for group, names in groups.items():
        if group.startswith(_STS):
            sts += names
    if len(sts) < 2:
        return groups
    # The mean over all years comes last, and includes the sets whose year is unknown.
    groups.pop(_STS, None)
    return {**groups, _STS: sts}


def mean_score(name: str, scores: Sequence[SetScore]) -> SetScore:
    """Averages the scores of sets.

    Args:
        name: Name of the mean.
        scores: Scores of the sets, at least one. Sets without a correlation are left out.
    """
    used = [score for score in scores if score.value is not None]
    draws = [score.draws for score in used if score.draws is not None]
    mean_draws = np.mean(draws, axis=0) if draws else None
    return SetScore(
        name=name,
        num_pairs=sum(score.num_pairs for score in used),
        spearman=_average(score.spearman for score in used),
        pearson=_average(score.pearson for score in used),
        metric=scores[0].metric,
        num_unscored=sum(score.num_unscored for score in scores),
        sets=tuple(score.name for score in used),
        left_out=tuple(score.name for score in scores if score.value is None),
        interval=None if mean_draws is None else interval(mean_draws),
        draws=mean_draws,
    )


def _average(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def set_cosines(embed: Embed, sets: Iterable[ScoredPairs]) -> Iterator[np.ndarray]:
    """Yields the cosines of the pairs of each set, `(num_pairs,)`.

    Args:
        embed: Embeds texts to unit length; called once per set with its distinct texts.
        sets: The sets.
    """
    for pairs in sets:
        texts, rows = distinct(pairs.left + pairs.right)
        left, right = np.split(rows, 2)
        yield _cosines(embed(texts), left, right)


def _cosines(vectors: Any, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Multiplies the rows of pairs, in chunks because gathered rows are copies."""
    parts = []
    for start in range(0, len(left), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        left_vectors = vectors[left[chunk]]
        right_vectors = vectors[right[chunk]]
        parts.append(_row_products(left_vectors, right_vectors))
    return np.concatenate(parts)


def _row_products(left: Any, right: Any) -> np.ndarray:
    # Rows have unit length, so their products are cosines.
    if scipy.sparse.issparse(left):
        products = left.multiply(right)
        return np.asarray(products.sum(axis=1)).reshape(-1)
    return np.sum(left * right, axis=1)
