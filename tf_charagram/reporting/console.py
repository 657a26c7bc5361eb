"""The console of the commands, their tables, and numbers in cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

INTERVAL = "95 % interval"
_PIPED_WIDTH = 160
# Minimum width of a column of texts on a narrow terminal.
_MIN_WIDTH = 4
# Rows of a history, the width of its columns but scores, and of a column of scores.
_MAX_ROWS, _WIDTH, _SET_WIDTH = 15, 30, 12


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


def number(value: float | None, spec: str = ".2f") -> str:
    """Formats a number; `None` is a dash."""
    return "-" if value is None else format(value, spec)


def interval(bounds: tuple[float, float] | None, spec: str = ".2f") -> str:
    """Formats the bounds of an interval; `None` is a dash."""
    return "-" if bounds is None else f"{bounds[0]:{spec}} to {bounds[1]:{spec}}"


def history_table(history: Sequence[dict[str, Any]], select: str, width: int) -> Table:
    """Returns a table of up to 15 evaluations, with as many sets as fit.

    Args:
        history: The records of `history.jsonl`.
        select: The set that selected weights, which comes first, or `"last"`.
        width: Characters of a line.
    """
    names = sorted(history[-1]["scores"], key=lambda name: name != select) if history else []
    names = names[: max(1, (width - _WIDTH) // _SET_WIDTH)]
    table = make_table("History", (), ("epoch", "loss", *names, "seconds"))
    step = max(1, -(-len(history) // _MAX_ROWS))
    # The last one is always shown.
    records = history[::-1][::step][::-1]
    for record in records:
        scores = (number(record["scores"].get(name)) for name in names)
        table.add_row(
            f"{record['epoch']:.2f}", f"{record['loss']:.4f}", *scores, f"{record['seconds']:.0f}"
        )
    if step > 1:
        table.caption = f"{len(records)} of {len(history)} evaluations"
    return table
