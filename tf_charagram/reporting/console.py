"""The form of what commands print: a console, tables, and numbers in their cells."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

INTERVAL = "95 % interval"
_PIPED_WIDTH = 160


def table_console(*, stderr: bool = False) -> Console:
    """Returns a console; where it is no terminal, wide enough for tables."""
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    return console


def make_table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    """Returns a table without rows.

    Args:
        title: Title above the table.
        texts: Names of the first columns.
        numbers: Names of the others, which are aligned right and stay on one line.
    """
    table = Table(title=escape(title), caption_justify="left")
    for name in texts:
        table.add_column(escape(name))
    for name in numbers:
        table.add_column(escape(name), justify="right", no_wrap=True)
    return table


def number(value: float | None, spec: str = ".2f") -> str:
    """Returns a number by a format, or a dash where there is none."""
    return "-" if value is None else format(value, spec)


def interval(bounds: tuple[float, float] | None, spec: str = ".2f") -> str:
    """Returns both bounds by a format, or a dash where there are none."""
    return "-" if bounds is None else f"{bounds[0]:{spec}} to {bounds[1]:{spec}}"
