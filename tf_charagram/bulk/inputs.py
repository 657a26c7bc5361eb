"""The files whose lines are embedded: listed, checked for changes, split into shards."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from typing import NamedTuple

from tf_charagram.data.readers.lines import NUM_MAGIC_BYTES, STDIN, check_is_text, read_lines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.text.batches import bounded_batches

# Bounds the memory that a shard of long lines takes.
_MAX_SHARD_CHARS = 32_000_000
_SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True)
class InputFile:
    """A file as it was when it was first seen.

    Attributes:
        path: As it was given; `-` is standard input.
        size: In bytes; `None` for what can be read only once, such as standard input or a pipe.
        modified_ns: Time of the last change, in nanoseconds.
    """

    path: str
    size: int | None
    modified_ns: int | None

    @classmethod
    def look_at(cls, path: str) -> InputFile:
        """Returns the file under a path.

        Raises:
            DataError: It cannot be read, or is no text.
        """
        if path == STDIN:
            return cls(path, None, None)
        try:
            state = os.stat(path)
            if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
                return cls(path, None, None)
            # May be forbidden; a folder cannot be opened either.
            with open(path, "rb") as file:
                check_is_text(path, file.read(NUM_MAGIC_BYTES))
                return cls(path, state.st_size, state.st_mtime_ns)
        except OSError as error:
            reason = error.strerror or error
            raise DataError(
                path, f"cannot be read: {reason}. Check the path and its permissions."
            ) from error

    def check_unchanged(self) -> None:
        """Compares size and time of change with those at first.

        Raises:
            DataError: They differ.
        """
        if self.size is not None and self != InputFile.look_at(self.path):
            raise DataError(
                self.path,
                "has changed while it was read, so the result would belong to no one version of "
                "it. Start again once it is complete; a folder of shards, with --overwrite.",
            )

    def text_size(self) -> int | None:
        """Returns the bytes of its text: for gzip an estimate, from how its beginning expands."""
        if self.size is None:
            return None
        with open(self.path, "rb") as file:
            sample = file.read(_SAMPLE_BYTES)
        if not sample.startswith(b"\x1f\x8b"):
            return self.size
        num_bytes, rest = 0, sample
        try:
            while rest:  # Each member of the file, of which there may be many.
                member = zlib.decompressobj(wbits=31)
                num_bytes += len(member.decompress(rest))
                rest = member.unused_data
        except zlib.error:  # Told by whoever reads it.
            pass
        if not num_bytes:
            return self.size
        return self.size * num_bytes // len(sample)


class Shard(NamedTuple):
    """Lines of one file that are embedded into one file.

    Attributes:
        name: Such as `part-00001-00002`: the number of the input and of the shard in it.
        path: The input.
        first_line: 1-based number of the first line.
        texts: The lines.
    """

    name: str
    path: str
    first_line: int
    texts: list[str]

    def identity(self) -> dict[str, str | int]:
        """Returns what tells whether this is the shard that was embedded before."""
        text = to_text(self.texts)
        return {
            "input": self.path,
            "first_line": self.first_line,
            "num_lines": len(self.texts),
            "text_bytes": len(text),
            "text_sha256": hashlib.sha256(text).hexdigest(),
        }


def to_text(lines: Sequence[str]) -> bytes:
    """Returns lines as UTF-8, each with its end."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def find_inputs(patterns: Iterable[str]) -> list[InputFile]:
    """Returns the files under these paths; a pattern such as `logs/*.gz` gives all it matches.

    Raises:
        DataError: A file cannot be read.
        ConfigError: A file is given twice.
    """
    files: dict[str, InputFile] = {}
    for pattern in patterns:
        for path in _matches(pattern):
            real_path = os.path.realpath(path)
            if real_path in files:
                raise ConfigError(f"{path} is given twice: its lines would be read twice.")
            files[real_path] = InputFile.look_at(path)
    return list(files.values())


def _matches(pattern: str) -> list[str]:
    """Returns the paths that a pattern gives; itself if there is none, or one of that name."""
    if os.path.exists(pattern):
        return [pattern]
    # A file that is called `-` is not standard input.
    paths = [os.path.join(".", path) if path == STDIN else path for path in glob(pattern)]
    return sorted(paths) or [pattern]


def read_texts(files: Iterable[InputFile]) -> Iterator[str]:
    """Streams the lines of all files.

    Raises:
        DataError: A file cannot be read, or has changed meanwhile.
    """
    for file in files:
        for _, text in read_lines(file.path):
            yield text
        file.check_unchanged()


def read_shards(file: InputFile, number: int, shard_lines: int) -> Iterator[Shard]:
    """Streams the lines of a file in shards.

    Args:
        file: The file.
        number: Its number among the inputs.
        shard_lines: Lines of a shard; long lines make it smaller.

    Raises:
        DataError: The file cannot be read, or has changed meanwhile.
    """
    first_line = 1
    texts = (text for _, text in read_lines(file.path))
    for part, batch in enumerate(bounded_batches(texts, shard_lines, _MAX_SHARD_CHARS)):
        file.check_unchanged()
        yield Shard(f"part-{number:05}-{part:05}", file.path, first_line, batch)
        first_line += len(batch)
    file.check_unchanged()
