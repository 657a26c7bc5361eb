"""The console of the commands, their tables, and numbers in cells."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

INTERVAL = "95 % interval"
_PIPED_WIDTH = 160
# Minimum width of a column of texts on a narrow terminal.
_MIN_WIDTH = 4


def table_console(*, stderr: bool = False) -> Console:
    """Returns a console that is wide enough for tables if it is not a terminal."""
    console = Console(stderr=stderr, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    return console


def printable(text: object) -> str:
    """Returns an untrusted text without characters that move the cursor or hide other text."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in str(text)
    )


def cell(text: object) -> str:
    """Returns an untrusted text for a cell of a table."""
    return escape(printable(text))


def make_table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    """Returns a table without rows.

    Args:
        title: Title above the table.
        texts: Names of the first columns.
        numbers: Names of the other columns, aligned right and on one line.
    """
    table = Table(title=cell(title), caption_justify="left")
    for name in texts:
        table.add_column(cell(name), overflow="fold", min_width=_MIN_WIDTH)
    for name in numbers:
        table.add_column(cell(name), justify="right", no_wrap=True)
    return table


def size(num_bytes: float) -> str:
    """Formats a number of bytes.

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
    """Formats a number; `None` is a dash."""
    return "-" if value is None else format(value, spec)


def interval(bounds: tuple[float, float] | None, spec: str = ".2f") -> str:
    """Formats the bounds of an interval; `None` is a dash."""
    return "-" if bounds is None else f"{bounds[0]:{spec}} to {bounds[1]:{spec}}"
