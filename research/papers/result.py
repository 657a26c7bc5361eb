"""The result of a table: our numbers, and the paper's in the same cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from research.analysis.table import Cell, Table, cell_text

#: Text for a claim that holds, does not hold, or could not be checked.
VERDICTS = {True: "Holds here", False: "Does not hold here", None: "Could not be told"}
#: In notes on substitutes for the papers' data.
NOT_AT_HAND = "was not at hand; instead:"


@dataclass(frozen=True)
class Result:
    """The result of a table or figure.

    Attributes:
        ours: Our numbers.
        paper: The paper's numbers in the same rows and columns; `None` for a table of words.
        claims: Claim of the paper -> whether it holds here; `None` if it could not be checked.
        differences: Differences from the paper in data and settings, one sentence each.
    """

    ours: Table
    paper: Table | None = None
    claims: Mapping[str, bool | None] = field(default_factory=dict)
    differences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes, for JSON."""
        return {
            "ours": self.ours.to_dict(),
            "paper": None if self.paper is None else self.paper.to_dict(),
            "claims": dict(self.claims),
            "differences": list(self.differences),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """Restores a result from the output of `to_dict`."""
        paper = values["paper"]
        return cls(
            ours=Table.from_dict(values["ours"]),
            paper=None if paper is None else Table.from_dict(paper),
            claims=values["claims"],
            differences=tuple(values["differences"]),
        )

    def filled_from(self, saved: Result, lost: Collection[str]) -> Result:
        """Returns the result with the cells, verdicts and notes that only a saved one has.

        Args:
            saved: The saved result.
            lost: Names of the runs of the saved result that are not there now.
        """
        paper = self.paper.filled_from(saved.paper) if self.paper and saved.paper else self.paper
        return Result(
            ours=self.ours.filled_from(saved.ours),
            paper=paper,
            claims={
                **self.claims,
                **{claim: holds for claim, holds in saved.claims.items()
                   if holds is not None and self.claims.get(claim) is None},
            },
            differences=tuple(dict.fromkeys((*self.differences, *_notes_on(saved, lost)))),
        )  # fmt: skip

    def is_numeric(self, index: int) -> bool:
        """Returns whether a column holds numbers, ours or the paper's."""
        return any(
            table is not None and index < len(table.columns) and table.is_numeric(index)
            for table in (self.ours, self.paper)
        )

    @property
    def beside(self) -> Table:
        """Our table with the paper's number behind each of ours, in parentheses."""
        if self.paper is None:
            return self.ours
        theirs = {row[0]: row for row in self.paper.rows}
        rows = tuple(
            (row[0], *(map(_both, row[1:], theirs.get(row[0], (None,) * len(row))[1:])))
            for row in self.ours.rows
        )
        return Table(self.ours.title, self.ours.columns, rows, self.ours.notes, self.ours.curves)


def _notes_on(saved: Result, lost: Collection[str]) -> Iterator[str]:
    """Yields the notes of a saved result on its data, and on the epochs of the lost runs."""
    for note in saved.differences:
        names, _, epochs = note.rpartition(": ")
        if NOT_AT_HAND in note:
            yield note
        elif kept := [name for name in names.split(", ") if name in lost]:
            yield f"{', '.join(kept)}: {epochs}"


def _both(ours: Cell, paper: Cell) -> Cell:
    if paper is None:
        return ours
    theirs = f"({cell_text(paper)})"
    return theirs if ours is None else f"{cell_text(ours)} {theirs}"
