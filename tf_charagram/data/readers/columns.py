"""Tables of texts with a label or a score each.

Tab-separated, or comma-separated with quotes if the file name ends in `.csv`.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.column_checks import check_first_row, content_problem
from tf_charagram.data.readers.column_layout import LayoutFinder, Row
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError, DataError

# Python's limit is that of a cell in a spreadsheet; texts are longer.
csv.field_size_limit(2**31 - 1)
_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)


class ColumnOptions(TypedDict, total=False):
    """The arguments of all readers of tables, besides the path.

    Attributes:
        text_columns: The columns of the texts, each a 0-based number or a name of the header.
            Defaults to well-known names if there is a header, such as `premise` and
            `hypothesis`, else to column 1, or 1 and 2.
        label_column: The column of the label or score, the same way. Defaults to well-known
            names, such as `label` or `relatedness_score`, else to column 0; of labelled pairs in
            four columns to column 3, as in plain files of SICK.
        header: Whether the first line holds names of columns. By default it does if a column is
            given by name, or if it holds two well-known names.
        split: `"train"`, `"trial"` or `"test"`: which rows to keep of a file with the column
            `SemEval_set`, such as `SICK.txt`. Other files are one split.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A
            line is bad if it has other columns than the first, or if a text or label is empty.
    """

    text_columns: Sequence[str]
    label_column: str | None
    header: bool | None
    split: str | None
    on_bad_line: str | BadLines


def read_columns(
    path: str | Path,
    *,
    text_columns: Sequence[str] = (),
    label_column: str | None = None,
    num_texts: int = 1,
    is_scored: bool = False,
    header: bool | None = None,
    split: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> list[Row]:
    """Reads the texts and the label, or the score, of each row of a table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        text_columns: See `ColumnOptions`, also for the arguments that follow.
        label_column: The column of the label or score.
        num_texts: Texts in a row: 1 or 2.
        is_scored: Whether `label_column` holds numbers.
        header: Whether the first line holds names of columns.
        split: Which rows to keep of a file with several splits.
        on_bad_line: What to do about bad lines.

    Raises:
        ConfigError: The columns or `on_bad_line` are wrong.
        DataError: The file cannot be read, a line is bad, there are no rows, or the columns hold
            something else than they should, for instance because two are swapped.
    """
    _check_columns(text_columns, label_column, num_texts, header)
    bad = BadLines.of(on_bad_line)
    records = read_records(path)
    first = next(records, None)
    if first is None:
        raise DataError(path, "no rows found: the file is empty")
    finder = LayoutFinder(path, *first, header, [*text_columns, label_column or "0"])
    layout = finder.layout(text_columns, label_column, num_texts, is_scored, split)
    rows = []
    for line, cells in records if finder.has_header else itertools.chain([first], records):
        try:
            row = layout.row(line, cells)
        except ValueError as error:
            bad.report(path, line, str(error))
            continue
        if row is not None:
            rows.append(row)
    if not rows:
        raise DataError(path, f"no rows found: {bad.summary()}. Check the columns and the split.")
    problem = content_problem(rows, layout, is_scored)
    if problem is not None:
        raise DataError(path, problem)
    if header is None and not finder.has_header:
        check_first_row(path, rows, is_scored)
    return rows


def _check_columns(
    text_columns: Sequence[str], label_column: str | None, num_texts: int, header: bool | None
) -> None:
    given = [*text_columns, *(() if label_column is None else (label_column,))]
    if text_columns and len(text_columns) != num_texts:
        raise ConfigError(
            f"`text_columns` must name {num_texts} column{'s' if num_texts > 1 else ''}. "
            f"Received: text_columns={','.join(text_columns)}"
        )
    if header is False and not all(column.isdecimal() for column in given):
        raise ConfigError(
            f"Columns must be numbers where there is no header. Received: {', '.join(given)}"
        )


def is_csv(path: str | Path) -> bool:
    """Returns whether the name of a file says that its cells are separated by commas."""
    return _CSV.search(str(path)) is not None


def read_records(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number and the cells of each row; blank lines are none.

    Raises:
        DataError: The file cannot be read, or quotes are not closed.
    """
    if not is_csv(path):
        for number, text in read_lines(path):
            # A tab alone is two empty cells, not a blank line.
            if text.strip() or "\t" in text:
                yield number, text.split("\t")
        return
    reader = csv.reader((f"{text}\n" for _, text in read_lines(path)), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DataError(
                path, f"the row is no CSV ({error}). Check its quotes.", line
            ) from error
        if cells is None:
            return
        # A comma alone is two empty cells, not a blank line.
        if len(cells) > 1 or "".join(cells).strip():
            yield line, cells
