"""Training pairs: two columns, PPDB's format, or two aligned files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from tf_charagram.data._tables.columns import NO, YES, choose_columns
from tf_charagram.data._tables.lines import BadLines, aligned_lines, read_lines, say_once
from tf_charagram.data._tables.table_reading import Rows, format_of
from tf_charagram.errors import DataError

Pair = tuple[str, str]
#: Two texts and whether they mean the same, 1 or 0.
LabelledPair = tuple[str, str, int]

_PPDB_SEPARATOR = " ||| "
# Whether the texts of a pair mean the same, as people write it.
_IS_MATCH = {
    **dict.fromkeys(("1", "1.0", *YES, "match", "same", "duplicate"), 1),
    **dict.fromkeys(("0", "0.0", *NO, "no match", "nonmatch", "non-match", "different"), 0),
}


def read_pairs(
    path: str | Path,
    *,
    columns: Sequence[str] = (),
    header: bool = True,
    on_bad_line: str | BadLines = "error",
) -> Iterator[Pair]:
    """Streams the pairs of one file.

    A table (CSV, TSV, JSON, Parquet; columns between tabs in files of other names); or the
    Paraphrase Database (PPDB), version 1.0 (Ganitkevitch et al. 2013) or 2.0 (Pavlick et al. 2015):
    `LHS ||| phrase ||| paraphrase ||| features ||| alignment [||| entailment]`. Texts are returned
    as they are in the file, including equal and empty texts; `PairCorpus` decides which pairs to
    train on. Pairs that the table says do not mean the same are left out, with a message.

    Args:
        path: File, plain or gzip, or `"-"` for standard input, which is a table.
        columns: The columns of the two texts and, optionally, of 0 or 1 for whether they mean the
            same: names of the header, or numbers from 1. Default: well-known names, such as
            `question1`, `question2` and `is_duplicate`.
        header: Whether the first line of CSV and TSV has the names of the columns. If not, the
            default is the only two columns.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Yields:
        Text and paraphrase.

    Raises:
        ConfigError: `on_bad_line` is unknown, or `columns` has too few or too many.
        DataError: The file cannot be read, has no such columns, a bad line or no pair.
    """
    bad = BadLines.of(on_bad_line)
    if not columns and _is_ppdb(path):
        pairs = _ppdb(path, bad)
    else:
        pairs = _matches(path, columns, header, bad, "; to use all rows, name only the texts")
    num_pairs = 0
    num_others = 0
    for left, right, is_match in pairs:
        if not is_match:
            num_others += 1
            continue
        num_pairs += 1
        yield left, right
    if num_others:
        say_once(path, f"left out {num_others:,} pairs that do not mean the same")
    if not num_pairs:
        reason = bad.summary() if bad.count else "the file has no row"
        raise DataError(path, f"no pairs found: {reason}.")


def read_labels(
    path: str | Path, *, encoding: str | None = None, on_bad_line: str | BadLines = "error"
) -> list[LabelledPair]:
    """Reads a table of two texts and 1 or 0, whether they mean the same.

    Yes and no, true and false, match and no match, or same and different count as 1 and 0.

    Args:
        path: The table. Without a header, the third column has 1 and 0, or yes and no; or the first
            one has 1 and 0.
        encoding: The encoding of a text file. Default: UTF-8.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` or `encoding` is unknown.
        DataError: The file cannot be read, has no such columns or a bad line.
    """
    bad = BadLines.of(on_bad_line)
    return list(_matches(path, (), True, bad, encoding=encoding, value="truth"))


def _matches(
    path: str | Path,
    columns: Sequence[str],
    header: bool,
    bad: BadLines,
    hint: str = "",
    *,
    encoding: str | None = None,
    value: Literal["match", "truth"] = "match",
) -> Iterator[LabelledPair]:
    """Yields the pairs of a table; without a column of matches, all pairs mean the same."""
    table = Rows(
        path,
        header=header,
        encoding=encoding,
        on_bad_line=bad,
        has_tabs=True,
        columns=columns,
        # Labels have no flags for columns.
        remedy="Name them left, right and match" if value == "truth" else "",
    )
    positions = choose_columns(table, columns, 2, value)
    for line, (left, right, *match) in table.texts(positions):
        found = match[0].strip() if match else "1"
        is_match = _IS_MATCH.get(found.lower())
        if is_match is not None:
            yield left, right, is_match
            continue
        column = f"column {table.names[positions[2]]}, for whether the texts mean the same"
        bad.report(path, line, f"expected 0 or 1 in {column}, found '{found[:40]}'{hint}")


def _is_ppdb(path: str | Path) -> bool:
    """Returns whether the first line of a file that can be read again has PPDB's separator."""
    if format_of(path) == ".parquet" or not Path(path).is_file():
        return False
    return any(_PPDB_SEPARATOR in text for _, text in islice(read_lines(path), 1))


def _ppdb(path: str | Path, bad: BadLines) -> Iterator[LabelledPair]:
    for line, text in read_lines(path):
        fields = text.split(_PPDB_SEPARATOR)
        if len(fields) in (5, 6):  # Version 1.0 or 2.0.
            yield fields[1], fields[2], 1
        elif text.strip():
            expected = "expected 5 or 6 fields separated by '|||'"
            bad.report(path, line, f"{expected}, found {len(fields)}")


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
