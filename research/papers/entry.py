"""A table or figure of a paper, its runs, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from research.analysis.table import Table
from research.papers.context import Context


@dataclass(frozen=True)
class Made:
    """The result of the function of an entry.

    Attributes:
        ours: Our table.
        paper: The paper's numbers in the same shape, if any.
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
        shows: Short description.
        make: Makes it from the trained runs; cells of other runs stay empty.
        runs: The runs it needs.
        differences: Differences from the paper, besides data and length of training.
        quotes_data: Whether it quotes evaluation sets, whose licences may forbid publication.
    """

    name: str
    shows: str
    make: Callable[[Context], Made]
    runs: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    quotes_data: bool = False
