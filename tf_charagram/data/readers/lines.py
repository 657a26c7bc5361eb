"""Lines of text files, plain or gzip, and what to do about bad ones."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tf_charagram.errors import ConfigError, DataError, unknown_name

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_NUM_KEPT_MESSAGES = 5


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    r"""Streams the lines of a UTF-8 text file, plain or gzip.

    A line ends at `\n` only; one `\r` before it is removed. Other characters that
    Unicode calls line breaks are text. A byte order mark is removed, broken UTF-8 becomes
    U+FFFD, and NUL is kept. Memory is bounded by the longest line.

    Args:
        path: File to read, or `"-"` for standard input. Gzip is recognised by its first
            bytes, whatever the name.

    Yields:
        The 1-based line number and the text without its line end.

    Raises:
        DataError: The file cannot be opened or read, or its gzip data is cut short or
            damaged; the line is the one that could not be completed.
    """
    number = 0
    try:
        with _open(path) as stream:
            for number, raw in enumerate(stream, start=1):
                if number == 1:
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                yield number, raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"the gzip data is cut short or damaged here ({error}). Get the file again."
        raise DataError(path, message, line=number + 1) from error
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}. Check the path and its permissions."
        raise DataError(path, message, line=number + 1 if number else None) from error


@contextlib.contextmanager
def _open(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a file or standard input as bytes, decompressed; leaves standard input open."""
    with contextlib.ExitStack() as stack:
        if str(path) == STDIN:
            stream = cast(io.BufferedReader, sys.stdin.buffer)
        else:
            stream = stack.enter_context(open(path, "rb"))
        if stream.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
            # Not wrapped in another buffer: that would drop the last lines before an error.
            yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
        else:
            yield stream


class BadLines:
    """Stops at the first bad line, or counts and skips bad lines, as the user asked.

    Args:
        on_bad_line: `"error"` raises at the first bad line; `"skip"` counts it and keeps
            the first few messages.

    Attributes:
        count: Number of bad lines skipped so far.
        messages: The first 5 of their messages, with file and line.

    Raises:
        ConfigError: `on_bad_line` is neither of the two.
    """

    POLICIES = ("error", "skip")

    def __init__(self, on_bad_line: str = "error") -> None:
        if on_bad_line not in self.POLICIES:
            raise ConfigError(unknown_name("on_bad_line", on_bad_line, self.POLICIES))
        self.on_bad_line = on_bad_line
        self.count = 0
        self.messages: list[str] = []

    @classmethod
    def of(cls, on_bad_line: str | BadLines) -> BadLines:
        """Returns the policy itself, or the policy of that name."""
        return on_bad_line if isinstance(on_bad_line, BadLines) else cls(on_bad_line)

    def report(self, path: str | Path, line: int, message: str) -> None:
        """Raises or counts one bad line.

        Args:
            path: File of the line.
            line: 1-based line number.
            message: What was expected and what was found.

        Raises:
            DataError: The policy is `"error"`.
        """
        if self.on_bad_line == "error":
            remedy = ". Correct the line, or skip bad lines with on_bad_line='skip'."
            raise DataError(path, message + remedy, line)
        self.count += 1
        if self.count <= _NUM_KEPT_MESSAGES:
            self.messages.append(str(DataError(path, message, line)))

    def summary(self) -> str:
        """Returns one sentence on the lines skipped, such as `skipped 3 bad lines; first: ...`."""
        if not self.count:
            return "no bad lines"
        plural = "" if self.count == 1 else "s"
        return f"skipped {self.count} bad line{plural}; first: {self.messages[0]}"
