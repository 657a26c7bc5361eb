"""Training pairs: two columns, PPDB's format, or two aligned files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tf_charagram.data.readers.lines import BadLines, is_csv, read_lines, read_records
from tf_charagram.errors import DataError

Pair = tuple[str, str]

#: Names of the two columns of pairs of texts.
PAIR_NAMES = (
    ("sentence_a", "sentence_b"),
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("left", "right"),
)
_HEADERS = {
    *PAIR_NAMES,
    ("text", "paraphrase"),
    ("phrase", "paraphrase"),
    ("word1", "word2"),
    ("s1", "s2"),
    ("anchor", "positive"),
    ("query", "answer"),
}
_PPDB_SEPARATOR = " ||| "


def read_pairs(path: str | Path, *, on_bad_line: str | BadLines = "error") -> Iterator[Pair]:
    """Streams the pairs of one file, whose first non-blank line tells the format.

    Two tab-separated texts, or comma-separated ones with quotes if the file name ends in `.csv`:
    blank lines are skipped, and a first line of well-known column names (such as `text1 text2`) is
    a header. The Paraphrase Database (PPDB), version 1.0 (Ganitkevitch et al. 2013) or 2.0 (Pavlick
    et al. 2015): `LHS ||| phrase ||| paraphrase ||| features ||| alignment [||| entailment]`. Texts
    are returned as they are in the file, including equal and empty ones; `PairCorpus` decides which
    pairs to train on.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Yields:
        Text and paraphrase.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, or has a bad line or no pair.
    """
    bad = BadLines.of(on_bad_line)
    rows = read_records(path)
    first = next(rows, None)
    if first is None:
        raise DataError(path, "no pairs found: the file is empty")
    parse: Callable[[Sequence[str]], Pair] = _ppdb_pair
    if len(first[1]) > 1 or _PPDB_SEPARATOR not in first[1][0]:
        parse = partial(_two_texts, separator="comma" if is_csv(path) else "tab")
    if tuple(cell.strip().lower() for cell in first[1]) not in _HEADERS:
        rows = itertools.chain([first], rows)
    num_lines = num_pairs = 0
    for number, cells in rows:
        num_lines += 1
        try:
            pair = parse(cells)
        except ValueError as error:
            bad.report(path, number, str(error))
            continue
        num_pairs += 1
        yield pair
    if not num_pairs:
        raise DataError(
            path, f"no pairs found: {num_lines} lines, {bad.summary()}. Check the format."
        )


def _two_texts(cells: Sequence[str], separator: str) -> Pair:
    if len(cells) != 2:
        is_hinted = separator == "tab" and "," in cells[0]
        hint = "; commas separate texts only in .csv files" if is_hinted else ""
        raise ValueError(f"expected 2 {separator}-separated texts, found {len(cells)}{hint}")
    return cells[0], cells[1]


def _ppdb_pair(cells: Sequence[str]) -> Pair:
    """Returns the pair of a line of PPDB."""
    fields = "\t".join(cells).split(_PPDB_SEPARATOR)
    if len(fields) not in (5, 6):
        raise ValueError(f"expected 5 or 6 fields separated by '|||', found {len(fields)}")
    return fields[1], fields[2]


def read_aligned(left: str | Path, right: str | Path) -> Iterator[Pair]:
    """Streams the pairs of two files that correspond line by line, such as those of SimpWiki.

    If a line has tabs, as in SimpWiki's second version (article, paragraph, sentence), its last
    cell is the text.

    Args:
        left: File of the first texts, plain or gzip.
        right: File of the second ones.

    Raises:
        DataError: While iterating: a file cannot be read, one has more lines than the other, or
            both are empty.
    """
    num_pairs = 0
    for first, second in itertools.zip_longest(read_lines(left), read_lines(right)):
        if first is None or second is None:
            short, long = (left, right) if first is None else (right, left)
            raise DataError(
                short,
                f"expected as many lines as in {long}, found only {num_pairs:,}. The two files "
                "must correspond line by line; get both again.",
            )
        num_pairs += 1
        yield first[1].rpartition("\t")[2], second[1].rpartition("\t")[2]
    if not num_pairs:
        raise DataError(left, "no pairs found: the file is empty")
