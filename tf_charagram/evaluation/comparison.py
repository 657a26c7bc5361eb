"""Two embedders on the same sets, or one on clean and on mistyped texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tf_charagram.evaluation.bootstrap import interval
from tf_charagram.evaluation.set_score import SetScore


@dataclass(frozen=True)
class Difference:
    """Second score less the first; x 100, rounded to 0.01.

    Attributes:
        name: Name of the set or mean.
        value: Difference of the correlations that count; `None` where one does not exist, or
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
    """Returns the differences of two results of `score_sets` on the same pairs.

    The draws of both must come from one seed: then each pair of draws is from the same pairs.
    """
    return [_difference(one, other) for one, other in zip(first, second, strict=True)]


def _difference(first: SetScore, second: SetScore) -> Difference:
    if first.value is None or second.value is None or first.sets != second.sets:
        return Difference(first.name, None, None)
    bounds = None
    if first.draws is not None and second.draws is not None:
        bounds = interval(second.draws - first.draws)
    return Difference(
        first.name,
        round(second.value - first.value, 2),
        None if bounds is None else (round(bounds[0], 2), round(bounds[1], 2)),
    )
