"""The line that moves while a command works, as wide as its terminal; none in a log file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task
from rich.text import Text

_MOST_BAR, _LEAST_BAR = 30, 6
_is_quiet = ContextVar("is_quiet", default=False)


@contextmanager
def quiet(is_quiet: bool = True) -> Iterator[None]:
    """Has what is inside print no progress, only warnings, errors and results."""
    token = _is_quiet.set(is_quiet)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def is_quiet() -> bool:
    """Returns whether progress is not to be printed; see `quiet`."""
    return _is_quiet.get()


class ProgressLine:
    """Shows on standard error how far something is; entered while it goes on.

    Args:
        total: Its size, in any unit; `None` if that is not known.
        completed: What was done before.
        is_wanted: Whether to show it, on a terminal and unless told to be quiet.
    """

    def __init__(self, total: float | None, completed: int = 0, *, is_wanted: bool = True) -> None:
        # The stream as it is now: a search gives each of its trials another.
        self.console = Console(file=sys.stderr, highlight=False)
        can_move = self.console.is_terminal and not self.console.is_dumb_terminal
        self.is_shown = is_wanted and can_move and not is_quiet()
        self._progress = Progress(
            _Line(self.console), console=self.console, disable=not self.is_shown, transient=True
        )
        self._task = self._progress.add_task("", total=total, completed=completed, facts=())

    def __enter__(self) -> ProgressLine:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def update(
        self, head: str, facts: Sequence[str], *, completed: float | None = None, advance: float = 0
    ) -> None:
        """Moves the line.

        Args:
            head: What it begins with.
            facts: What it ends with, the most important first; those for which the terminal is too
                narrow are left out.
            completed: How much is done, or
            advance: how much more is.
        """
        self._progress.update(
            self._task, description=head, facts=facts, completed=completed,
            advance=None if completed is not None else advance,
        )  # fmt: skip

    def say(self, text: str) -> None:
        """Prints a line above, unless told to be quiet."""
        if not is_quiet():
            self.console.print(text, soft_wrap=True, markup=False)


class _Line(ProgressColumn):
    """The whole line, for only as one column does it fit any terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        is_unicode = console.encoding.lower().startswith("utf")
        self._done, self._open = "━─" if is_unicode else "=-"

    def render(self, task: Task) -> Text:
        """Returns the line as wide as the terminal allows."""
        if not task.description:
            return Text()
        left = task.time_remaining
        facts = [
            *([f"{task.percentage:.0f} %"] if task.total else []),
            *([f"{_clock(left)} left"] if left is not None else []),
            *task.fields["facts"],
        ]
        # With room for the ^C that a terminal writes at its end, which would begin another line.
        width = self._console.width - 3
        head, shown = fit(task.description, facts, width)
        room = min(width - len("  ".join([head, *shown])) - 2, _MOST_BAR)
        if task.total and room >= _LEAST_BAR:
            full = round(room * min(task.completed / task.total, 1.0))
            bar = Text.assemble(
                (self._done * full, "bar.complete"), (self._open * (room - full), "bar.back")
            )
            return Text("  ").join([Text(head), bar, *map(Text, shown)])
        return Text("  ".join([head, *shown]))


def fit(head: str, facts: Sequence[str], width: int) -> tuple[str, list[str]]:
    """Returns what of a line fits a width, with two spaces between its parts.

    Args:
        head: Its begin, cut if need be.
        facts: What follows, the most important first; once one does not fit, no other follows.
        width: Characters there are.

    Example:
        >>> fit("epoch 1", ["45 %", "0:10 left", "3 pairs/s"], 24)
        ('epoch 1', ['45 %', '0:10 left'])
    """
    head = head[:width]
    shown: list[str] = []
    room = width - len(head)
    for fact in facts:
        room -= len(fact) + 2
        if room < 0:
            break
        shown.append(fact)
    return head, shown


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
