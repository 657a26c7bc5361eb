"""Lines of text files, plain or gzip, and bad lines."""

from __future__ import annotations

import codecs
import contextlib
import functools
import gzip
import io
import logging
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from tf_charagram.errors import ConfigError, DataError, check_name

logger = logging.getLogger(__name__)

STDIN = "-"
GZIP_MAGIC = b"\x1f\x8b"
# Magic bytes of files that people take for text, by format.
_OTHER_DATA = re.compile(
    rb"(?P<bzip2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\0)|(?P<zstd>\x28\xb5\x2f\xfd)"
    rb"|(?P<zip>PK\x03\x04)|(?P<Parquet>PAR1\x15)"
)
_CORRECT_OR_SKIP = (
    "Correct the line, or skip bad lines with --on-bad-line skip (in Python, on_bad_line='skip')."
)
#: Enough bytes to tell these formats.
NUM_MAGIC_BYTES = 16
_NUM_START_BYTES = 1000
_READ_ERRORS = (EOFError, zlib.error, OSError)
_UTF_8 = "utf-8"
_GIVE_ENCODING = (
    "Name its encoding, such as --encoding cp1252 or utf-16-le (in Python, encoding='cp1252'), or "
    "convert the file to UTF-8."
)


class BadLines:
    """Stops at the first bad line, or skips and counts bad lines.

    Args:
        on_bad_line: `"error"` raises at the first bad line; `"skip"` counts it.

    Attributes:
        count: Number of bad lines skipped so far.
        first: Message of the first of them, with file and line.

    Raises:
        ConfigError: `on_bad_line` is neither of the two.
    """

    POLICIES = ("error", "skip")

    def __init__(self, on_bad_line: str = "error") -> None:
        check_name("on_bad_line", on_bad_line, self.POLICIES)
        self.on_bad_line = on_bad_line
        self.count = 0
        self.first = ""

    @classmethod
    def of(cls, on_bad_line: str | BadLines) -> BadLines:
        """Returns the policy itself, or makes one from its name."""
        return on_bad_line if isinstance(on_bad_line, BadLines) else cls(on_bad_line)

    def report(self, path: str | Path, line: int, message: str, remedy: str = "") -> None:
        """Raises or counts one bad line.

        Args:
            path: File of the line.
            line: 1-based line number.
            message: The problem, such as `expected 2 texts, found 1`.
            remedy: A sentence in place of the usual remedy.

        Raises:
            DataError: The policy is `"error"`.
        """
        if self.on_bad_line == "error":
            raise DataError(path, f"{message}. {remedy or _CORRECT_OR_SKIP}", line)
        self.count += 1
        self.first = self.first or str(DataError(path, message, line))

    def summary(self) -> str:
        """Returns one sentence, such as `skipped 3 bad lines; first: ...`."""
        if not self.count:
            return "no bad lines"
        plural = "" if self.count == 1 else "s"
        return f"skipped {self.count} bad line{plural}; first: {self.first}"


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    r"""Streams the lines of a text file, plain or gzip.

    A line ends at `\n`; one `\r` before it is removed. In a file without `\n`, lines end at `\r`.
    Other characters that Unicode calls line breaks are text. Broken UTF-8 becomes U+FFFD with one
    warning per file, and NUL is kept. Memory is bounded by the longest line; UTF-16, recognized by
    its byte order mark, is read as a whole.

    Args:
        path: File to read, or `"-"` for standard input. Gzip is recognized by its first bytes,
            not by its name.

    Yields:
        The 1-based line number and the text without its line end.

    Raises:
        DataError: The file cannot be read, is not text, or its gzip data is truncated or damaged;
            the error names the line that could not be completed.
    """
    is_utf8 = True

    def mend(number: int, raw: bytes) -> str:
        nonlocal is_utf8
        if is_utf8:
            _warn_of_other_encoding(path, number)
            is_utf8 = False
        return raw.decode("utf-8", "replace")

    for number, text in _lines(path, None, mend):
        yield number, text.removesuffix("\n").removesuffix("\r")


def table_lines(
    path: str | Path, bad: BadLines, encoding: str | None = None
) -> Iterator[tuple[int, str]]:
    """Streams the lines of a table with their ends, which may be inside of a cell.

    Args:
        path: File to read, plain or gzip, or `"-"` for standard input.
        bad: Told of lines that are not UTF-8.
        encoding: A name that Python knows, such as `"cp1252"`. Default: UTF-8, or UTF-16 if there
            is a byte order mark.

    Yields:
        The 1-based line number and the line.

    Raises:
        ConfigError: Python does not know the encoding.
        DataError: The file cannot be read, is not text, or has another encoding.
    """

    def mend(number: int, raw: bytes) -> None:
        bad.report(path, number, "is not UTF-8 here", _GIVE_ENCODING)

    return _lines(path, encoding, mend)


