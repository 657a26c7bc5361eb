"""Input files: found, split into shards, and counted on a progress line."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from glob import glob
from typing import NamedTuple

from tf_charagram._common.reporting import ProgressLine
from tf_charagram.data._tables.lines import NUM_MAGIC_BYTES, STDIN, check_is_text, read_lines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.text._algorithm.batches import bounded_batches

# Bounds the memory of a shard of long lines.
_MAX_SHARD_CHARS = 32_000_000


class InputFile(NamedTuple):
    """A file of lines.

    Attributes:
        path: The path as given; `-` is standard input.
        size: Size in bytes; `None` for a stream, such as standard input or a pipe.
    """

    path: str
    size: int | None

    @classmethod
    def look_at(cls, path: str, are_lines: bool = True) -> InputFile:
        """Returns the file at a path, which must be text if its lines are read.

        Raises:
            DataError: It cannot be read, or is not text.
        """
        if path == STDIN:
            return cls(path, None)
        try:
            state = os.stat(path)
            if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
                return cls(path, None)
            with open(path, "rb") as file:
                if are_lines:
                    check_is_text(path, file.read(NUM_MAGIC_BYTES))
        except OSError as error:
            reason = error.strerror or error
            raise DataError(
                path, f"cannot be read: {reason}. Check the path and its permissions."
            ) from error
        return cls(path, state.st_size)


class Shard(NamedTuple):
    """Lines of one input that are embedded into one file.

    Attributes:
        name: Numbers of the input and of the shard in it, such as `part-00001-00002`.
        path: The input.
        first_line: 1-based number of the first line.
        texts: The lines.
    """

    name: str
    path: str
    first_line: int
    texts: list[str]

    def identity(self) -> dict[str, str | int]:
        """Returns position, size and checksum of the lines, to recognize the shard later."""
        text = to_text(self.texts)
        return {
            "input": self.path,
            "first_line": self.first_line,
            "num_lines": len(self.texts),
            "text_bytes": len(text),
            "text_sha256": hashlib.sha256(text).hexdigest(),
        }


def to_text(lines: Sequence[str]) -> bytes:
    """Returns lines as UTF-8, each with a line end."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def find_inputs(patterns: Iterable[str], *, are_lines: bool = True) -> list[InputFile]:
    """Returns the files at some paths; a pattern such as `logs/*.gz` stands for all its matches.

    Args:
        patterns: The paths.
        are_lines: Whether the files are read line by line, so that they must be text.

    Raises:
        DataError: A file cannot be read.
        ConfigError: A file is given twice.
    """
    files: dict[str, InputFile] = {}
    for pattern in patterns:
        paths = [pattern]
        # The name of a file may look like a pattern, such as `[1].txt`.
        if not os.path.exists(pattern):
            paths = sorted(glob(pattern)) or paths
        for path in paths:
            real_path = os.path.realpath(path)
            if real_path in files:
                raise ConfigError(f"{path} is given twice: its lines would be read twice.")
            files[real_path] = InputFile.look_at(path, are_lines)
    return list(files.values())


def read_texts(files: Iterable[InputFile]) -> Iterator[str]:
    """Streams the lines of all files.

    Raises:
        DataError: A file cannot be read.
    """
    return (text for file in files for _, text in read_lines(file.path))


def read_shards(path: str, number: int, shard_lines: int) -> Iterator[Shard]:
    """Streams the lines of a file in shards.

    Args:
        path: The file.
        number: Its number among the inputs.
        shard_lines: Maximum number of lines of a shard; shards of long lines have fewer.

    Raises:
        DataError: The file cannot be read.
    """
    first_line = 1
    texts = (text for _, text in read_lines(path))
    for part, batch in enumerate(bounded_batches(texts, shard_lines, _MAX_SHARD_CHARS)):
        yield Shard(f"part-{number:05}-{part:05}", path, first_line, batch)
        first_line += len(batch)


class LineProgress(ProgressLine):
    """A progress line on standard error with lines, speed and time left.

    Args:
        files: The files that are read.
        bytes_done: Bytes of their text that were processed before.
    """

    def __init__(self, files: Sequence[InputFile], bytes_done: int = 0) -> None:
        self.num_lines = 0
        self._start = time.perf_counter()
        # The size of compressed text is unknown.
        sizes = [file.size for file in files if not file.path.endswith(".gz")]
        known = [size for size in sizes if size is not None]
        total = sum(known) if len(known) == len(files) else None
        super().__init__(total, bytes_done)
        self.advance(0, 0)

    def advance(self, num_lines: int, num_bytes: int) -> None:
        """Moves the line by a number of lines and bytes of text."""
        self.num_lines += num_lines
        speed = [f"{self._rate():,.0f} lines/s"] if self.num_lines else []
        self.update(f"{self.num_lines:,} lines", speed, advance=num_bytes)

    def summary(self) -> str:
        """Returns the final line."""
        seconds = self._seconds()
        plural = "" if self.num_lines == 1 else "s"
        return f"{self.num_lines:,} line{plural} in {seconds:,.1f} s, {self._rate():,.0f} lines/s"

    def _rate(self) -> float:
        return self.num_lines / self._seconds()

    def _seconds(self) -> float:
        return time.perf_counter() - self._start
