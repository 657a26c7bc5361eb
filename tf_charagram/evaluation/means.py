"""Means over sets, as the papers report them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.readers.sts import NO_YEAR, STS_SETS
from tf_charagram.evaluation.bootstrap import interval
from tf_charagram.evaluation.papers import PAPER, PAPER_MEAN, PAPER_SETS, paper_mean
from tf_charagram.evaluation.set_score import SetScore

#: Name of the row with the mean over all sets of STS.
STS_MEAN = "STS"


def mean_scores(sets: Sequence[ScoredPairs], scores: Sequence[SetScore]) -> list[SetScore]:
    """Computes the means over groups of sets.

    Args:
        sets: The sets.
        scores: The score of each, not rounded.

    Returns:
        One mean per group, such as `STS2012`; `STS`, over all sets of STS if they are two or more;
        and `paper mean`, over those of the Charagram paper's 22 sets that are there, if any is.
        A set without a correlation counts in none of them and is named in `left_out`. `paper` is
        over the same sets as ours, so that it can be compared where sets are missing.
    """
    by_name = {score.name: score for score in scores}
    return [
        _mean(name, [by_name[member] for member in members], expected)
        for name, members, expected in _means(sets)
    ]


def mean_names(sets: Sequence[ScoredPairs]) -> list[str]:
    """Returns the names of the means that `mean_scores` gives."""
    return [name for name, _, _ in _means(sets)]


def _means(sets: Sequence[ScoredPairs]) -> Iterator[tuple[str, list[str], Sequence[str]]]:
    """Yields the name of each mean, the sets it is over, and the sets that are expected."""
    groups: dict[str, list[str]] = {}
    for pairs in sets:
        if pairs.group is not None:
            groups.setdefault(pairs.group, []).append(pairs.name)
    for group, members in groups.items():
        if group != NO_YEAR:
            yield group, members, _year(group)
    sts = [name for group in groups if group.startswith(STS_MEAN) for name in groups[group]]
    if len(sts) > 1:
        yield STS_MEAN, sts, ()
    papers = [pairs.name for pairs in sets if pairs.name in PAPER_SETS]
    if papers:
        yield PAPER_MEAN, papers, PAPER_SETS


def _year(group: str) -> tuple[str, ...]:
    """Returns the names of all sets of a year of STS."""
    return tuple(f"{group}.{name}" for name in STS_SETS.get(group.removeprefix("STS"), ()))


def _mean(name: str, scores: Sequence[SetScore], expected: Sequence[str]) -> SetScore:
    """Returns the mean of some scores, with the names of those that are missing."""
    used = [score for score in scores if score.value is not None]
    left_out = tuple(score.name for score in scores if score.value is None)
    present = {score.name for score in scores}
    missing = tuple(name for name in expected if name not in present)
    draws = [score.draws for score in used if score.draws is not None]
    mean_draws = np.mean(draws, axis=0) if draws else None
    is_whole = name in PAPER and not (missing or left_out)
    return SetScore(
        name=name,
        num_pairs=sum(score.num_pairs for score in used),
        spearman=_average([score.spearman for score in used]),
        pearson=_average([score.pearson for score in used]),
        paper=PAPER[name] if is_whole else paper_mean(score.name for score in used),
        metric=scores[0].metric,
        num_unscored=sum(score.num_unscored for score in scores),
        sets=tuple(score.name for score in used),
        left_out=left_out,
        missing=missing,
        interval=None if mean_draws is None else interval(mean_draws),
        draws=mean_draws,
    )


def _average(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None
