"""Differences of two systems on the same examples, with paired bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from rich.table import Table

from tf_charagram.evaluation.bootstrap import Floats, interval
from tf_charagram.evaluation.scores import SetScore, round_interval
from tf_charagram.reporting.console import INTERVAL, make_table, number
from tf_charagram.reporting.console import interval as interval_cell


class Scored(Protocol):
    """A score that can be compared with another one of its kind."""

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """Numbers by name."""

    @property
    def draws(self) -> Mapping[str, Floats]:
        """Their values in the resamples, by name; empty without a bootstrap."""


@dataclass(frozen=True)
class Difference:
    """The second score minus the first; x 100.

    Attributes:
        name: Name of the set, mean or metric.
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


def score_differences(first: Scored, second: Scored) -> list[Difference]:
    """Subtracts the first score from the second, metric by metric.

    Both must be of one kind, on the same examples, and resampled with the same seed.
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


def difference_table(name: str, differences: Sequence[Difference]) -> Table:
    """Returns a table of the second of two models minus the first on a set."""
    table = make_table(f"{name}: second less first", ["metric"], ["difference", INTERVAL])
    for change in differences:
        bounds = interval_cell(change.interval, ".4f")
        table.add_row(change.name, number(change.value, ".4f"), bounds)
    return table


def _difference(first: SetScore, second: SetScore) -> Difference:
    if first.value is None or second.value is None or first.sets != second.sets:
        return Difference(first.name, None, None)
    bounds = round_interval(_interval(first.draws, second.draws))
    return Difference(first.name, round(second.value - first.value, 2), bounds)


def _interval(first: Floats | None, second: Floats | None) -> tuple[float, float] | None:
    return None if first is None or second is None else interval(second - first)
