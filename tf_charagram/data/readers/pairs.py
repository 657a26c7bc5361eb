"""Training pairs: two columns, PPDB's format, or two aligned files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.columns import PAIR_NAMES, is_csv, read_records
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.ppdb import SEPARATOR, PpdbFilter, parse_ppdb_line
from tf_charagram.errors import DataError

Pair = tuple[str, str]

_HEADERS = {
    *PAIR_NAMES,
    ("text", "paraphrase"),
    ("phrase", "paraphrase"),
    ("word1", "word2"),
    ("s1", "s2"),
    ("anchor", "positive"),
    ("query", "answer"),
}


def read_pairs(
    path: str | Path,
    *,
    on_bad_line: str | BadLines = "error",
    min_score: float | None = None,
    entailment: str | Sequence[str] | None = None,
) -> Iterator[Pair]:
    """Streams the pairs of one file, whose first non-blank line tells the format.

    Two tab-separated texts, or comma-separated ones with quotes if the file name ends in `.csv`:
    blank lines are skipped, and a first line of well-known column names (such as `text1 text2`) is
    a header. PPDB 1.0 and 2.0: see `ppdb.py`. Texts are returned as they are in the file, including
    equal and empty ones; `PairCorpus` decides which pairs to train on.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
        min_score: Smallest `PPDB2.0Score` to keep; PPDB 2.0 only. Defaults to all.
        entailment: Entailment type or types to keep; PPDB 2.0 only. Defaults to all.

    Returns:
        An iterator over `(text, paraphrase)`.

    Raises:
        ConfigError: An argument is wrong; raised by the call itself.
        DataError: While iterating: the file cannot be read, has a bad line or no pair, or
            lacks a field that a filter needs.
    """
    return _pairs(path, BadLines.of(on_bad_line), PpdbFilter(min_score, entailment))


def _pairs(path: str | Path, bad: BadLines, ppdb_filter: PpdbFilter) -> Iterator[Pair]:
    rows = read_records(path)
    first = next(rows, None)
    if first is None:
        raise DataError(path, "no pairs found: the file is empty")
    if len(first[1]) == 1 and SEPARATOR in first[1][0]:
        parse = _ppdb_parser(path, ppdb_filter)
    else:
        ppdb_filter.check_file(path, None)
        parse = _csv_pair if is_csv(path) else _tsv_pair
    if not _is_header(first[1]):
        rows = itertools.chain([first], rows)
    num_lines = num_bad = num_pairs = 0
    for number, cells in rows:
        num_lines += 1
        try:
            pair = parse(cells)
        except DataError:
            raise
        except ValueError as error:
            num_bad += 1
            bad.report(path, number, str(error))
            continue
        if pair is not None:
            num_pairs += 1
            yield pair
    if not num_pairs:
        others = ", the others filtered out" if num_bad < num_lines else ""
        raise DataError(
            path,
            f"no pairs found: {num_lines} lines, {bad.summary()}{others}. Check the format and the "
            "filters.",
        )


def _is_header(cells: Sequence[str]) -> bool:
    return tuple(cell.strip().lower() for cell in cells) in _HEADERS


def _tsv_pair(cells: Sequence[str]) -> Pair:
    if len(cells) != 2:
        hint = "; commas separate texts only in .csv files" if "," in cells[0] else ""
        raise ValueError(f"expected 2 tab-separated texts, found {len(cells)}{hint}")
    return cells[0], cells[1]


def _csv_pair(cells: Sequence[str]) -> Pair:
    if len(cells) != 2:
        raise ValueError(f"expected 2 comma-separated texts, found {len(cells)}")
    return cells[0], cells[1]


def _ppdb_parser(
    path: str | Path, ppdb_filter: PpdbFilter
) -> Callable[[Sequence[str]], Pair | None]:
    """Returns a parser that checks the first entry and gives `None` for filtered entries."""
    is_first = True

    def parse(cells: Sequence[str]) -> Pair | None:
        nonlocal is_first
        entry = parse_ppdb_line("\t".join(cells))
        if is_first:
            ppdb_filter.check_file(path, entry)
            is_first = False
        return (entry.phrase, entry.paraphrase) if ppdb_filter.keeps(entry) else None

    return parse


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
