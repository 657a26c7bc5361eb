"""A progress line on the terminal; nothing in a log file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

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
    """Returns whether progress is suppressed; see `quiet`."""
    return _is_quiet.get()


class ProgressLine:
    """Shows progress on standard error while it is entered.

    Args:
        total: Size of the work in any unit; `None` if unknown.
        completed: Size of the work that was done before.
        is_wanted: Whether to show the line, on a terminal and unless `quiet`.
    """

    def __init__(self, total: float | None, completed: int = 0, *, is_wanted: bool = True) -> None:
        # The stream as it is now: a search gives each of its trials another.
        self.console = Console(file=sys.stderr, highlight=False)
        can_move = self.console.is_terminal and not self.console.is_dumb_terminal
        self.is_shown = is_wanted and can_move and not is_quiet()
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

    def __enter__(self) -> ProgressLine:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
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
        self._progress.update(
            self._task, description=head, facts="  ".join(facts), completed=completed,
            advance=None if completed is not None else advance,
        )  # fmt: skip

    def say(self, text: str) -> None:
        """Prints a line above the progress, unless `quiet`."""
        if not is_quiet():
            self.console.print(text, soft_wrap=True, markup=False)
