"""The console of the commands: tables and a progress line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
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


_MAX_BAR = 30
_is_quiet = ContextVar("is_quiet", default=False)


@contextmanager
def quiet(is_quiet: bool = True) -> Iterator[None]:
    """Suppresses progress; warnings, errors and results are still printed."""
    token = _is_quiet.set(is_quiet)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def is_quiet() -> bool:
    """Returns whether progress is suppressed, inside of `quiet()`."""
    return _is_quiet.get()


class ProgressLine:
    """Shows progress on standard error while it is entered.

    Args:
        total: Size of the work in any unit; `None` if unknown.
        completed: Size of the work that was done before.
        is_wanted: Whether to show the line, on a terminal and unless `quiet`.
    """

    def __init__(self, total: float | None, completed: int = 0, *, is_wanted: bool = True) -> None:
        self._is_wanted = is_wanted
        self.is_shown = False
        if not is_wanted:
            # Making the line takes as long as a tenth of a query.
            return
        can_move = self.console.is_terminal and not self.console.is_dumb_terminal
        self.is_shown = can_move and not is_quiet()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(_MAX_BAR),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[facts]}", markup=False),
            console=self.console,
            disable=not self.is_shown,
            transient=True,
        )
        self._task = self._progress.add_task("", total=total, completed=completed, facts="")

    @cached_property
    def console(self) -> Console:
        """Standard error as it is now: a search gives each of its trials another."""
        return Console(file=sys.stderr, highlight=False)

    def __enter__(self) -> Self:
        if self._is_wanted:
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_wanted:
            self._progress.stop()

    def update(
        self, head: str, facts: Sequence[str], *, completed: float | None = None, advance: float = 0
    ) -> None:
        """Updates the line.

        Args:
            head: Text before the bar.
            facts: Texts after the bar, the most important first.
            completed: Size of the work that is done, or
            advance: by how much it has grown.
        """
        if not self._is_wanted:
            return
        self._progress.update(
            self._task, description=head, facts="  ".join(facts), completed=completed,
            advance=None if completed is not None else advance,
        )  # fmt: skip

    def rate(self, unit: str) -> str:
        """Returns the latest speed, such as `1,200 texts/s`; empty at the start."""
        speed = self._progress.tasks[0].speed if self._is_wanted else None
        return f"{speed:,.0f} {unit}/s" if speed else ""

    def say(self, text: str) -> None:
        """Prints a line above the progress, unless `quiet`."""
        if not is_quiet():
            self.console.print(text, soft_wrap=True, markup=False)
