"""The score of an evaluation set."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SetScore:
    """The score of one set, or the mean over several; correlations x 100.

    Attributes:
        name: Name of the set.
        num_pairs: Pairs scored.
        spearman: Spearman's rho x 100, `None` where one side is constant.
        pearson: Pearson's r x 100, `None` where one side is constant.
        paper: The paper's number for `metric`, where there is one.
        paper_source: The encoder it is for, and where it is from.
        metric: The primary correlation: `"spearman"` or `"pearson"`.
        num_unscored: Pairs without a human score, which were left out.
        sets: Of a mean: the sets it is over.
        left_out: Of a mean: sets that were there but have no correlation.
        missing: Of a mean: sets the paper has and we lack.
        interval: 95 % interval of `value` by bootstrap, where asked for.
        draws: `(num_resamples,)` values of the resamples, where asked for.
    """

    name: str
    num_pairs: int
    spearman: float | None
    pearson: float | None
    paper: float | None
    paper_source: str | None = None
    metric: str = "spearman"
    num_unscored: int = 0
    sets: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
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
        """Number of sets it is over."""
        return len(self.sets) if self.is_mean else 1

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes and properties, but for the draws, for JSON."""
        kept = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        kept = {key: list(part) if isinstance(part, tuple) else part for key, part in kept.items()}
        return {**kept, "value": self.value, "num_sets": self.num_sets}

    def rounded(self) -> SetScore:
        """Returns the score with its numbers rounded to 0.01; the draws stay as they are."""
        bounds = self.interval
        return replace(
            self,
            spearman=_rounded(self.spearman),
            pearson=_rounded(self.pearson),
            paper=_rounded(self.paper),
            interval=None if bounds is None else (round(bounds[0], 2), round(bounds[1], 2)),
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
