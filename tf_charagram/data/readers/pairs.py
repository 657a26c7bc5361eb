"""Training pairs: two columns, PPDB's format, or two aligned files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tf_charagram.data.readers.columns import choose_columns
from tf_charagram.data.readers.lines import BadLines, aligned_lines, say_once
from tf_charagram.data.readers.table_rows import as_text
from tf_charagram.data.readers.tables import PPDB_SEPARATOR, Rows
from tf_charagram.errors import DataError

Pair = tuple[str, str]
#: Two texts and whether they mean the same, 1 or 0.
LabelledPair = tuple[str, str, int]

# Whether the texts of a pair mean the same.
_IS_MATCH = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}


def read_pairs(
    path: str | Path, *, columns: Sequence[str] = (), on_bad_line: str | BadLines = "error"
) -> Iterator[Pair]:
    """Streams the pairs of one file, whose first lines tell the format.

    A table (CSV, TSV, JSON lines, Parquet); or the Paraphrase Database (PPDB), version 1.0
    (Ganitkevitch et al. 2013) or 2.0 (Pavlick et al. 2015): `LHS ||| phrase ||| paraphrase |||
    features ||| alignment [||| entailment]`. Texts are returned as they are in the file, including
    equal and empty texts; `PairCorpus` decides which pairs to train on. Pairs that the table says
    do not mean the same are left out, with a message.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        columns: The columns of the two texts and, optionally, of 0 or 1 for whether they mean the
            same: names of the header, or numbers from 1. Defaults to well-known names, such as
            `question1`, `question2` and `is_duplicate`, or to the only two columns.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Yields:
        Text and paraphrase.

    Raises:
        ConfigError: `on_bad_line` is unknown, or `columns` has too few or too many.
        DataError: The file cannot be read, has no such columns, a bad line or no pair.
    """
    table = Rows(path, columns, on_bad_line=on_bad_line)
    num_pairs = 0
    num_others = 0
    if _is_ppdb(table):
        pairs = _ppdb(table)
    else:
        positions = choose_columns(table, columns, 2, "match")
        pairs = _matches(table, positions, "; to use all rows, name only the texts")
    for left, right, is_match in pairs:
        if not is_match:
            num_others += 1
            continue
        num_pairs += 1
        yield left, right
    if num_others:
        say_once(path, f"left out {num_others:,} pairs that do not mean the same")
    if not num_pairs:
        raise DataError(path, f"no pairs found: {table.bad.summary()}. {table.advice()}")


def read_labels(path: str | Path) -> list[LabelledPair]:
    """Reads a table of two texts and 1 or 0, whether they mean the same.

    Raises:
        DataError: The file cannot be read, has no such columns or a bad line.
    """
    table = Rows(path, flag="")
    columns = choose_columns(table, (), 2, "score")
    return list(_matches(table, columns))


def _matches(table: Rows, columns: Sequence[int], hint: str = "") -> Iterator[LabelledPair]:
    """Yields the pairs of a table."""
    for line, cells in table:
        left, right, *match = [as_text(cells[column]) for column in columns]
        # Without a third column, all pairs mean the same.
        found = match[0].strip() if match else "1"
        is_match = _IS_MATCH.get(found.lower())
        if is_match is not None:
            yield left, right, is_match
            continue
        column = f"column {table.names[columns[2]]}, for whether the texts mean the same"
        table.report(line, f"expected 0 or 1 in {column}, found '{found[:40]}'{hint}")


def _is_ppdb(table: Rows) -> bool:
    """Returns whether the first row of a table without columns has PPDB's separator."""
    return len(table.names) == 1 and PPDB_SEPARATOR in str(table.first[:1])


def _ppdb(table: Rows) -> Iterator[LabelledPair]:
    for line, (cell,) in table:
        fields = as_text(cell).split(PPDB_SEPARATOR)
        if len(fields) in (5, 6):  # Version 1.0 or 2.0.
            yield fields[1], fields[2], 1
        else:
            table.report(line, f"expected 5 or 6 fields separated by '|||', found {len(fields)}")


def read_aligned(left: str | Path, right: str | Path) -> Iterator[Pair]:
    """Streams the pairs of two files that correspond line by line, as in SimpWiki.

    If a line has tabs, as in SimpWiki's second version (article, paragraph, sentence), its last
    cell is the text.

    Args:
        left: File of the first texts, plain or gzip.
        right: File of the second texts.

    Raises:
        DataError: While iterating: a file cannot be read, one has more lines than the other, or
            both are empty.
    """
    number = 0
    for number, first, second in aligned_lines(left, right):  # noqa: B007
        yield first.rpartition("\t")[2], second.rpartition("\t")[2]
    if not number:
        raise DataError(left, "no pairs found: the file is empty")
