"""Training pairs in two files that correspond line by line, such as those of SimpWiki."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.pairs import Pair
from tf_charagram.errors import DataError

#: Stands between the names of two files.
SEPARATOR = "::"


def read_aligned(left: str | Path, right: str | Path) -> Iterator[Pair]:
    """Streams the pairs of two files of the same number of lines, one sentence per line.

    A line of SimpWiki's second version is article, paragraph and sentence, tab-separated: of a line
    with tabs, the last cell is the text. A pair may have an empty side, as for `read_pairs`.

    Args:
        left: File of the first texts, plain or gzip.
        right: File of the second ones.

    Raises:
        DataError: While iterating: a file cannot be read, one has more lines than the other, or
            there is no line.
    """
    num_pairs = 0
    for first, second in zip_longest(read_lines(left), read_lines(right)):
        if first is None or second is None:
            short, long = (left, right) if first is None else (right, left)
            raise DataError(
                short,
                f"expected as many lines as in {long}, found only {num_pairs:,}. Line by line, the "
                "two files must say the same; get both again.",
            )
        num_pairs += 1
        yield _sentence(first[1]), _sentence(second[1])
    if not num_pairs:
        raise DataError(left, "no pairs found: the file is empty")


def _sentence(line: str) -> str:
    return line.rpartition("\t")[2]
