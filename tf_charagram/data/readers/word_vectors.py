"""Pretrained word vectors in text form, as word2vec and GloVe write them."""

from __future__ import annotations

import contextlib
import logging
import math
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import DataError

logger = logging.getLogger(__name__)

# Longer numbers are not counts, and Python does not convert thousands of digits.
_COUNT = re.compile(r"[0-9]{1,18}")
_MAX_VALUE = float(np.finfo(np.float32).max)
_EMPTY = "expected lines of a word and its numbers, found none"


class WordVectors(NamedTuple):
    """Vectors for a list of words.

    Attributes:
        matrix: float32 `(num_words, dim)`; zeros for words that are not in the file.
        is_known: bool `(num_words,)`, whether the file has the word.
        dim: Width of the vectors.
    """

    matrix: np.ndarray
    is_known: np.ndarray
    dim: int


def load_word_vectors(
    path: str | Path, words: Sequence[str], *, on_bad_line: str | BadLines = "error"
) -> WordVectors:
    """Loads the vectors of the given words only; see `scan_word_vectors`.

    Memory is that of the result, whatever the size of the file. Words are compared as they are, so
    the file should have the case of the vocabulary. The first vector of a repeated word counts.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        words: Distinct words, in the order of the rows.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or it has no vector.
    """
    rows = {word: row for row, word in enumerate(words)}
    reader = _Reader(path, rows.keys(), BadLines.of(on_bad_line))
    found: dict[int, np.ndarray] = {}
    for word, vector in reader.scan():
        if vector is not None:
            found.setdefault(rows[word], vector)
    if reader.dim is None:
        raise DataError(path, _EMPTY)
    matrix = np.zeros((len(words), reader.dim), np.float32)
    is_known = np.zeros(len(words), bool)
    for row, vector in found.items():
        matrix[row], is_known[row] = vector, True
    return WordVectors(matrix, is_known, reader.dim)


def scan_word_vectors(
    path: str | Path,
    words: Collection[str] | None = None,
    *,
    on_bad_line: str | BadLines = "error",
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Streams all words of a text file, with the vectors of some.

    A line is a word and its numbers, separated by spaces or tabs. The first line may be the
    header of word2vec, the number of words and the width; otherwise the numbers at the end of the
    first line give the width. A word may contain spaces, but no number after its first part.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        words: The words to parse vectors of. Defaults to all.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Yields:
        A word and its vector, float32 `(dim,)`, or `None` for words not in `words`; repeated
        words are yielded repeatedly.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, or a line is bad.
    """
    return _Reader(path, words, BadLines.of(on_bad_line)).scan()


def word_vectors_dim(path: str | Path, *, on_bad_line: str = "error") -> int:
    """Returns the width of the vectors in a file, from its first good line.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, or does not start with a header or a vector.
    """
    reader = _Reader(path, None, BadLines(on_bad_line))
    with contextlib.closing(reader.rows()) as rows:
        next(rows, None)
    if reader.dim is None:
        raise DataError(path, _EMPTY)
    return reader.dim


class _Reader:
    """Reads a file once; afterwards `dim` is the width, or `None` for an empty file."""

    def __init__(self, path: str | Path, words: Collection[str] | None, bad: BadLines) -> None:
        self.dim: int | None = None
        self._path = path
        self._words = words
        self._bad = bad

    def scan(self) -> Iterator[tuple[str, np.ndarray | None]]:
        for number, word, numbers in self.rows():
            vector = None
            if self._words is None or word in self._words:
                try:
                    vector = _vector(numbers)
                except ValueError as error:
                    self._bad.report(self._path, number, str(error))
                    continue
            yield word, vector

    def rows(self) -> Generator[tuple[int, str, list[str]]]:
        """Yields the number of each line, its word and its unparsed numbers."""
        num_rows, announced, is_first = 0, None, True
        for number, text in read_lines(self._path):
            text = text.rstrip(" \t")
            if not text:
                continue
            if is_first:
                is_first = False
                if (announced := self._header(number, text)) is not None:
                    continue
            num_rows += 1
            try:
                word, numbers = self._split(text)
            except ValueError as error:
                self._bad.report(self._path, number, str(error))
            else:
                yield number, word, numbers
        if announced not in (None, num_rows):
            logger.warning(
                "%s: the header announces %d words, found %d", self._path, announced, num_rows
            )

    def _header(self, number: int, text: str) -> int | None:
        """Returns the announced number of words if a line is a header, and sets `dim`."""
        fields = _fields(text)
        if len(fields) != 2 or not all(map(_COUNT.fullmatch, fields)):
            return None
        num_words, self.dim = map(int, fields)
        if not self.dim:
            raise DataError(self._path, f"expected a width of at least 1, found '{text}'", number)
        return num_words

    def _split(self, text: str) -> tuple[str, list[str]]:
        """Returns word and numbers of a line; raises `ValueError` if it is bad."""
        fields = _fields(text)
        if self.dim is None or len(fields) != self.dim + 1:
            dim = _num_numbers_at_end(fields)
            if not dim or (self.dim is not None and dim != self.dim):
                rule = "a word and numbers" if self.dim is None else f"{self.dim} numbers"
                raise ValueError(f"expected {rule}, found {dim} numbers")
            self.dim = dim
        return " ".join(fields[: -self.dim]), fields[-self.dim :]


def _fields(text: str) -> list[str]:
    # Other white space, such as the no-break space in numbers of GloVe, is part of a word.
    return [field for field in text.replace("\t", " ").split(" ") if field]


def _num_numbers_at_end(fields: list[str]) -> int:
    count = 0
    for field in reversed(fields[1:]):
        if not is_number(field):
            break
        count += 1
    return count


def _vector(fields: list[str]) -> np.ndarray:
    vector = []
    for field in fields:
        value = float(field) if is_number(field) else math.nan
        if not abs(value) <= _MAX_VALUE:
            raise ValueError(f"expected finite numbers, found '{field}'")
        vector.append(value)
    return np.array(vector, np.float32)
