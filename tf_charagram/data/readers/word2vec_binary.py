"""Pretrained word vectors in the binary form of word2vec, such as those of Google News."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tf_charagram.data.readers.lines import open_bytes
from tf_charagram.errors import DataError

_CHUNK_BYTES = 1 << 20
_LONGEST_HEADER = 100
_NUM_PROBED = 200
# What no text has: control characters but for tabs and line ends.
_CONTROL = frozenset(range(0x20)) - frozenset(b"\t\r\n")


def is_word2vec_binary(start: bytes) -> bool:
    """Returns whether the first bytes of a file, some hundreds, are of the binary form.

    Both forms begin with the number of words and the width; then the first word and its numbers,
    of which four bytes each are looked at: floats as bytes are hardly ever text.
    """
    header, line_end, rest = start.partition(b"\n")
    fields = header.split()
    if not line_end or len(fields) != 2 or not all(field.isdigit() for field in fields):
        return False
    numbers = rest.lstrip(b"\n").partition(b" ")[2][: min(_NUM_PROBED, 4 * int(fields[1]))]
    try:
        # A character may be cut at the end.
        codecs.getincrementaldecoder("utf-8")().decode(numbers)
    except UnicodeDecodeError:
        return True
    return not _CONTROL.isdisjoint(numbers)


def scan_word2vec_binary(
    path: str | Path, words: Collection[str] | None = None
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Streams all words of a file, with the vectors of some.

    Args:
        path: File, plain or gzip.
        words: Those whose vectors are wanted. Defaults to all.

    Yields:
        A word and its vector, float32 `(dim,)`; `None` where it is not wanted.

    Raises:
        DataError: The file cannot be read, is cut short, or a wanted vector is not finite.
    """
    try:
        with open_bytes(path) as stream:
            for word, raw in _entries(path, stream):
                is_wanted = words is None or word in words
                yield word, _vector(path, word, raw) if is_wanted else None
    except (OSError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(path, f"cannot be read: {error}. Get the file again.") from error


def _entries(path: str | Path, stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Yields each word and the bytes of its vector."""
    buffer = _Buffer(path, stream)
    header = buffer.until(b"\n", "the header", _LONGEST_HEADER).split()
    if len(header) != 2 or not all(field.isdigit() for field in header):
        raise DataError(path, "expected a header of two numbers, words and width")
    num_words, dim = map(int, header)
    for number in range(1, num_words + 1):
        what = f"word {number:,} of {num_words:,}"
        # Some writers end each vector with a line end, others do not.
        word = buffer.until(b" ", what).lstrip(b"\n").decode("utf-8", "replace")
        yield word, buffer.take(4 * dim, what)


def _vector(path: str | Path, word: str, raw: bytes) -> np.ndarray:
    vector = np.frombuffer(raw, "<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise DataError(path, f"the vector of '{word}' is not finite")
    return vector


class _Buffer:
    """Bytes of a stream, read in large chunks."""

    def __init__(self, path: str | Path, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._bytes = b""
        self._start = 0

    def until(self, mark: bytes, what: str, most: int = _CHUNK_BYTES) -> bytes:
        """Returns what is before a byte, and passes over that."""
        while (end := self._bytes.find(mark, self._start)) < 0:
            if len(self._bytes) - self._start > most:
                raise DataError(self._path, f"{what} is longer than {most:,} bytes. Is it binary?")
            self._fill(what)
        return self.take(end - self._start + 1, what)[:-1]

    def take(self, size: int, what: str) -> bytes:
        """Returns the next bytes."""
        while len(self._bytes) - self._start < size:
            self._fill(what)
        self._start += size
        return self._bytes[self._start - size : self._start]

    def _fill(self, what: str) -> None:
        chunk = self._stream.read(_CHUNK_BYTES)
        if not chunk:
            raise DataError(self._path, f"is cut short at {what}. Get the file again.")
        self._bytes = self._bytes[self._start :] + chunk
        self._start = 0
