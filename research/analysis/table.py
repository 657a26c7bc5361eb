"""The result of an analysis: a table, and lines to draw where it has some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table as RichTable

from research.paper_tables import Cell
from tf_charagram.reporting.console import make_table


@dataclass(frozen=True)
class Curves:
    """Lines over one axis.

    Attributes:
        x_label: What the horizontal axis has.
        y_label: What the vertical axis has.
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
        title: What the table shows.
        columns: Names of the columns; the first is of the rows' labels.
        rows: Cells, as many a row as columns; numbers, texts, or `None` where there is nothing.
        notes: What a reader should know, a sentence each.
        curves: What to draw beside it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    curves: Curves | None = None

    def column(self, name: str) -> dict[str, Cell]:
        """Returns the cells of a column by the labels of their rows.

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
        """Returns the table that `to_dict` returned the attributes of."""
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

    def is_numeric(self, index: int) -> bool:
        """Returns whether a column holds numbers and nothing else."""
        cells = [row[index] for row in self.rows if row[index] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def cell_text(cell: Cell) -> str:
    """Returns a cell as it is printed: one decimal, three digits below 1, a dash for nothing."""
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
    """Returns the table, without title and notes, as GitHub writes tables.

    Args:
        table: The table.
        is_numeric: Whether a column is of numbers, and aligned right. Default: as the cells say.
    """
    numeric = list(map(is_numeric or table.is_numeric, range(len(table.columns))))
    lines = [
        _markdown_row(table.columns),
        "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
        *(_markdown_row([cell_text(cell) for cell in row]) for row in table.rows),
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    # Some texts of evaluation sets have bars, and line ends would end the table.
    shown = (" ".join(cell.split()).replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return "| " + " | ".join(shown) + " |"
