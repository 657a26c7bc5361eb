"""The progress bar of bulk embedding."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tf_charagram.bulk.inputs import InputFile


class EmbedProgress:
    """A bar with lines, speed and time left on standard error; in a log file, a final line.

    Args:
        files: What is read.
        bytes_done: Bytes of their text that were embedded before.
    """

    def __init__(self, files: Sequence[InputFile], bytes_done: int = 0) -> None:
        self.num_lines = 0
        self._console = Console(stderr=True, highlight=False)
        self._clock = time.perf_counter()
        self._progress = Progress(
            TextColumn("{task.fields[lines]:,} lines"),
            BarColumn(),
            TextColumn("{task.fields[rate]:,.0f} lines/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        sizes = [file.text_size() for file in files]
        total = None if None in sizes else max(sum(filter(None, sizes)) - bytes_done, 0)
        self._task = self._progress.add_task("embed", total=total, lines=0, rate=0.0)

    def __enter__(self) -> EmbedProgress:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def advance(self, num_lines: int, num_bytes: int) -> None:
        """Moves the bar by a number of lines and bytes of text."""
        self.num_lines += num_lines
        self._progress.update(
            self._task, advance=num_bytes, lines=self.num_lines, rate=self._rate()
        )

    def say(self, text: str) -> None:
        """Prints a line above the bar."""
        self._console.print(text, soft_wrap=True, markup=False)

    def summary(self) -> str:
        """Returns the line at the end."""
        seconds = time.perf_counter() - self._clock
        return f"{self.num_lines:,} lines in {seconds:,.1f} s, {self._rate():,.0f} lines/s"

    def _rate(self) -> float:
        return self.num_lines / max(time.perf_counter() - self._clock, 1e-9)
