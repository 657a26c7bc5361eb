"""Tables in memory: all columns of a file, texts of some of them, new columns, written again."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from tf_charagram.data.readers.lines import STDIN, BadLines
from tf_charagram.data.readers.tables import (
    TEXT_NAMES,
    Rows,
    as_text,
    column_position,
)
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.files.writing import whole_file
from tf_charagram.lazy import extra_module


@dataclass
class Table:
    r"""A table in memory.

    Attributes:
        columns: The distinct names of the columns. Without a header `text` if there is one column,
            else `1`, `2` and so on.
        rows: The cells of each row, one per column: texts, or the values of JSON and Parquet.
        separator: Separates the columns of text: `","`, `"\t"`, `";"` or `"|"`.
    """

    columns: list[str]
    rows: list[list[Any]]
    separator: str = ","

    @classmethod
    def read(
        cls,
        path: str | Path,
        on: Sequence[str] = (),
        *,
        on_bad_line: str | BadLines = "error",
    ) -> Self:
        """Reads a file of a format that `Rows` lists.

        Args:
            path: The file, or `"-"` for standard input.
            on: Columns that are needed, by name or 1-based number.
            on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

        Raises:
            ConfigError: `on_bad_line` is unknown, or pyarrow is not installed.
            DataError: The file cannot be read, has no row, a row of another length, or lacks a
                column of `on`.
        """
        rows = Rows(path, on, on_bad_line=on_bad_line, flag="--on")
        names = rows.names
        # A list of texts has no header, and `1` would be a poor name in a written file.
        if len(names) == 1 and not rows.has_header:
            names = ["text"]
        table = cls(_distinct(names), [cells for _, cells in rows], rows.separator or ",")
        if not table.rows:
            empty = "only a header" if rows.names else "the file is empty"
            reason = rows.bad.summary() if rows.bad.count else empty
            raise DataError(path, f"no rows found: {reason}")
        for column in on:
            if column_position(table.columns, column) is None:
                raise DataError(path, unknown_name("column", column, table.columns))
        return table

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            ConfigError: It is missing.
        """
        position = column_position(self.columns, column)
        if position is None:
            raise ConfigError(unknown_name("column", column, self.columns))
        return position

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
        if not on and len(self.columns) > 1:
            known = [name for name in TEXT_NAMES if column_position(self.columns, name) is not None]
            if not known:
                columns = ", ".join(self.columns)
                raise ConfigError(f"`on` must name the columns of the texts. Available: {columns}.")
            on = known[:1]
        positions = [self.index(column) for column in on] or [0]
        texts = []
        for row in self.rows:
            parts = [as_text(row[position]).strip() for position in positions]
            texts.append(" ".join(part for part in parts if part))
        return texts

    def add(self, name: str, values: Iterable[Any]) -> None:
        """Adds a column, one value per row; its name is changed if there is one of that name."""
        self.columns = _distinct([*self.columns, name])
        self.rows = [[*row, value] for row, value in zip(self.rows, values, strict=True)]

    def add_names(self, names: Iterable[str]) -> None:
        """Adds names of columns whose cells are already in the rows."""
        self.columns = _distinct([*self.columns, *names])

    def write(self, path: str | Path) -> None:
        """Writes the table with a header.

        Args:
            path: `FILE.csv`, `FILE.tsv`, `FILE.jsonl` or `FILE.parquet` (extra `parquet`), written
                whole or not at all; `"-"` for standard output, as text with the separator of the
                table, as in `FILE.csv` if that is not a tab.

        Raises:
            ConfigError: The suffix is another one, or pyarrow is not installed.
            RunError: The file cannot be written.
        """
        check_table_file(path)
        suffix = Path(path).suffix.lower()
        is_stdout = str(path) == STDIN
        if suffix == ".parquet":
            self._write_parquet(path)
            return
        with nullcontext(sys.stdout) if is_stdout else whole_file(path, "w") as file:
            if suffix == ".jsonl":
                self._write_json_lines(file)
            elif suffix == ".tsv" or (is_stdout and self.separator == "\t"):
                self._write_tsv(file)
            else:
                separator = "," if self.separator == "\t" else self.separator
                writer = csv.writer(file, delimiter=separator, lineterminator="\n")
                for row in [self.columns, *self.rows]:
                    writer.writerow([as_text(cell) for cell in row])

    def _write_parquet(self, path: str | Path) -> None:
        arrow = extra_module("pyarrow", "parquet")
        parquet = extra_module("pyarrow.parquet", "parquet")
        columns = {}
        for position, name in enumerate(self.columns):
            columns[name] = _arrow_column(arrow, [row[position] for row in self.rows])
        with whole_file(path) as file:
            parquet.write_table(arrow.table(columns), file)

    def _write_json_lines(self, file: IO[str]) -> None:
        for row in self.rows:
            # JSON has no NaN, the only value that differs from itself.
            values = [None if value != value else value for value in row]
            cells = dict(zip(self.columns, values, strict=True))
            file.write(json.dumps(cells, ensure_ascii=False, default=str) + "\n")

    def _write_tsv(self, file: IO[str]) -> None:
        for row in [self.columns, *self.rows]:
            # A tab or a line end inside a cell would start the next column or row.
            cells = [" ".join(as_text(cell).split()) for cell in row]
            file.write("\t".join(cells) + "\n")


def check_table_file(path: str | Path) -> None:
    """Checks the name of the file that `Table.write` will get, before the table is computed.

    Raises:
        ConfigError: The suffix is unknown, or pyarrow is needed and not installed.
    """
    suffix = Path(path).suffix.lower()
    if str(path) != STDIN and suffix not in (".csv", ".tsv", ".jsonl", ".parquet"):
        raise ConfigError(
            "A table must end in .csv, .tsv, .jsonl or .parquet, or be - for standard output. "
            f"Received: {path}"
        )
    if suffix == ".parquet":
        extra_module("pyarrow.parquet", "parquet")


def _distinct(names: Iterable[str]) -> list[str]:
    """Returns names of columns, `x_2` for a second `x`."""
    distinct: dict[str, None] = {}
    for name in names:
        while name in distinct:
            name += "_2"
        distinct[name] = None
    return list(distinct)


def _arrow_column(arrow: Any, values: list[Any]) -> Any:
    """Returns values as an array, as texts if their types differ."""
    # A column of JSON lines may have numbers and texts, which Arrow does not mix.
    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return arrow.array([None if value is None else as_text(value) for value in values])
