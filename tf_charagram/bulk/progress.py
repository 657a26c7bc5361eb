"""The progress of embedding or tagging the lines of files."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tf_charagram.bulk.inputs import InputFile
from tf_charagram.reporting.progress import ProgressLine


class LineProgress:
    """A line with lines, speed and time left on standard error; in a log file, only a final one.

    Args:
        files: What is read.
        bytes_done: Bytes of their text that were embedded before.
    """

    def __init__(self, files: Sequence[InputFile], bytes_done: int = 0) -> None:
        self.num_lines = 0
        self._clock = time.perf_counter()
        sizes = [file.text_size() for file in files]
        total = None if None in sizes else max(sum(filter(None, sizes)) - bytes_done, 0)
        self._line = ProgressLine(total)

    def __enter__(self) -> LineProgress:
        self._line.__enter__()
        self.advance(0, 0)
        return self

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def advance(self, num_lines: int, num_bytes: int) -> None:
        """Moves the line by a number of lines and bytes of text."""
        self.num_lines += num_lines
        speed = [f"{self._rate():,.0f} lines/s"] if self.num_lines else []
        self._line.update(f"{self.num_lines:,} lines", speed, advance=num_bytes)

    def say(self, text: str) -> None:
        """Prints a line above, unless told to be quiet."""
        self._line.say(text)

    def summary(self) -> str:
        """Returns the line at the end."""
        seconds = time.perf_counter() - self._clock
        return f"{self.num_lines:,} lines in {seconds:,.1f} s, {self._rate():,.0f} lines/s"

    def _rate(self) -> float:
        return self.num_lines / max(time.perf_counter() - self._clock, 1e-9)