def _lines(
    path: str | Path, encoding: str | None, mend: Callable[[int, bytes], str | None]
) -> Iterator[tuple[int, str]]:
    """Yields numbered lines with their ends; `mend` replaces or drops lines that are not UTF-8."""
    number = 0
    try:
        with open_bytes(path) as stream:
            # Bytes, because text files of Python split lines at a lone carriage return as well.
            first = stream.readline()
            encoding = encoding or _encoding_of(path, first)
            lines: Iterable[bytes | str]
            if encoding == _UTF_8:
                lines = chain(_at_returns(first.removeprefix(codecs.BOM_UTF8)), stream)
            else:
                text = _decoded(path, first + stream.read(), encoding)
                lines = io.StringIO(text if "\n" in text else text.replace("\r", "\n"), "\n")
            for number, line in enumerate(lines, start=1):
                if isinstance(line, str):
                    yield number, line
                    continue
                try:
                    mended: str | None = line.decode()
                except UnicodeDecodeError:
                    mended = mend(number, line)
                if mended is not None:
                    yield number, mended
    except _READ_ERRORS as error:
        raise _read_error(path, error, number + 1) from error


def _at_returns(first: bytes) -> list[bytes]:
    """Splits a file without a line feed, which is one line, at its carriage returns."""
    return [first] if first.endswith(b"\n") else first.splitlines(keepends=True)


def _decoded(path: str | Path, raw: bytes, encoding: str) -> str:
    """Decodes a whole file."""
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise ConfigError(f"Python does not know the encoding {encoding!r}.") from error
    except UnicodeError as error:
        line = raw.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise DataError(path, f"is not {encoding.upper()} here. {_GIVE_ENCODING}", line) from error


def _read_error(path: str | Path, error: Exception, line: int) -> DataError:
    """Explains why reading a file failed in a line."""
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        message = f"the gzip data is truncated or damaged here ({error}). Get the file again."
        return DataError(path, message, line)
    reason = getattr(error, "strerror", None) or error
    message = f"cannot be read: {reason}. Check the path and its permissions."
    return DataError(path, message, line if line > 1 else None)


def _encoding_of(path: str | Path, first: bytes) -> str:
    """Returns UTF-8, or UTF-16 if the first line starts with its byte order mark."""
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    check_is_text(path, first)
    start = first[:_NUM_START_BYTES]
    # Of Latin letters in UTF-16, each second byte is zero.
    if len(start) > 3 and start.count(0) > 0.4 * len(start):
        raise DataError(path, f"looks like UTF-16. {_GIVE_ENCODING}")
    return _UTF_8


def aligned_lines(left: str | Path, right: str | Path) -> Iterator[tuple[int, str, str]]:
    """Streams the line number and the lines of two files that correspond line by line.

    Blank lines at the end of the longer file are ignored.

    Raises:
        DataError: A file cannot be read, or has more lines.
    """
    lines = zip_longest(read_lines(left), read_lines(right), fillvalue=(0, None))
    for number, ((_, first), (_, second)) in enumerate(lines, start=1):
        if first is not None and second is not None:
            yield number, first, second
        elif (first or second or "").strip():
            short, long = (left, right) if first is None else (right, left)
            raise DataError(
                short,
                f"expected a line {number:,}, as {long} has one. The two files must correspond "
                "line by line; get both again.",
            )


@functools.cache
def say_once(path: str | Path, message: str) -> None:
    """Logs a message once per file, which may be read many times."""
    logger.warning("%s: %s", path, message)


@functools.cache
def _warn_of_other_encoding(path: str | Path, line: int) -> None:
    """Warns once per file, which may be read many times."""
    message = "is not UTF-8 here: broken bytes become U+FFFD. Convert the file to UTF-8."
    logger.warning("%s", DataError(path, message, line))


def check_is_text(path: str | Path, start: bytes) -> None:
    """Raises a `DataError` if a file starts like another format, such as bzip2."""
    if match := _OTHER_DATA.match(start):
        raise DataError(path, f"is {match.lastgroup}. Convert it to text in UTF-8, plain or gzip.")


@contextlib.contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a file, decompressed, or standard input, which stays open afterwards."""
    with contextlib.ExitStack() as stack:
        if str(path) == STDIN:
            stream = cast(io.BufferedReader, sys.stdin.buffer)
        else:
            stream = stack.enter_context(open(path, "rb"))
        if stream.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC):
            # Not wrapped in another buffer: that would drop the last lines before an error.
            yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
        else:
            yield stream
