"""Reads tables: the name of a file tells its format, and the first line is the header."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import Any, TypeAlias

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.json_files import parse_json
from tf_charagram.data._tables.lines import BadLines, say_once, table_lines
from tf_charagram.data._tables.tables import Table, arrow_values, cell_text, column_position
from tf_charagram.errors import DataError, unknown_name

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# Excel names the separator in a first line of its own.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
#: Suffixes of JSON, and of Parquet.
JSON = (".json", ".jsonl", ".ndjson")
PARQUET = ".parquet"
# The first lines tell the separator; the first objects tell the columns of JSON.
_NUM_FIRST = 1000
# Python's limit of 131,072 characters fits a cell of a spreadsheet; texts are longer.
_MAX_CELL_CHARS = 2**31 - 1
_MAX_SHOWN, _MAX_SHOWN_CHARS = 20, 30
_ADD_NO_HEADER = "If the first line is a row, add --no-header (in Python, header=False)."
_OBJECT = '{"text": "a cat"}'
_OTHER_JSON = (
    f"expected an object per row, such as {_OBJECT}, in an array or on a line each; found one "
    "object of arrays or objects, as pandas' to_json() writes it without orient='records'. Write "
    "the rows as objects."
)

_Numbered: TypeAlias = Iterator[tuple[int, list[Any]]]
_Objects: TypeAlias = Iterator[tuple[int, dict[str, Any]]]
_Lines: TypeAlias = Iterator[tuple[int, str]]


class Rows:
    r"""The rows of a table, to iterate over once. The suffix of the file tells its format.

    * `.csv`: `,` `;` `|` or tab separates columns: the one with which the most rows are as wide as
      the first. If two fit equally, a first line such as `sep=;` must name one. Quotes as in CSV.
    * `.tsv`, `.tab`: tabs, with the quotes of CSV; if they are wrong, quotes are characters.
    * `.json`: an array of objects, or an object per line, as in `.jsonl` and `.ndjson`. The columns
      are the keys of the first 1,000 objects.
    * `.parquet` (extra `parquet`).
    * Other files and standard input: a text per line, in a column `text`; or columns between tabs.

    Text may be gzipped. Blank lines between rows of several columns are skipped.

    Args:
        path: The file, or `"-"` for standard input.
        header: Whether the first line of CSV and TSV has the names of the columns. Otherwise they
            are called 1, 2 and so on.
        encoding: The encoding of a text file, such as `"cp1252"`. Default: UTF-8, or the one that
            a byte order mark tells.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A row
            is bad if its length is not that of the first row, if its quotes are wrong, if it is not
            in the encoding, or if a cell that is needed is no text.
        has_tabs: Whether the lines of other files have columns between tabs.
        columns: Names of columns that will be asked for: JSON may have them later.
        remedy: What to do if the columns do not fit. Default: the flags `--columns` and
            `--no-header`.

    Attributes:
        names: The names of the columns.
        has_header: Whether they are in the file.
        first: The first row, as far as it is known.
        first_line: The cells of the first line of CSV or TSV; empty for other formats.
        separator: Separates the columns of text.
        bad: The policy for bad lines.

    Raises:
        ConfigError: `on_bad_line` or `encoding` is unknown, or pyarrow is not installed.
        DataError: The file cannot be read, or two separators fit.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        header: bool = True,
        encoding: str | None = None,
        on_bad_line: str | BadLines = "error",
        has_tabs: bool = False,
        columns: Sequence[str] = (),
        remedy: str = "",
    ) -> None:
        self.path = path
        self._remedy = remedy
        self.bad = BadLines.of(on_bad_line)
        self.separator = ","
        self.has_header = True
        self.names: list[str] = []
        self.first: list[Any] = []
        self.first_line: list[str] = []
        suffix = format_of(path)
        if suffix == PARQUET:
            self._file = open_parquet(path)
            self.names = self._file.schema_arrow.names
            return
        self._file = None
        lines = table_lines(path, self.bad, encoding)
        if suffix in JSON:
            self._rows = self._json_rows(read_objects(path, suffix, lines, self.bad), columns)
        elif suffix or has_tabs:
            self._rows = self._separated(lines, suffix == ".csv", header, encoding)
        else:
            self.names = ["text"]
            self._rows = ((number, [text.rstrip("\r\n")]) for number, text in lines)

    def _json_rows(self, objects: _Objects, columns: Sequence[str]) -> _Numbered:
        head = list(islice(objects, _NUM_FIRST))
        self.names = names = _names_in((row for _, row in head), columns)
        if head:
            _, first = head[0]
            self.first = [first.get(name) for name in names]
        rows = chain(head, objects)
        return ((line, [row.get(name) for name in names]) for line, row in rows)

    def _separated(
        self, lines: _Lines, is_csv: bool, header: bool, encoding: str | None
    ) -> _Numbered:
        """Returns the rows below the header, and sets the names of the columns."""
        is_pipe = not Path(self.path).is_file()
        # All lines tell the quotes of TSV, and those of a pipe can be read only once.
        head = list(islice(lines, None if is_pipe and not is_csv else _NUM_FIRST))
        self.separator, quoting = _layout(self.path, head, is_csv, encoding)
        split = _split(self.path, chain(head, lines), self.separator, quoting, self.bad)
        # Blank lines above the first row are no rows.
        rows = dropwhile(lambda row: not "".join(row[1]).strip(), split)
        first = list(islice(rows, 2))
        self._rows = chain(first, rows)
        if first:
            self.first_line = self.names = first[0][1]
            # The cells that are shown as examples: those below the header.
            self.first = first[1][1] if len(first) > 1 else []
            self._header = next(self._rows)
            if not header:
                self.unread_header()
        return self._rows

    def unread_header(self) -> None:
        """Makes the header the first row; the columns are called 1, 2 and so on."""
        self.has_header = False
        self.first = self.first_line
        numbers = range(1, len(self.first) + 1)
        self.names = list(map(str, numbers))
        self._rows = chain([self._header], self._rows)

    def __iter__(self) -> _Numbered:
        """Yields the 1-based line and the cells of the rows of CSV, TSV and JSON."""
        width = len(self.names)
        for line, cells in self._rows:
            if self.first_line and len(cells) != width:
                # An empty line is an empty cell of the only column.
                if width == 1 and not cells:
                    cells = [""]
                elif not "".join(cells).strip() and len(cells) < 2:
                    continue
                else:
                    expected = f"expected {width} column{'' if width == 1 else 's'}"
                    message = f"{expected} as in the first row, found {len(cells)}"
                    self.bad.report(self.path, line, message)
                    continue
            yield line, cells

    def texts(self, positions: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Yields the line, or row in Parquet, and the texts of some columns.

        Raises:
            DataError: A cell is not a text, or the file cannot be read.
        """
        names = [self.names[position] for position in positions]
        rows: _Numbered
        if self._file is None:
            rows = ((line, [cells[position] for position in positions]) for line, cells in self)
        else:
            rows = _parquet_rows(self.path, self._file, positions)
        for line, cells in rows:
            if self.first_line and self.has_header and cells == names:
                message = "this line repeats the header"
                self.bad.report(self.path, line, message, _ADD_NO_HEADER)
                continue
            try:
                # Most cells are texts already.
                texts = [
                    cell if type(cell) is str else cell_text(cell, name)
                    for cell, name in zip(cells, names, strict=True)
                ]
            except ValueError as error:
                self.bad.report(self.path, line, str(error))
            else:
                yield line, texts

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            DataError: The table lacks the column; the message lists those it has.
        """
        position = column_position(self.names, column)
        if position is None:
            raise DataError(self.path, f"expected a column {column}. {self.advice()}")
        return position

    def advice(self) -> str:
        """Returns a sentence that lists the columns and says how to name them."""
        shown = []
        cells = self.first
        if len(cells) != len(self.names):
            cells = [""] * len(self.names)
        for number, (name, cell) in enumerate(zip(self.names, cells, strict=True), start=1):
            value = "" if cell is None else str(cell).strip()
            shown.append(f"{name or number} '{value[:_MAX_SHOWN_CHARS]}'")
        if len(shown) > _MAX_SHOWN:
            shown[_MAX_SHOWN:] = [f"and {len(shown) - _MAX_SHOWN} more"]
        choose = self._remedy or "Choose with --columns NAME,NAME (names, or numbers from 1)"
        advice = f"The columns, each with a value: {', '.join(shown)}. {choose}"
        if len(self.names) == 1:
            advice += ". Tabs separate columns, or commas in .csv files"
        advice += "."
        if self.first_line and self.has_header and not self._remedy:
            advice += f" {_ADD_NO_HEADER}"
        return advice


def format_of(path: str | Path) -> str:
    """Returns the suffix of a table without `.gz`; empty for a file of lines."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    return suffix if suffix in (".csv", ".tsv", ".tab", *JSON, PARQUET) else ""


def read_table(
    path: str | Path,
    *,
    header: bool = True,
    encoding: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> Table:
    """Reads a table into memory, with all columns and cells as they are.

    Args:
        path: A file of a format that `Rows` lists, or `"-"` for standard input.
        header: Whether the first line of CSV and TSV has the names of the columns. Otherwise they
            are called 1, 2 and so on.
        encoding: The encoding of a text file, such as `"cp1252"`. Default: UTF-8, or the one that
            a byte order mark tells.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` or `encoding` is unknown, or pyarrow is not installed.
        DataError: The file cannot be read, has another encoding, a bad row or no row.
    """
    bad = BadLines.of(on_bad_line)
    tables = read_tables(path, None, header=header, encoding=encoding, on_bad_line=bad)
    table = next(tables, Table([], []))
    if not len(table):
        has_header = table.columns and format_of(path)
        empty = "only a header" if has_header else "the file is empty"
        raise DataError(path, f"no rows found: {bad.summary() if bad.count else empty}")
    return table


def read_tables(
    path: str | Path,
    num_rows: int | None,
    *,
    header: bool = True,
    encoding: str | None = None,
    on_bad_line: str | BadLines = "error",
    columns: Sequence[str] = (),
) -> Iterator[Table]:
    """Reads a table of any size in parts, as `read_table` reads it whole.

    Args:
        path: A file of a format that `Rows` lists.
        num_rows: Number of rows of each part; the last one may have fewer. `None` for one part of
            all rows. A table with columns and without rows is one part, too.
        header: Whether the first line of CSV and TSV has the names of the columns.
        encoding: The encoding of a text file.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
        columns: Columns of JSON that each part has, even if no object in it has them. A part has
            the other keys of its own objects.

    Raises:
        ConfigError: `on_bad_line` or `encoding` is unknown, or pyarrow is not installed.
        DataError: The file cannot be read, has another encoding, or a bad row.
    """
    bad = BadLines.of(on_bad_line)
    suffix = format_of(path)
    if suffix == PARQUET:
        file = open_parquet(path)
        schema = file.schema_arrow
        fields = {"fields": list(schema), "metadata": schema.metadata}
        is_whole = num_rows is None or not file.metadata.num_rows
        with parquet_errors(path):
            for batch in [file.read()] if is_whole else file.iter_batches(batch_size=num_rows):
                yield Table(schema.names, batch.columns, path=str(path), **fields)
    elif suffix in JSON:
        objects = read_objects(path, suffix, table_lines(path, bad, encoding), bad)
        while rows := [row for _, row in islice(objects, num_rows)]:
            names = _names_in(rows, columns)
            if not names:
                raise DataError(path, "no columns found: all objects are empty")
            values = [[row.get(name) for row in rows] for name in names]
            yield Table(names, values, path=str(path))
    else:
        source = Rows(path, header=header, encoding=encoding, on_bad_line=bad)
        layout = source.separator, source.has_header
        numbered = iter(source)
        is_empty = True
        while kept := [cells for _, cells in islice(numbered, num_rows)]:
            is_empty = False
            cells = [list(column) for column in zip(*kept, strict=True)]
            yield Table(source.names, cells, *layout, path=str(path))
        if is_empty and source.names:
            no_cells: list[list[Any]] = [[] for _ in source.names]
            yield Table(source.names, no_cells, *layout, path=str(path))


def names_in_files(
    paths: Iterable[str | Path],
    columns: Sequence[str],
    reading: Mapping[str, Any],
    hint: str = "",
) -> tuple[str, ...]:
    """Returns the names of columns in the first file that has them; all files must have them.

    Args:
        paths: Files, of which some may be empty.
        columns: Columns, by name or number from 1. A number stays if several columns have the name.
        reading: `header`, `encoding` and `on_bad_line`.
        hint: What to do if a file lacks a column.

    Raises:
        DataError: A file cannot be read, or lacks a column.
    """
    found: dict[str, str] = {}
    for path in paths if columns else ():
        names = Rows(path, **reading).names
        # Later objects may have more columns.
        is_open = format_of(path) in JSON or not names
        for column in columns:
            position = column_position(names, found.get(column, column))
            if position is not None:
                name = names[position]
                found.setdefault(column, name if names.count(name) == 1 else column)
            elif not is_open:
                message = unknown_name("column", found.get(column, column), names)
                raise DataError(path, message + hint)
    return tuple(found.get(column, column) for column in columns)


def _names_in(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> list[str]:
    """Returns the names of the columns of objects, and those asked for that later objects have."""
    names = dict.fromkeys(chain.from_iterable(rows))
    later = [each for each in columns if column_position(list(names), each) is None]
    # A number is the position of a column, not its name.
    names |= dict.fromkeys(each for each in later if not each.isdecimal())
    return list(names)


def _layout(
    path: str | Path, head: list[tuple[int, str]], is_csv: bool, encoding: str | None
) -> tuple[str, Any]:
    """Returns the separator of a file and the meaning of its quotes, as `csv.reader` takes them."""
    lines = [text for _, text in head]
    if lines and (named := _SEPARATOR_LINE.fullmatch(lines[0])):
        # Empty lines above the header are skipped, and the numbers of lines stay the same.
        head[0] = (1, "\n")
        return named[1], csv.QUOTE_MINIMAL
    if not is_csv:
        if len(lines) < _NUM_FIRST or not Path(path).is_file():
            has_quotes = _has_csv_quotes(lambda: lines)
        else:
            state = os.stat(path)
            has_quotes = _file_has_csv_quotes(path, encoding, state.st_size, state.st_mtime_ns)
        if has_quotes:
            return "\t", csv.QUOTE_MINIMAL
        say_once(path, "quotes are read as characters, because they are not those of CSV")
        return "\t", csv.QUOTE_NONE
    fits = {sign: _share(_widths(lines, sign)) for sign in _SEPARATORS}
    best = max(fits.values())
    # 0: the rows have a single column.
    fitting = [sign for sign, share in fits.items() if share == best > 0]
    if len(fitting) > 1:
        names = " or ".join(_SEPARATORS[sign] for sign in fitting)
        remedy = f"Name the separator in a first line, such as sep={fitting[-1]}"
        raise DataError(path, f"{names} may separate its columns: all fit as well. {remedy}")
    separator = fitting[0] if fitting else ","
    if separator != ",":
        say_once(path, f"columns are separated by {_SEPARATORS[separator]}, not by commas")
    return separator, csv.QUOTE_MINIMAL


@cache
def _file_has_csv_quotes(path: str | Path, encoding: str | None, size: int, time_ns: int) -> bool:
    """Tells whether quotes of a file are those of CSV; a changed size or time reads it again."""
    # The file may be larger than memory.
    return _has_csv_quotes(
        lambda: (text for _, text in table_lines(path, BadLines("skip"), encoding))
    )


def _has_csv_quotes(lines: Callable[[], Iterable[str]]) -> bool:
    """Tells whether quotes between tabs are those of CSV, not characters.

    Args:
        lines: Returns the lines; it is called several times.
    """
    if not any(text.startswith('"') or '\t"' in text for text in lines()):
        return True
    try:
        quoted = _widths((text.rstrip("\r\n") + "\n" for text in lines()), "\t", strict=True)
    except csv.Error:
        return False
    plain = [text.count("\t") + 1 for text in lines() if text.strip()]
    # Two characters that are quotes look like a cell with all rows between them.
    is_shorter = len(quoted) < len(plain)
    is_swallowed = is_shorter and set(plain) == {quoted[0]} != {1}
    return not is_swallowed and _share(quoted) >= _share(plain)


def _widths(lines: Iterable[str], separator: str, *, strict: bool = False) -> list[int]:
    """Returns the numbers of cells of the rows that are not empty.

    Raises:
        csv.Error: Quotes are wrong, and this is `strict`.
    """
    widths = []
    with _long_cells(), nullcontext() if strict else suppress(csv.Error):
        for row in csv.reader(lines, delimiter=separator, strict=strict):
            if row:
                widths.append(len(row))
    return widths


def _share(widths: Sequence[int]) -> float:
    """Returns the share of rows that are as wide as the first one; 0 for one column."""
    first = widths[0] if widths else 1
    return widths.count(first) / len(widths) if first > 1 else 0.0


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allows cells of any length, for as long as the context is open."""
    # The limit belongs to the process, whose other readers keep theirs.
    before = csv.field_size_limit(_MAX_CELL_CHARS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _split(
    path: str | Path, lines: _Lines, separator: str, quoting: Any, bad: BadLines
) -> Iterator[tuple[int, list[str]]]:
    """Yields the first line of each row and its cells; no cells for an empty line."""
    # The lines of the current row; those that are read again after a row with wrong quotes.
    taken: list[tuple[int, str]] = []
    again: deque[tuple[int, str]] = deque()

    def feed() -> Iterator[str]:
        while (numbered := again.popleft() if again else next(lines, None)) is not None:
            taken.append(numbered)
            yield numbered[1]

    reader = csv.reader(feed(), delimiter=separator, quoting=quoting, strict=True)
    while True:
        rows: list[tuple[int, list[str]]] = []
        try:
            with _long_cells():
                for cells in islice(reader, _NUM_FIRST):
                    rows.append((taken[0][0], cells))
                    taken.clear()
        except csv.Error as error:
            yield from rows
            message = f"the row is not valid CSV ({error}). Check its quotes"
            bad.report(path, taken[0][0], message)
            # A quote that is not closed must not take the lines after it along.
            again.extendleft(reversed(taken[1:]))
            taken.clear()
            reader = csv.reader(feed(), delimiter=separator, quoting=quoting, strict=True)
        else:
            if not rows:
                return
            yield from rows


def read_objects(path: str | Path, suffix: str, lines: _Lines, bad: BadLines) -> _Objects:
    """Yields the objects of JSON lines, or of the array of a `.json` file, with their numbers.

    Raises:
        DataError: The text is not JSON, or has another shape.
    """
    if suffix == ".json":
        text = "".join(text for _, text in lines)
        try:
            value = _parse(text)
        except ValueError as error:
            if text.lstrip().startswith("["):
                raise DataError(path, f"is not valid JSON ({error}). Correct it.") from error
            # Some programs write an object per line here, too.
            lines = iter(list(enumerate(text.split("\n"), start=1)))
        else:
            rows = value if isinstance(value, list) else [value]
            _check_rows(path, value, any)
            return _only_objects(path, enumerate(rows, start=1), "item", bad)
    return _only_objects(path, _json_values(path, lines, bad), "line", bad)


def _json_values(path: str | Path, lines: _Lines, bad: BadLines) -> Iterator[tuple[int, Any]]:
    for number, text in lines:
        if text.strip():
            try:
                value = _parse(text)
            except ValueError as error:
                bad.report(path, number, f"expected a JSON object in each line ({error})")
                continue
            _check_rows(path, value, all)
            yield number, value


def _check_rows(path: str | Path, value: Any, test: Callable[[Iterable[bool]], bool]) -> None:
    """Refuses columns in place of rows."""
    if isinstance(value, dict) and value:
        if test(isinstance(part, dict | list) for part in value.values()):
            raise DataError(path, _OTHER_JSON)


def _only_objects(
    path: str | Path, values: Iterable[tuple[int, Any]], place: str, bad: BadLines
) -> _Objects:
    for number, value in values:
        if isinstance(value, dict):
            yield number, value
        else:
            kind = "an array" if isinstance(value, list) else "another value"
            expected = f"expected a JSON object in each {place}, such as {_OBJECT}"
            bad.report(path, number, f"{expected}, found {kind}")


def _parse(text: str) -> Any:
    """Parses JSON; halves of surrogate pairs, which are not characters, become `?`."""
    value = parse_json(text)
    if "\\ud" not in text.lower():
        return value
    plain = json.dumps(value, ensure_ascii=False)
    return parse_json(plain.encode("utf-8", "replace"))


@contextmanager
def parquet_errors(path: str | Path) -> Iterator[None]:
    """Explains the errors of Arrow within.

    Raises:
        DataError: The file is damaged, missing or of another format, or Arrow lacks a type.
    """
    try:
        yield
    except NotImplementedError as error:
        message = f"has a column of a type that pyarrow cannot read ({error})"
        remedy = "Write it as text, or as integers of 64 bits."
        raise DataError(path, f"{message}. {remedy}") from error
    except (ValueError, OSError) as error:
        raise DataError(path, f"cannot be read as Parquet: {error}. Get it again.") from error


def open_parquet(path: str | Path) -> Any:
    """Opens a Parquet file as a `pyarrow.parquet.ParquetFile`.

    Raises:
        ConfigError: pyarrow is not installed.
        DataError: The file cannot be read.
    """
    parquet = extra_module("pyarrow.parquet", "parquet")
    with parquet_errors(path):
        file = parquet.ParquetFile(path)
        # Fails for types that Arrow lacks.
        file.schema_arrow  # noqa: B018
        return file


def _parquet_rows(path: str | Path, file: Any, positions: Sequence[int]) -> _Numbered:
    number = 0
    with parquet_errors(path):
        for batch in file.iter_batches(batch_size=_NUM_FIRST):
            columns = [arrow_values(batch.columns[position]) for position in positions]
            for cells in zip(*columns, strict=True):
                number += 1
                yield number, list(cells)
