"""Tables of texts with a label or a score in each row.

Columns are separated by tabs, or by commas, with quotes, if the file name ends in `.csv`. The first
line is a header if a column is given by name, or if it holds two well-known names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from tf_charagram.data.readers.lines import BadLines, read_records
from tf_charagram.data.readers.pairs import PAIR_NAMES
from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import ConfigError, DataError

# Column names of common data sets, in lowercase; earlier ones take precedence.
_LABEL_NAMES = ("label", "gold_label", "entailment_judgment", "entailment_label", "sentiment")
_SCORE_NAMES = ("score", "relatedness_score", "relatedness", "similarity")
_TEXT_NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("text",), ("sentence",), ("review",), ("phrase",)),
    2: PAIR_NAMES,
}
_KNOWN = {*_LABEL_NAMES, *_SCORE_NAMES, *itertools.chain(*_TEXT_NAMES[1], *_TEXT_NAMES[2])}
_SPLIT_NAME = "semeval_set"
# Unique labels are only suspicious in tables of at least this many rows.
_MIN_ROWS = 10


class ColumnOptions(TypedDict, total=False):
    """The arguments of all readers of tables, besides the path.

    Attributes:
        text_columns: The columns of the texts, each a 0-based number or a name of the header.
            Defaults to well-known names if there is a header, such as `premise` and
            `hypothesis`, else to column 1, or 1 and 2.
        label_column: The column of the label or score, in the same form. Defaults to well-known
            names, such as `label` or `relatedness_score`, else to column 0, or to column 3 for
            labelled pairs in four columns, as in plain SICK files.
        split: `"train"`, `"trial"` or `"test"`: the rows to keep of a file with the column
            `SemEval_set`, such as `SICK.txt`. Other files are one split.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A
            line is bad if its number of columns differs from the first, or if a text or label is
            empty.
    """

    text_columns: Sequence[str]
    label_column: str | None
    split: str | None
    on_bad_line: str | BadLines


class Row(NamedTuple):
    """One row of a table.

    Attributes:
        line: Its 1-based line.
        texts: Its texts, stripped and not empty.
        label: Its label or score, stripped; empty only if `allow_unscored`.
    """

    line: int
    texts: tuple[str, ...]
    label: str


def read_columns(
    path: str | Path,
    *,
    text_columns: Sequence[str] = (),
    label_column: str | None = None,
    num_texts: int = 1,
    is_scored: bool = False,
    allow_unscored: bool = False,
    split: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> list[Row]:
    """Reads the texts and the label, or the score, of each row of a table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        text_columns: See `ColumnOptions`, as for the other arguments below.
        label_column: The column of the label or score.
        num_texts: Texts in a row: 1 or 2.
        is_scored: Whether `label_column` holds numbers.
        allow_unscored: Whether to return rows with an empty label as well.
        split: The rows to keep of a file with several splits.
        on_bad_line: Policy for bad lines.

    Raises:
        ConfigError: The columns or `on_bad_line` are wrong.
        DataError: The file cannot be read, a line is bad, there are no rows, or a column does not
            hold texts or labels as it should.
    """
    if text_columns and len(text_columns) != num_texts:
        raise ConfigError(
            f"`text_columns` must name {num_texts} column{'s' if num_texts > 1 else ''}. "
            f"Received: text_columns={','.join(text_columns)}"
        )
    bad = BadLines.of(on_bad_line)
    records = read_records(path)
    first = next(records, None)
    if first is None:
        raise DataError(path, "no rows found: the file is empty")
    is_named = any(not column.isdecimal() for column in [*text_columns, label_column or "0"])
    has_header = is_named or len(_KNOWN.intersection(_lower(first[1]))) > 1
    table = _Table(
        path, *first, has_header=has_header, text_columns=text_columns, label_column=label_column,
        num_texts=num_texts, is_scored=is_scored, split=split,
    )  # fmt: skip
    rows = []
    for line, cells in records if has_header else itertools.chain([first], records):
        try:
            row = table.row(line, cells, allow_unscored)
        except ValueError as error:
            bad.report(path, line, str(error))
            continue
        if row is not None:
            rows.append(row)
    if not rows:
        raise DataError(path, f"no rows found: {bad.summary()}. Check the columns and the split.")
    _check_content(path, rows, table, is_scored)
    if not has_header and not is_scored:
        _check_first_label(path, rows)
    return rows


class _Table:
    """Finds the columns of a table by its first line; arguments and errors as for `read_columns`.

    Attributes:
        names: The names of the columns, or their numbers without a header.
        texts: The columns of the texts.
        label: The column of the label.
    """

    def __init__(
        self,
        path: str | Path,
        line: int,
        cells: list[str],
        *,
        has_header: bool,
        text_columns: Sequence[str],
        label_column: str | None,
        num_texts: int,
        is_scored: bool,
        split: str | None,
    ) -> None:
        self._path, self._line = path, line
        self._cells = [cell.strip() for cell in cells]
        self._header = _lower(cells) if has_header else []
        self.names = self._cells if has_header else [str(i) for i in range(len(cells))]
        self.texts = list(map(self._index, text_columns or self._default_texts(num_texts)))
        if label_column is None:
            label_column = self._default_label(num_texts, is_scored)
        self.label = self._index(label_column)
        self._split_column = self._header.index(_SPLIT_NAME) if _SPLIT_NAME in self._header else -1
        self._split = split
        if self._split_column >= 0 and split is None:
            raise DataError(
                path, "holds the splits train, trial and test. Choose one with `split`."
            )

    def row(self, line: int, cells: list[str], allow_unscored: bool) -> Row | None:
        """Returns a row, or `None` if it is of another split; raises `ValueError` if it is bad."""
        if len(cells) != len(self.names):
            expected = f"{len(self.names)} columns as in line {self._line}"
            raise ValueError(f"expected {expected}, found {len(cells)}")
        cells = [cell.strip() for cell in cells]
        if self._split_column >= 0 and cells[self._split_column].lower() != self._split:
            return None
        label = cells[self.label]
        for index in () if allow_unscored and not label else (*self.texts, self.label):
            if not cells[index]:
                kind = "label" if index == self.label else "text"
                raise ValueError(
                    f"expected a {kind} in column {self.names[index]}, but it is empty"
                )
        return Row(line, tuple(cells[i] for i in self.texts), label)

    def _default_texts(self, num_texts: int) -> Sequence[str]:
        if not self._header:
            return [str(i) for i in range(1, num_texts + 1)]
        return self._well_known("`text_columns`", _TEXT_NAMES[num_texts])

    def _default_label(self, num_texts: int, is_scored: bool) -> str:
        if not self._header:
            is_plain_sick = num_texts == 2 and not is_scored and len(self._cells) == 4
            return "3" if is_plain_sick and is_number(self._cells[0]) else "0"
        names = _SCORE_NAMES if is_scored else _LABEL_NAMES
        return self._well_known("`label_column`", [(name,) for name in names])[0]

    def _well_known(self, argument: str, choices: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """Returns the first choice of names that are all in the header."""
        for names in choices:
            if all(name in self._header for name in names):
                return names
        raise DataError(
            self._path,
            f"expected one of these in the header: {', '.join(map(' and '.join, choices))}; found "
            f"{', '.join(self._cells)}. Name the column with {argument}.",
            self._line,
        )

    def _index(self, column: str) -> int:
        if column in map(str, range(len(self._cells))):
            return int(column)
        if column.lower() in self._header:
            return self._header.index(column.lower())
        columns = f"{len(self._cells)} columns"
        if self._header:
            columns += f": {', '.join(self._cells)}"
        if column.isdecimal():
            column += ", counted from 0"
        raise DataError(self._path, f"expected a column {column}; found {columns}", self._line)


def _check_content(path: str | Path, rows: Sequence[Row], table: _Table, is_scored: bool) -> None:
    """Raises a `DataError` if a column of texts holds numbers, or that of labels no labels."""
    for index, column in enumerate(table.texts):
        texts = [row.texts[index] for row in rows]
        if 2 * sum(map(is_number, texts)) > len(texts):
            raise DataError(
                path,
                f"column {table.names[column]} should hold texts, but it holds numbers, such as "
                f"'{texts[0]}'. Give other `text_columns`.",
            )
    labels = [row.label for row in rows]
    if not is_scored and len(rows) >= _MIN_ROWS and len(set(labels)) == len(rows):
        raise DataError(
            path,
            f"column {table.names[table.label]} should hold labels, but all {len(rows)} rows "
            f"differ, such as '{labels[0][:40]}'. Give another `label_column`.",
        )


def _check_first_label(path: str | Path, rows: Sequence[Row]) -> None:
    """Raises a `DataError` if the first row looks like a header of unknown names."""
    label = rows[0].label
    if len(rows) >= _MIN_ROWS and label not in [row.label for row in rows[1:]]:
        raise DataError(
            path,
            f"looks like a header, because no other line has a label like '{label[:40]}'. "
            "If it is one, name the columns with --text-columns and --label-column; otherwise "
            "move the line.",
            rows[0].line,
        )


def _lower(cells: Iterable[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def is_scored_header(cells: Sequence[str]) -> bool:
    """Returns whether cells are well-known names of a score and of two texts."""
    names = {*_lower(cells)}
    return not names.isdisjoint(_SCORE_NAMES) and any(names.issuperset(p) for p in PAIR_NAMES)
