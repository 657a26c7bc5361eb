"""Tables in memory, which get new columns and are written with all cells as they came."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.writing import to_stdout, whole_file
from tf_charagram.data._tables.lines import STDIN
from tf_charagram.errors import ConfigError, DataError, unknown_name

#: Columns that are compared if there is more than one, and no column is named.
TEXT_NAMES = ("text", "sentence", "review", "phrase", "title", "name", "query", "question")

_MAX_SHOWN_CHARS = 60
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
        fields: Arrow's field of each of the first columns, with its metadata; `None` for columns
            from elsewhere.
        metadata: Arrow's metadata of the whole table.
        path: Its file, for errors.
    """

    columns: list[str]
    cells: list[Any]
    separator: str = ","
    has_header: bool = True
    fields: list[Any] = field(default_factory=list, repr=False, compare=False)
    metadata: Any = field(default=None, repr=False, compare=False)
    path: str = field(default="table", repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of values, with `x_2` for a second column `x`."""
        names = _distinct(self.columns)
        values = [self._values(position) for position in range(len(names))]
        return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            ConfigError: It is missing, or several have the name.
        """
        position = column_position(self.columns, column)
        if position is None:
            raise ConfigError(unknown_name("column", column, self.columns))
        return position

    def column(self, column: str) -> list[str]:
        """Returns the cells of a column as texts, empty if missing.

        Raises:
            ConfigError: There is no such column.
            DataError: A cell is an array, an object, or bytes that are not UTF-8.
        """
        return self._texts(self.index(column), cell_text)

    def _values(self, position: int) -> list[Any]:
        """Returns the cells of a column as Python objects; bytes become texts."""
        cells = self.cells[position]
        try:
            values = cells if isinstance(cells, list) else cells.to_pylist()
        except ValueError:
            # Python's times have no nanoseconds.
            return arrow_values(cells)
        has_bytes = any(isinstance(value, bytes) for value in values)
        return self._texts(position, written_text) if has_bytes else values

    def _texts(self, position: int, to_text: Callable[[Any, str], str]) -> list[str]:
        """Returns the cells of a column as texts; errors name the row."""
        texts: list[str] = []
        try:
            for cell in arrow_values(self.cells[position]):
                texts.append(to_text(cell, self.columns[position]))
        except ValueError as error:
            raise DataError(self.path, f"row {len(texts) + 1}: {error}") from error
        return texts

    def text_of(self, on: Sequence[str] = ()) -> list[str]:
        """Returns the texts of the rows: their cells in some columns, joined by a space.

        Args:
            on: Columns, by name or 1-based number. Default: `text_column()`.

        Returns:
            One text per row; missing values are left out.

        Raises:
            ConfigError: There is no such column, or no default.
        """
        if not on:
            on = [self.text_column()]
        columns = [self.column(name) for name in on]
        texts = []
        for row in zip(*columns, strict=True):
            parts = [cell.strip() for cell in row]
            texts.append(" ".join(part for part in parts if part))
        return texts

    def text_column(self) -> str:
        """Returns the only column, or the first of `TEXT_NAMES` that there is.

        Raises:
            ConfigError: The table has no such column.
        """
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
        missing = [None] * (len(self.columns) - len(self.fields))
        self.fields = [*self.fields, *missing, *other.fields]
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
        if str(path) == STDIN:
            to_stdout(self._as_text())
            return
        with table_writer(path) as append:
            append(self)

    def _as_text(self, suffix: str = "") -> str:
        separator = self.separator
        if suffix == ".tsv":
            separator = "\t"
        elif suffix == ".csv" and separator == "\t":
            separator = ","
        columns = []
        for position, name in enumerate(self.columns):
            texts = self._texts(position, written_text)
            if self.has_header:
                texts.insert(0, name)
            columns.append([quoted(text, separator) for text in texts])
        # Many readers skip an empty line.
        lines = [separator.join(row) or '""' for row in zip(*columns, strict=True)]
        return "\n".join([*lines, ""])

    def as_json(self) -> str:
        """Returns the rows as lines of JSON, each with its line end."""
        lines = []
        for row in self.rows:
            # JSON has no NaN, the only value that differs from itself.
            cells = {name: None if value != value else value for name, value in row.items()}
            lines.append(json.dumps(cells, ensure_ascii=False, default=_plain) + "\n")
        return "".join(lines)

    def as_arrow(self) -> Any:
        """Returns the table as one of Arrow, with `x_2` for a second column `x`."""
        arrow = extra_module("pyarrow", "parquet")
        columns = [_arrow_column(arrow, cells) for cells in self.cells]
        fields = []
        for position, name in enumerate(_distinct(self.columns)):
            made = arrow.field("", columns[position].type)
            # Added columns have no field of their own.
            if position < len(self.fields) and self.fields[position]:
                made = self.fields[position].with_nullable(True)
            fields.append(made.with_name(name))
        return arrow.table(columns, schema=arrow.schema(fields, metadata=self.metadata))


@contextmanager
def table_writer(path: str | Path) -> Iterator[Callable[[Table], None]]:
    """Opens a file that tables with the same columns are appended to, written whole or not at all.

    Args:
        path: `FILE.csv`, `FILE.tsv`, `FILE.jsonl` or `FILE.parquet`.

    Raises:
        ConfigError: The suffix is another one, or pyarrow is not installed.
        RunError: The file cannot be written.
    """
    check_table_file(path)
    suffix = Path(path).suffix.lower()
    if suffix != ".parquet":
        with whole_file(path, "w") as file:
            is_first = True

            def append_text(table: Table) -> None:
                nonlocal is_first
                if not is_first:
                    table = replace(table, has_header=False)
                is_first = False
                file.write(table.as_json() if suffix == ".jsonl" else table._as_text(suffix))

            yield append_text
        return
    parquet = extra_module("pyarrow.parquet", "parquet")
    with whole_file(path) as file:
        writer = None

        def append(table: Table) -> None:
            nonlocal writer
            arrow = table.as_arrow()
            if writer is None:
                writer = parquet.ParquetWriter(file, arrow.schema)
            writer.write_table(arrow)

        yield append
        if writer is not None:
            writer.close()


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


def arrow_values(cells: Any) -> list[Any]:
    """Returns the values of an Arrow array as texts, or as objects if Arrow does not write them."""
    if isinstance(cells, list):
        return cells
    try:
        # Unlike Python, Arrow writes a float of 32 bits as 0.1, and nanoseconds in full.
        texts = cells.cast("string").to_pylist()
    except (NotImplementedError, ValueError):
        return cells.to_pylist()
    is_number = str(cells.type) in ("halffloat", "float", "double")
    return [None if is_number and text == "nan" else text for text in texts]


def cell_text(value: Any, column: str) -> str:
    """Returns a cell as text, empty if it is missing.

    Raises:
        ValueError: It is an array, an object, or bytes that are not UTF-8.
    """
    if isinstance(value, list | tuple | dict):
        kind = "an object" if isinstance(value, dict) else "an array"
        raise ValueError(
            f"column {column} has {kind}, not a text, such as {str(value)[:_MAX_SHOWN_CHARS]}. "
            "Choose a column of texts, or write its parts as columns"
        )
    return written_text(value, column)


def written_text(value: Any, column: str) -> str:
    """Returns a cell as CSV has it: empty if it is missing, JSON if it is an array or an object.

    Raises:
        ValueError: It has bytes that are not UTF-8.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"column {column} has bytes that are not UTF-8, {str(value)[:_MAX_SHOWN_CHARS]}. "
                "Write .parquet, or choose other columns"
            ) from error
    if value is None or value != value:
        return ""
    is_json = isinstance(value, list | dict | bool)
    return json.dumps(value, ensure_ascii=False, default=_plain) if is_json else str(value)


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
        column = arrow.array(cells)
        # Parquet has no object without keys.
        if "struct<>" not in str(column.type):
            return column
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError):
        pass
    texts = [None if cell is None else written_text(cell, "") for cell in cells]
    return arrow.array(texts, arrow.string())


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


def _plain(value: Any) -> str:
    """Returns a value inside of an array or an object that JSON does not have."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def column_position(names: Sequence[str], column: str) -> int | None:
    """Returns the 0-based position of a column, or `None`.

    Args:
        names: The names of all columns.
        column: One of the names, best as it is written, else in any case and Unicode form; or a
            number from 1.

    Raises:
        ConfigError: Several columns have the name.
    """
    places = [place for place, name in enumerate(names, start=1) if name == column]
    if len(places) > 1:
        listed = ", ".join(map(str, places))
        raise ConfigError(
            f"{len(places)} columns are named {column!r}. Give one by its number: {listed}."
        )
    if places:
        return places[0] - 1
    for form in (_normal, _folded):
        known = list(map(form, names))
        if form(column) in known:
            return known.index(form(column))
    numbers = [str(number) for number in range(1, len(names) + 1)]
    return numbers.index(column) if column in numbers else None


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _folded(name: str) -> str:
    return _normal(_normal(name).strip().casefold())
