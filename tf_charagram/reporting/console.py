"""The form of what commands print: a console, tables, and numbers in their cells."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

INTERVAL = "95 % interval"
_PIPED_WIDTH = 160
# Of a column of texts, which numbers leave to it on a narrow terminal.
_LEAST_WIDTH = 4


def table_console(*, stderr: bool = False) -> Console:
    """Returns a console; where it is no terminal, wide enough for tables."""
    # A text with `:b:` in it is shown as it is.
    console = Console(stderr=stderr, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    return console


def printable(text: object) -> str:
    """Returns a text of unknown origin without what moves a cursor or hides other text."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in str(text)
    )


def cell(text: object) -> str:
    """Returns a text of unknown origin for a cell of a table."""
    return escape(printable(text))


def make_table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    """Returns a table without rows.

    Args:
        title: Title above the table.
        texts: Names of the first columns.
        numbers: Names of the others, which are aligned right and stay on one line.
    """
    table = Table(title=cell(title), caption_justify="left")
    for name in texts:
        table.add_column(cell(name), overflow="fold", min_width=_LEAST_WIDTH)
    for name in numbers:
        table.add_column(cell(name), justify="right", no_wrap=True)
    return table


def size(num_bytes: float) -> str:
    """Returns a number of bytes in the unit that suits it.

    Example:
        >>> size(999), size(12_345), size(3_000_000)
        ('999 B', '12.3 kB', '3.0 MB')
    """
    if num_bytes < 1000:
        return f"{num_bytes:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        num_bytes /= 1000
        if num_bytes < 999.95 or unit == "TB":
            break
    return f"{num_bytes:.1f} {unit}"


def number(value: float | None, spec: str = ".2f") -> str:
    """Returns a number by a format, or a dash where there is none."""
    return "-" if value is None else format(value, spec)


def interval(bounds: tuple[float, float] | None, spec: str = ".2f") -> str:
    """Returns both bounds by a format, or a dash where there are none."""
    return "-" if bounds is None else f"{bounds[0]:{spec}} to {bounds[1]:{spec}}"
