"""The tables of the papers as printed: `numbers/PAPER-N.tsv` is table N."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

#: A number, a text, or `None` for a dash.
Cell: TypeAlias = float | int | str | None

_FOLDER = Path(__file__).parent / "numbers"


class PaperTable(NamedTuple):
    """A table of a paper.

    Attributes:
        columns: Names of the columns; the first holds the labels of the rows.
        rows: Cells, one per column.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, name: str) -> dict[str, Cell]:
        """Returns the cells of a column by row label."""
        index = self.columns.index(name)
        return {str(row[0]): row[index] for row in self.rows}

    def numbers(self, name: str) -> dict[str, float]:
        """Returns the numbers of a column by row label, without dashes."""
        return {
            label: float(cell)
            for label, cell in self.column(name).items()
            if isinstance(cell, float | int)
        }

    def row_numbers(self, label: str) -> dict[str, float]:
        """Returns the numbers of a row by column, without dashes; empty if the row is missing."""
        columns = {name: self.numbers(name) for name in self.columns[1:]}
        return {name: numbers[label] for name, numbers in columns.items() if label in numbers}


@cache
def paper_table(name: str) -> PaperTable:
    """Returns a table of a paper.

    Args:
        name: Paper and number, such as `charagram-3`.
    """
    lines = (_FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    columns, *rows = (line.split("\t") for line in lines)
    return PaperTable(tuple(columns), tuple((row[0], *map(_parsed, row[1:])) for row in rows))


def _parsed(text: str) -> Cell:
    if text == "-":
        return None
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text
