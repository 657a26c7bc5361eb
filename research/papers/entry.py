"""A table or figure of a paper: what it shows, what it needs, how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from research.analysis.table import Table
from research.papers.context import Context


@dataclass(frozen=True)
class Made:
    """What the function of an entry returns.

    Attributes:
        ours: Our table.
        paper: The paper's numbers in the same shape, if it has numbers.
        claims: As `Result.claims`.
    """

    ours: Table
    paper: Table | None = None
    claims: Mapping[str, bool | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A table or figure.

    Attributes:
        name: `PAPER/table-N` or `PAPER/figure-N`.
        shows: What it shows.
        make: Makes it from what was trained; cells of runs that were not stay empty.
        runs: The runs it needs.
        differences: What differs from the paper, besides data and length of training.
        quotes_data: Whether it has texts of evaluation sets, whose licences may forbid to print
            them where others read them.
    """

    name: str
    shows: str
    make: Callable[[Context], Made]
    runs: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    quotes_data: bool = False
