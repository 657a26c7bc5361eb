"""Files with a word per line: counts, and pretrained vectors as word2vec and GloVe write them."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.data._tables.scored import is_number
from tf_charagram.errors import DataError

logger = logging.getLogger(__name__)

#: Splits texts into words.
WordsOf = Callable[[Iterable[str]], Iterable[str]]

# Python does not convert thousands of digits.
_COUNT = re.compile(r"[0-9]{1,18}")
_WORD_AND_COUNT = re.compile(r"(\S.*?)[ \t]+(\d{1,18})")
_NUM_PROBED = 20
_MAX_VALUE = float(np.finfo(np.float32).max)
_NO_VECTORS = "expected lines of a word and its numbers, found none"


def read_word_counts(path: str | Path, words_of: WordsOf, min_count: int = 1) -> Counter[str]:
    """Reads a list of counts, or counts the words of a corpus.

    Args:
        path: File, plain or gzip: `word count` per line, separated by spaces or a tab. If one of
            the first 20 non-blank lines differs, every line is a text.
        words_of: Splits texts into words.
        min_count: Rarer words of texts are left out; lists are read whole.

    Raises:
        DataError: The file cannot be read, or a line of a list has no count.
    """
    rest = ((number, text.strip()) for number, text in read_lines(path) if text.strip())
    probed = list(islice(rest, _NUM_PROBED))
    # The file may be a pipe, which cannot be read again.
    lines = chain(probed, rest)
    if all(_WORD_AND_COUNT.fullmatch(text) for _, text in probed):
        return _listed(path, lines)
    counts = Counter(words_of(text for _, text in lines))
    rare = [word for word, count in counts.items() if count < min_count]
    for word in rare:
        del counts[word]
    return counts


def _listed(path: str | Path, lines: Iterable[tuple[int, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, text in lines:
        match = _WORD_AND_COUNT.fullmatch(text)
        if match is None:
            raise DataError(path, "expected a word and its count", line=number)
        counts[match[1]] += int(match[2])
    return counts


def load_word_vectors(
    path: str | Path, words: Sequence[str], *, on_bad_line: str | BadLines = "error"
) -> tuple[np.ndarray, np.ndarray]:
    """Loads the vectors of the given words only.

    Only the result takes memory, whatever the size of the file. Words are compared as they are, so
    the file should have the case of the vocabulary. The first vector of a repeated word counts.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        words: Distinct words, in the order of the rows.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Returns:
        The vectors, float32 `(num_words, dim)`, zeros for words that are not in the file; and
        whether the file has each word, bool `(num_words,)`.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or it has no vector.
    """
    wanted = set(words)
    found: dict[str, np.ndarray] = {}
    dim = 0
    lines = scan_word_vectors(path, wanted, on_bad_line=on_bad_line)
    for word, dim, vector in lines:  # noqa: B007
        if vector is not None:
            found.setdefault(word, vector)
    matrix = np.zeros((len(words), dim), np.float32)
    is_known = np.zeros(len(words), bool)
    for row, word in enumerate(words):
        if word in found:
            matrix[row] = found[word]
            is_known[row] = True
    return matrix, is_known


def word_vectors_dim(path: str | Path, *, on_bad_line: str = "error") -> int:
    """Returns the width of the vectors in a file, from its first good line.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or it has no vector.
    """
    _, dim, _ = next(scan_word_vectors(path, (), on_bad_line=on_bad_line))
    return dim


def scan_word_vectors(
    path: str | Path,
    words: Collection[str] | None = None,
    *,
    on_bad_line: str | BadLines = "error",
) -> Iterator[tuple[str, int, np.ndarray | None]]:
    """Streams all words of a text file, with the vectors of some.

    A line is a word and its numbers, separated by spaces or tabs. The first line may be the
    header of word2vec, the number of words and the width; otherwise the numbers at the end of the
    first line give the width. A word may contain spaces, but no number after its first part.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        words: The words to parse vectors of. Defaults to all.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Yields:
        A word, the width `dim`, and its vector, float32 `(dim,)`, or `None` for words not in
        `words`; repeated words are yielded repeatedly.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or it has no vector.
    """
    bad = BadLines.of(on_bad_line)
    dim = 0
    num_rows = 0
    announced = None
    for number, text in read_lines(path):
        fields = _fields(text)
        if not fields:
            continue
        is_first = num_rows == 0 and announced is None
        if is_first and len(fields) == 2 and all(map(_COUNT.fullmatch, fields)):
            announced, dim = map(int, fields)
            if not dim:
                raise DataError(path, f"expected a width of at least 1, found '{text}'", number)
            continue
        num_rows += 1
        # Counting the numbers is slow, and needed only if the word has spaces or the line is bad.
        num_numbers = dim if len(fields) == dim + 1 else _num_numbers_at_end(fields)
        if not num_numbers or num_numbers != (dim or num_numbers):
            rule = f"{dim} numbers" if dim else "a word and numbers"
            bad.report(path, number, f"expected {rule}, found {num_numbers} numbers")
            continue
        dim = num_numbers
        word = " ".join(fields[:-dim])
        vector = None
        if words is None or word in words:
            try:
                vector = _vector(fields[-dim:])
            except ValueError as error:
                bad.report(path, number, str(error))
                continue
        yield word, dim, vector
    if not num_rows:
        raise DataError(path, _NO_VECTORS)
    if announced not in (None, num_rows):
        logger.warning("%s: the header announces %d words, found %d", path, announced, num_rows)


def _fields(text: str) -> list[str]:
    # Other white space, such as the no-break space in numbers of GloVe, is part of a word.
    return [field for field in text.replace("\t", " ").split(" ") if field]


def _num_numbers_at_end(fields: list[str]) -> int:
    """Counts the numbers at the end of a line; its first field is always a part of the word."""
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
        # True for NaN as well; a larger number would be infinite in float32.
        if not abs(value) <= _MAX_VALUE:
            raise ValueError(f"expected finite numbers, found '{field}'")
        vector.append(value)
    return np.array(vector, np.float32)
