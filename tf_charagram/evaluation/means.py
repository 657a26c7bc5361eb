"""Means over sets, as the papers report them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from research.paper_numbers import PAPER_MEAN, PAPER_SETS, PaperScores
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.readers.sts import NO_YEAR, STS_SETS
from tf_charagram.evaluation.bootstrap import interval
from tf_charagram.evaluation.set_score import SetScore

#: Name of the row with the mean over all sets of STS.
STS_MEAN = "STS"


def mean_scores(
    sets: Sequence[ScoredPairs], scores: Sequence[SetScore], paper: PaperScores | None = None
) -> list[SetScore]:
    """Computes the means over groups of sets.

    Args:
        sets: The sets.
        scores: The score of each, not rounded.
        paper: What a paper reports for the encoder, if one has it.

    Returns:
        One mean per group, such as `STS2012`; `STS`, over all sets of STS if they are two or more;
        `paper mean`, over those of the Charagram paper's 22 sets that are there, if any is; and for
        encoders of the CSE paper `cse mean`, over those of its 20 sets.
        A set without a correlation counts in none of them and is named in `left_out`. `paper` is
        over the same sets as ours, so that it can be compared where sets are missing.
    """
    by_name = {score.name: score for score in scores}
    return [
        _mean(name, [by_name[member] for member in members], expected, paper)
        for name, members, expected in _means(sets, paper)
    ]


def mean_members(
    sets: Sequence[ScoredPairs], paper: PaperScores | None = None
) -> dict[str, list[str]]:
    """Returns the names of the means that `mean_scores` gives, each with those of its sets."""
    return {name: members for name, members, _ in _means(sets, paper)}


def _means(
    sets: Sequence[ScoredPairs], paper: PaperScores | None
) -> Iterator[tuple[str, list[str], Sequence[str]]]:
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
    of_papers = {PAPER_MEAN: PAPER_SETS, **({paper.mean: paper.sets} if paper else {})}
    for name, expected in of_papers.items():
        members = [pairs.name for pairs in sets if pairs.name in expected]
        if members:
            yield name, members, expected


def _year(group: str) -> tuple[str, ...]:
    """Returns the names of all sets of a year of STS."""
    return tuple(f"{group}.{name}" for name in STS_SETS.get(group.removeprefix("STS"), ()))


def _mean(
    name: str, scores: Sequence[SetScore], expected: Sequence[str], paper: PaperScores | None
) -> SetScore:
    """Returns the mean of some scores, with the names of those that are missing."""
    used = [score for score in scores if score.value is not None]
    left_out = tuple(score.name for score in scores if score.value is None)
    present = {score.name for score in scores}
    missing = tuple(name for name in expected if name not in present)
    draws = [score.draws for score in used if score.draws is not None]
    mean_draws = np.mean(draws, axis=0) if draws else None
    number = None if paper is None else paper.mean_over(score.name for score in used)
    if paper is not None and name in paper.scores and not (missing or left_out):
        number = paper.scores[name]
    return SetScore(
        name=name,
        num_pairs=sum(score.num_pairs for score in used),
        spearman=_average([score.spearman for score in used]),
        pearson=_average([score.pearson for score in used]),
        paper=number,
        paper_source=paper.source if paper else None,
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
