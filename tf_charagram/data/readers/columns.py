"""Tables of texts with a label or a score each: which column holds what, and what if it does not.

Tab-separated, or comma-separated with quotes if the file name ends in `.csv`.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tf_charagram.data.readers.lines import BadLines, read_lines
from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import ConfigError, DataError

# Column names of the data sets that people have, in lower case; the first that is there counts.
_LABEL_NAMES = ("label", "gold_label", "entailment_judgment", "entailment_label", "sentiment")
_SCORE_NAMES = ("score", "relatedness_score", "relatedness", "similarity")
_TEXT_NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("text",), ("sentence",), ("review",), ("phrase",)),
    2: (
        ("sentence_a", "sentence_b"),
        ("premise", "hypothesis"),
        ("sentence1", "sentence2"),
        ("text1", "text2"),
        ("left", "right"),
    ),
}
_KNOWN = {*_LABEL_NAMES, *_SCORE_NAMES, *itertools.chain(*_TEXT_NAMES[1], *_TEXT_NAMES[2])}
_SPLIT_NAME = "semeval_set"
_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)
# In fewer rows, it says nothing that a label is on one line only.
_MIN_ROWS = 10
_LONGEST = 40


class Row(NamedTuple):
    """One row of a table.

    Attributes:
        line: Its 1-based line.
        texts: Its texts, stripped; none is empty.
        label: Its label or score, stripped; not empty.
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
    header: bool | None = None,
    split: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> list[Row]:
    """Reads the texts and the label, or the score, of each row of a table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        text_columns: The columns of the texts, each a 0-based number or a name of the header.
            Defaults to well-known names if there is a header, such as `premise` and
            `hypothesis`, else to column 1, or 1 and 2.
        label_column: The column of the label or score, the same way. Defaults to well-known
            names, such as `label` or `relatedness_score`, else to column 0; of labelled pairs in
            four columns to column 3, as in plain files of SICK.
        num_texts: Texts in a row: 1 or 2.
        is_scored: Whether `label_column` holds numbers.
        header: Whether the first line holds names of columns. By default it does if a column is
            given by name, or if it holds two well-known names.
        split: `"train"`, `"trial"` or `"test"`: which rows to keep of a file with the column
            `SemEval_set`. Other files are one split.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A
            line is bad if it has other columns than the first, or if a text or label is empty.

    Raises:
        ConfigError: The columns or `on_bad_line` are wrong.
        DataError: The file cannot be read, a line is bad, there are no rows, or the columns hold
            something else than they should, for instance because two are swapped.
    """
    _check_columns(text_columns, label_column, num_texts, header)
    bad = BadLines.of(on_bad_line)
    records = _records(path)
    first = next(records, None)
    if first is None:
        raise DataError(path, "no rows found: the file is empty")
    find = _Finder(path, *first, header, [*text_columns, label_column or "0"])
    layout = find.layout(text_columns, label_column, num_texts, is_scored, split)
    rows = []
    for line, cells in records if find.has_header else itertools.chain([first], records):
        try:
            row = layout.row(line, cells)
        except ValueError as error:
            bad.report(path, line, str(error))
            continue
        if row is not None:
            rows.append(row)
    if not rows:
        raise DataError(path, f"no rows found: {bad.summary()}. Check the columns and the split.")
    problem = _problem(rows, layout, is_scored)
    if problem is not None:
        raise DataError(path, problem)
    if header is None and not find.has_header:
        _check_first_row(path, rows, is_scored)
    return rows


@dataclass(frozen=True)
class _Layout:
    """Where the cells of a row are.

    Attributes:
        names: What messages call the columns: names of the header, or numbers.
        texts: Indices of the texts.
        label: Index of the label or score.
        split: Index of the column that says the split, and the one to keep.
        first_line: The line that said how many columns there are.
    """

    names: list[str]
    texts: tuple[int, ...]
    label: int
    split: tuple[int, str] | None
    first_line: int

    def row(self, line: int, cells: list[str]) -> Row | None:
        """Returns a row, `None` if it is of another split; a `ValueError` says what is wrong."""
        if len(cells) != len(self.names):
            expected = f"{len(self.names)} columns as in line {self.first_line}"
            raise ValueError(f"expected {expected}, found {len(cells)}")
        if self.split is not None and cells[self.split[0]].strip().lower() != self.split[1]:
            return None
        for kind, index in (*(("text", index) for index in self.texts), ("label", self.label)):
            if not cells[index].strip():
                raise ValueError(
                    f"expected a {kind} in column {self.names[index]}, but it is empty"
                )
        return Row(line, tuple(cells[i].strip() for i in self.texts), cells[self.label].strip())


