"""Differences of two systems on the same sets, or of one on clean and on mistyped texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from tf_charagram.evaluation.bootstrap import Floats, interval
from tf_charagram.evaluation.set_score import SetScore


class Scored(Protocol):
    """A score that can be compared with another: metrics, and their values in resamples."""

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """The numbers, by name."""

    @property
    def draws(self) -> Mapping[str, Floats]:
        """Their values in the resamples, by name; empty if there are none."""


@dataclass(frozen=True)
class Difference:
    """The second score minus the first; x 100, rounded to 0.01.

    Attributes:
        name: Name of the set or mean.
        value: Difference of the primary correlations; `None` where one does not exist, or
            where the two means are not over the same sets.
        interval: Its 95 % interval by paired bootstrap, if both scores have draws.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes as a dictionary."""
        return asdict(self)


def differences(first: Sequence[SetScore], second: Sequence[SetScore]) -> list[Difference]:
    """Computes the differences of two results of `score_sets` on the same pairs.

    The draws of both must come from one seed: then each pair of draws is from the same pairs.
    """
    return [_difference(*scores) for scores in zip(first, second, strict=True)]


def score_differences(first: Scored, second: Scored) -> list[Difference]:
    """Computes the second score minus the first, metric by metric.

    Args:
        first: Score of one system.
        second: Score of the other on the same examples, of the same kind and seed.
    """
    changes = []
    for name, after in second.metrics.items():
        before = first.metrics[name]
        if before is None or after is None:
            changes.append(Difference(name, None, None))
        else:
            bounds = _interval(first.draws.get(name), second.draws.get(name))
            changes.append(Difference(name, after - before, bounds))
    return changes


def _difference(first: SetScore, second: SetScore) -> Difference:
    if first.value is None or second.value is None or first.sets != second.sets:
        return Difference(first.name, None, None)
    bounds = _interval(first.draws, second.draws)
    return Difference(
        first.name,
        round(second.value - first.value, 2),
        None if bounds is None else (round(bounds[0], 2), round(bounds[1], 2)),
    )


def _interval(first: Floats | None, second: Floats | None) -> tuple[float, float] | None:
    return None if first is None or second is None else interval(second - first)
