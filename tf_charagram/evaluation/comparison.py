"""Differences of two systems on the same examples, with paired bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tf_charagram.evaluation.bootstrap import Floats, interval
from tf_charagram.evaluation.scores import SetScore, round_interval


@dataclass(frozen=True)
class Difference:
    """The second score minus the first; x 100.

    Attributes:
        name: Name of the set or mean.
        value: The difference; `None` if one of the scores is undefined, or if two means are over
            different sets.
        interval: Its 95 % interval by paired bootstrap, if both scores have draws.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes as a dictionary."""
        return asdict(self)


def differences(first: Sequence[SetScore], second: Sequence[SetScore]) -> list[Difference]:
    """Subtracts two results of `score_sets` on the same pairs and with the same seed.

    Differences are rounded to 0.01.
    """
    return [_difference(*scores) for scores in zip(first, second, strict=True)]


def _difference(first: SetScore, second: SetScore) -> Difference:
    if first.value is None or second.value is None or first.sets != second.sets:
        return Difference(first.name, None, None)
    bounds = round_interval(_interval(first.draws, second.draws))
    return Difference(first.name, round(second.value - first.value, 2), bounds)


def _interval(first: Floats | None, second: Floats | None) -> tuple[float, float] | None:
    return None if first is None or second is None else interval(second - first)