class _Finder:
    """Finds columns by what the first line of a table holds."""

    def __init__(
        self, path: str | Path, line: int, cells: list[str], header: bool | None, given: list[str]
    ) -> None:
        self._path = path
        self._line = line
        self._cells = [cell.strip() for cell in cells]
        self._lower = [cell.lower() for cell in self._cells]
        is_named = any(not column.isdecimal() for column in given)
        is_known = len(_KNOWN.intersection(self._lower)) > 1
        self.has_header = is_named or is_known if header is None else header

    def layout(
        self,
        text_columns: Sequence[str],
        label_column: str | None,
        num_texts: int,
        is_scored: bool,
        split: str | None,
    ) -> _Layout:
        """Returns where the cells of a row are."""
        if not text_columns:
            text_columns = self._default_texts(num_texts)
        if label_column is None:
            label_column = self._default_label(num_texts, is_scored)
        indices = [self._index(column) for column in (*text_columns, label_column)]
        if len(set(indices)) < len(indices):
            raise ConfigError(
                "`text_columns` and `label_column` must be different columns. Received: "
                f"text_columns={','.join(text_columns)}, label_column={label_column}"
            )
        names = self._cells if self.has_header else [str(i) for i in range(len(self._cells))]
        return _Layout(names, tuple(indices[:-1]), indices[-1], self._split(split), self._line)

    def _default_texts(self, num_texts: int) -> Sequence[str]:
        if not self.has_header:
            return [str(i) for i in range(1, num_texts + 1)]
        for names in _TEXT_NAMES[num_texts]:
            if all(name in self._lower for name in names):
                return names
        raise self._missing("`text_columns`", (" and ".join(n) for n in _TEXT_NAMES[num_texts]))

    def _default_label(self, num_texts: int, is_scored: bool) -> str:
        if not self.has_header:
            is_plain_sick = num_texts == 2 and not is_scored and len(self._cells) == 4
            return "3" if is_plain_sick and is_number(self._cells[0]) else "0"
        known = _SCORE_NAMES if is_scored else _LABEL_NAMES
        for name in known:
            if name in self._lower:
                return name
        raise self._missing("`label_column`", known)

    def _missing(self, argument: str, names: Iterator[str] | Sequence[str]) -> DataError:
        found = ", ".join(self._cells)
        return DataError(
            self._path,
            f"expected one of these in the header: {', '.join(names)}; found {found}. "
            f"Say which column it is with {argument}.",
            self._line,
        )

    def _index(self, column: str) -> int:
        if column.isdecimal() and int(column) < len(self._cells):
            return int(column)
        if column.lower() in self._lower and self.has_header:
            return self._lower.index(column.lower())
        found = f"{len(self._cells)} columns"
        if self.has_header:
            found += f": {', '.join(self._cells)}"
        if column.isdecimal():
            column += ", counted from 0"
        raise DataError(self._path, f"expected a column {column}; found {found}", self._line)

    def _split(self, split: str | None) -> tuple[int, str] | None:
        if not self.has_header or _SPLIT_NAME not in self._lower:
            return None
        if split is None:
            raise DataError(
                self._path, "holds the splits train, trial and test. Say which with `split`."
            )
        return self._lower.index(_SPLIT_NAME), split.lower()


def _check_columns(
    text_columns: Sequence[str],
    label_column: str | None,
    num_texts: int,
    header: bool | None,
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


def _records(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the line number and the cells of each row; blank lines are none."""
    if not _CSV.search(str(path)):
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
        if cells:
            yield line, cells


def _check_first_row(path: str | Path, rows: Sequence[Row], is_scored: bool) -> None:
    """Raises if the first row is a header with names that are not known."""
    label, others = rows[0].label, [row.label for row in rows[1:]]
    if is_scored:
        is_header = not is_number(label) and any(map(is_number, others))
    else:
        is_header = len(rows) >= _MIN_ROWS and label not in others
    if is_header:
        raise DataError(
            path,
            f"looks like a header, for no other line has a label like '{_short(label)}'. "
            "Say header=True or header=False.",
            rows[0].line,
        )


def _problem(rows: Sequence[Row], layout: _Layout, is_scored: bool) -> str | None:
    """Says what is wrong with what the columns hold; `None` if nothing is."""
    labels = [row.label for row in rows]
    columns = {column: [row.texts[i] for row in rows] for i, column in enumerate(layout.texts)}
    # What looks least like texts: numbers, or else few different values.
    worst = min(columns, key=lambda c: (not _are_numbers(columns[c]), len(set(columns[c]))))
    texts, name, label_name = columns[worst], layout.names[worst], layout.names[layout.label]
    if _are_numbers(texts):
        # Two columns of numbers cannot be swapped.
        is_swapped = not _are_numbers(labels)
    else:
        is_swapped = not is_scored and _are_swapped(texts, labels)
    if is_swapped:
        others = sorted({*layout.texts, layout.label} - {worst})
        return (
            f"column {label_name} should hold the labels and holds '{_short(labels[0])}', "
            f"column {name} should hold texts and holds '{_short(texts[0])}'. Swap them: "
            f"label_column={name}, text_columns={','.join(layout.names[i] for i in others)}"
        )
    if _are_numbers(texts):
        what = f"texts and holds numbers, such as '{texts[0]}'. Give other `text_columns`."
        return f"column {name} should hold {what}"
    if is_scored:
        return None
    if _are_numbers(labels) and any(float(label) % 1 for label in labels if is_number(label)):
        kind = f"scores, such as '{labels[0]}'"
    elif len(rows) >= _MIN_ROWS and len(set(labels)) == len(rows):
        kind = f"{len(rows)} different values in {len(rows)} rows"
    else:
        return None
    return f"column {label_name} should hold labels and holds {kind}. Give another `label_column`."


def _are_numbers(cells: Sequence[str]) -> bool:
    """Returns whether more than half of the cells are numbers."""
    return 2 * sum(map(is_number, cells)) > len(cells)


def _are_swapped(texts: Sequence[str], labels: Sequence[str]) -> bool:
    """Returns whether the labels are longer and more varied than the texts."""
    return len(set(labels)) > len(set(texts)) and sum(map(len, labels)) > sum(map(len, texts))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
