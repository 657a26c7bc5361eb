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
    found: dict[int, np.ndarray] = {}
    dim = 0
    for word, dim, vector in _scan(path, rows.keys(), BadLines.of(on_bad_line)):  # noqa: B007
        if vector is not None:
            found.setdefault(rows[word], vector)
    if not dim:
        raise DataError(path, _EMPTY)
    matrix = np.zeros((len(words), dim), np.float32)
    is_known = np.zeros(len(words), bool)
    for row, vector in found.items():
        matrix[row], is_known[row] = vector, True
    return WordVectors(matrix, is_known, dim)


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
    scanned = _scan(path, words, BadLines.of(on_bad_line))
    return ((word, vector) for word, _, vector in scanned)


def word_vectors_dim(path: str | Path, *, on_bad_line: str = "error") -> int:
    """Returns the width of the vectors in a file, from its first good line.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, or does not start with a header or a vector.
    """
    with contextlib.closing(_rows(path, BadLines(on_bad_line))) as rows:
        first = next(rows, None)
    if first is None:
        raise DataError(path, _EMPTY)
    return len(first[2])


def _scan(
    path: str | Path, words: Collection[str] | None, bad: BadLines
) -> Iterator[tuple[str, int, np.ndarray | None]]:
    """Yields each word, the width, and the vector of a word in `words`."""
    for number, word, numbers in _rows(path, bad):
        vector = None
        if words is None or word in words:
            try:
                vector = _vector(numbers)
            except ValueError as error:
                bad.report(path, number, str(error))
                continue
        yield word, len(numbers), vector


def _rows(path: str | Path, bad: BadLines) -> Generator[tuple[int, str, list[str]]]:
    """Yields the number of each line, its word and its unparsed numbers."""
    dim, num_rows, announced, is_first = 0, 0, None, True
    for number, text in read_lines(path):
        fields = _fields(text.rstrip(" \t"))
        if not fields:
            continue
        if is_first:
            is_first = False
            if len(fields) == 2 and all(map(_COUNT.fullmatch, fields)):
                announced, dim = map(int, fields)
                if not dim:
                    raise DataError(path, f"expected a width of at least 1, found '{text}'", number)
                continue
        num_rows += 1
        num_numbers = dim if len(fields) == dim + 1 else _num_numbers_at_end(fields)
        if not num_numbers or num_numbers != (dim or num_numbers):
            rule = f"{dim} numbers" if dim else "a word and numbers"
            bad.report(path, number, f"expected {rule}, found {num_numbers} numbers")
            continue
        dim = num_numbers
        yield number, " ".join(fields[:-dim]), fields[-dim:]
    if announced not in (None, num_rows):
        logger.warning("%s: the header announces %d words, found %d", path, announced, num_rows)


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
