"""The result of an analysis: a table, and possibly curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.markup import escape
from rich.table import Table as RichTable

from research.paper_tables import Cell
from tf_charagram._common.reporting import make_table


@dataclass(frozen=True)
class Curves:
    """Lines in one diagram.

    Attributes:
        x_label: Label of the horizontal axis.
        y_label: Label of the vertical axis.
        lines: Name of a line -> its points, `(x, y)` each.
        is_log: Whether the horizontal axis is logarithmic.
    """

    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    is_log: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns.

    Attributes:
        title: Title of the table.
        columns: Names of the columns; the first holds the labels of the rows.
        rows: Cells, one per column: numbers, texts, or `None` for an empty cell.
        notes: Notes on the table, one sentence each.
        curves: Curves that belong to it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    curves: Curves | None = None

    def column(self, name: str) -> dict[str, Cell]:
        """Returns the cells of a column by row label.

        Raises:
            KeyError: There is no such column.
        """
        if name not in self.columns:
            raise KeyError(name)
        index = self.columns.index(name)
        return {str(row[0]): row[index] for row in self.rows}

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Table:
        """Restores a table from the output of `to_dict`."""
        curves = values.get("curves")
        return cls(
            title=values["title"],
            columns=tuple(values["columns"]),
            rows=tuple(tuple(row) for row in values["rows"]),
            notes=tuple(values["notes"]),
            curves=None if curves is None else Curves(**{
                **curves,
                "lines": {
                    name: [(x, y) for x, y in points] for name, points in curves["lines"].items()
                },
            }),
        )  # fmt: skip

    def filled_from(self, other: Table) -> Table:
        """Returns the table with the cells, rows, columns and curves that only another one has."""
        columns = _in_order(self.columns, other.columns)
        labels = _in_order([row[0] for row in self.rows], [row[0] for row in other.rows])
        cells = {
            (row[0], column): cell
            for table in (other, self) for row in table.rows
            for column, cell in zip(table.columns, row, strict=True) if cell is not None
        }  # fmt: skip
        rows = tuple(tuple(cells.get((label, column)) for column in columns) for label in labels)
        curves = self.curves or other.curves
        if self.curves and other.curves:
            curves = replace(self.curves, lines={**other.curves.lines, **self.curves.lines})
        return replace(self, columns=tuple(columns), rows=rows, curves=curves)

    def is_numeric(self, index: int) -> bool:
        """Returns whether a column holds only numbers."""
        cells = [row[index] for row in self.rows if row[index] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def _in_order(names: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Returns names, and others that are not among them after those that precede them."""
    merged, place = list(names), 0
    for name in others:
        if name not in merged:
            merged.insert(place, name)
        place = merged.index(name) + 1
    return merged


def cell_text(cell: Cell) -> str:
    """Formats a cell: one decimal, three digits below 1, a dash if it is empty."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.3g}" if 0 < abs(cell) < 1 else f"{cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def rich_tables(table: Table) -> RichTable:
    """Returns the table for a terminal."""
    numeric = [table.is_numeric(index) for index in range(len(table.columns))]
    printed = make_table(table.title, (), ())
    for name, is_numeric in zip(table.columns, numeric, strict=True):
        justify: Any = "right" if is_numeric else "left"
        printed.add_column(escape(name), justify=justify, no_wrap=is_numeric)
    for row in table.rows:
        printed.add_row(*(escape(cell_text(cell)) for cell in row))
    if table.notes:
        printed.caption = escape("\n".join(table.notes))
    return printed


def markdown(table: Table, is_numeric: Callable[[int], bool] | None = None) -> str:
    """Returns the table as Markdown, without title and notes.

    Args:
        table: The table.
        is_numeric: Whether a column is aligned right. Defaults to columns of numbers.
    """
    numeric = list(map(is_numeric or table.is_numeric, range(len(table.columns))))
    lines = [
        _markdown_row(table.columns),
        "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
        *(_markdown_row([cell_text(cell) for cell in row]) for row in table.rows),
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    # Texts of evaluation sets may have bars, and line ends would end the table.
    shown = (" ".join(cell.split()).replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return "| " + " | ".join(shown) + " |"
