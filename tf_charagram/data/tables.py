"""Tables in memory, which get new columns and are written with all cells as they came."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tf_charagram._files.writing import to_stdout, whole_file
from tf_charagram.data.readers.lines import STDIN
from tf_charagram.data.readers.table_rows import as_texts, column_position
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.lazy import extra_module

#: Columns that are compared if there is more than one, and no column is named.
TEXT_NAMES = ("text", "sentence", "review", "phrase", "title", "name", "query", "question")

_OUTPUTS = (".csv", ".tsv", ".jsonl", ".parquet")


@dataclass
class Table:
    """A table in memory.

    Attributes:
        columns: The names of the columns, as they are in the file.
        cells: The cells of each column, from top to bottom: a list of texts or of values of JSON,
            or an Arrow array, which keeps the type of a column of Parquet.
        separator: Separates the columns of text.
        has_header: Whether CSV and TSV have the names of the columns in the first line.
    """

    columns: list[str]
    cells: list[Any]
    separator: str = ","
    has_header: bool = True

    def __len__(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of values, with `x_2` for a second column `x`."""
        names = _distinct(self.columns)
        values = [_values(cells) for cells in self.cells]
        return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            ConfigError: It is missing.
        """
        position = column_position(self.columns, column)
        if position is None:
            raise ConfigError(unknown_name("column", column, self.columns))
        return position

    def column(self, column: str) -> list[str]:
        """Returns the cells of a column as texts, empty if missing.

        Raises:
            ConfigError: There is no such column.
        """
        return as_texts(self.cells[self.index(column)])

    def text_of(self, on: Sequence[str] = ()) -> list[str]:
        """Returns the texts of the rows: their cells in some columns, joined by a space.

        Args:
            on: Columns, by name or 1-based number. Default: the only one, or the first of
                `TEXT_NAMES` that there is.

        Returns:
            One text per row; missing values are left out.

        Raises:
            ConfigError: There is no such column, or no default.
        """
        if not on:
            on = [self._text_column()]
        columns = [self.column(name) for name in on]
        texts = []
        for row in zip(*columns, strict=True):
            parts = [cell.strip() for cell in row]
            texts.append(" ".join(part for part in parts if part))
        return texts

    def _text_column(self) -> str:
        if len(self.columns) == 1:
            return self.columns[0]
        for name in TEXT_NAMES:
            if column_position(self.columns, name) is not None:
                return name
        columns = ", ".join(self.columns)
        raise ConfigError(f"`on` must name the columns of the texts. Available: {columns}.")

    def take(self, rows: Sequence[int | None]) -> Table:
        """Returns a table of some rows, by number from 0; `None` gives a row of empty cells."""
        return replace(self, cells=[_take(cells, rows) for cells in self.cells])

    def add(self, name: str, cells: Any) -> None:
        """Adds a column, one cell per row; its name is changed if there is one of that name."""
        *_, name = _distinct([*self.columns, name])
        self.columns = [*self.columns, name]
        self.cells = [*self.cells, cells]

    def add_columns_of(self, other: Table) -> None:
        """Adds the columns of a table with as many rows, renamed where there is one of the name."""
        for name, cells in zip(other.columns, other.cells, strict=True):
            self.add(name, cells)

    def write(self, path: str | Path) -> None:
        """Writes the table in UTF-8, with a header if it has one.

        Args:
            path: `FILE.csv`, `FILE.tsv`, `FILE.jsonl` or `FILE.parquet` (extra `parquet`), written
                whole or not at all; `"-"` for standard output, as text with the separator of the
                table.

        Raises:
            ConfigError: The suffix is another one, or pyarrow is not installed.
            RunError: The file cannot be written, or standard output lacks a letter.
        """
        check_table_file(path)
        suffix = Path(path).suffix.lower()
        if str(path) == STDIN:
            to_stdout(self._as_text())
        elif suffix == ".parquet":
            self._write_parquet(path)
        else:
            with whole_file(path, "w") as file:
                file.write(self._as_json() if suffix == ".jsonl" else self._as_text(suffix))

    def _as_text(self, suffix: str = "") -> str:
        separator = self.separator
        if suffix == ".tsv":
            separator = "\t"
        elif suffix == ".csv" and separator == "\t":
            separator = ","
        columns = []
        for name, cells in zip(self.columns, self.cells, strict=True):
            texts = [name, *as_texts(cells)] if self.has_header else as_texts(cells)
            columns.append([quoted(text, separator) for text in texts])
        # Many readers skip an empty line.
        lines = [separator.join(row) or '""' for row in zip(*columns, strict=True)]
        return "\n".join([*lines, ""])

    def _as_json(self) -> str:
        lines = []
        for row in self.rows:
            # JSON has no NaN, the only value that differs from itself.
            cells = {name: None if value != value else value for name, value in row.items()}
            lines.append(json.dumps(cells, ensure_ascii=False, default=str) + "\n")
        return "".join(lines)

    def _write_parquet(self, path: str | Path) -> None:
        arrow = extra_module("pyarrow", "parquet")
        parquet = extra_module("pyarrow.parquet", "parquet")
        columns = [_arrow_column(arrow, cells) for cells in self.cells]
        with whole_file(path) as file:
            parquet.write_table(arrow.table(columns, names=_distinct(self.columns)), file)


def quoted(cell: str, separator: str) -> str:
    """Puts a cell of CSV or TSV in quotes, if it has characters with a meaning."""
    # `csv.writer` does not quote a lone carriage return, which ends a row for other readers.
    special = separator + '\r\n"'
    if separator == "\t" and not cell.startswith('"'):
        # A quote inside of a cell has no meaning, and many readers of TSV do not know quotes.
        special = "\t\r\n"
    if any(character in cell for character in special):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _distinct(names: Iterable[str]) -> list[str]:
    """Returns names of columns, `x_2` for a second `x`."""
    distinct: dict[str, None] = {}
    for name in names:
        while name in distinct:
            name += "_2"
        distinct[name] = None
    return list(distinct)


def _values(cells: Any) -> list[Any]:
    """Returns the cells of a column as Python objects."""
    if isinstance(cells, list):
        return cells
    try:
        return cells.to_pylist()
    except ValueError:
        # Python's times have no nanoseconds.
        return as_texts(cells)


def _take(cells: Any, rows: Sequence[int | None]) -> Any:
    if isinstance(cells, list):
        return [None if row is None else cells[row] for row in rows]
    arrow = extra_module("pyarrow", "parquet")
    return cells.take(arrow.array(rows, arrow.int64()))


def _arrow_column(arrow: Any, cells: Any) -> Any:
    """Returns a column for Arrow, as texts if the types of its cells differ."""
    if not isinstance(cells, list):
        return cells
    # A column of JSON may have numbers and texts, or integers of more than 64 bits.
    try:
        return arrow.array(cells)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError):
        texts = as_texts(cells)
        return arrow.array(
            [None if cell is None else text for cell, text in zip(cells, texts, strict=True)]
        )


def check_table_file(path: str | Path) -> None:
    """Checks the name of the file that `Table.write` will get, before the table is computed.

    Raises:
        ConfigError: The suffix is unknown, or pyarrow is needed and not installed.
    """
    suffix = Path(path).suffix.lower()
    if str(path) != STDIN and suffix not in _OUTPUTS:
        raise ConfigError(
            "A table must end in .csv, .tsv, .jsonl or .parquet, or be - for standard output. "
            f"Received: {path}"
        )
    if suffix == ".parquet":
        extra_module("pyarrow.parquet", "parquet")
