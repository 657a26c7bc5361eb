"""Rows of separated text, JSON lines and Parquet, one by one, and their cells as texts."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tf_charagram._files.json_files import parse_json
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.errors import DataError
from tf_charagram.lazy import extra_module

# Python's limit of 131,072 characters fits a cell of a spreadsheet; texts are longer.
_MAX_CELL_CHARS = 2**31 - 1


@contextmanager
def long_cells() -> Iterator[None]:
    """Allows cells of any length, for as long as the context is open."""
    # The limit belongs to the process, whose other readers keep theirs.
    before = csv.field_size_limit(_MAX_CELL_CHARS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def split_rows(
    path: str | Path, lines: Sequence[str], separator: str, bad: BadLines
) -> list[tuple[int, list[str]]]:
    """Splits the lines of CSV, also between tabs, into rows.

    Args:
        path: The file of the lines, for errors.
        lines: The lines with their ends.
        separator: The character between cells.
        bad: Told of rows whose quotes are wrong.

    Returns:
        The first line of each row, from 1, and the cells; no cells for an empty line.
    """
    rows = []
    start = 0
    rest = iter(lines)
    with long_cells():
        while start < len(lines):
            reader = csv.reader(rest, delimiter=separator, strict=True)
            line = start + 1
            try:
                for cells in reader:
                    rows.append((line, cells))
                    line = start + reader.line_num + 1
                return rows
            except csv.Error as error:
                bad.report(path, line, f"the row is not valid CSV ({error}). Check its quotes")
            # A quote that is not closed must not take the lines after it along.
            if start + reader.line_num > line:
                rest = iter(lines[line:])
            start = line
    return rows


def stream_rows(
    path: str | Path, lines: Iterable[tuple[int, str]], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """Streams the rows of CSV, also between other separators.

    Args:
        path: The file of the lines, for errors.
        lines: Numbered lines without their ends.
        separator: The character between cells.

    Yields:
        The first line of the row, from 1, and the cells; no cells for an empty line.

    Raises:
        DataError: The quotes of a row are wrong.
    """
    reader = csv.reader((f"{text}\n" for _, text in lines), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            with long_cells():
                cells = next(reader, None)
        except csv.Error as error:
            message = f"the row is not valid CSV ({error}). Check its quotes."
            raise DataError(path, message, line) from error
        if cells is None:
            return
        yield line, cells


def json_rows(
    path: str | Path, lines: Iterable[tuple[int, str]], bad: BadLines
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the objects of JSON lines; blank lines are skipped, other values are bad lines."""
    for number, text in lines:
        if not text.strip():
            continue
        try:
            row = _without_halves(parse_json(text), text)
        except ValueError as error:
            bad.report(path, number, f"expected a JSON object in each line ({error})")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            bad.report(path, number, "expected a JSON object in each line, found another value")


def json_array(path: str | Path, text: str, bad: BadLines) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the objects of a JSON array with their numbers, from 1.

    Raises:
        DataError: The text is not JSON.
    """
    try:
        rows = _without_halves(parse_json(text), text)
    except ValueError as error:
        raise DataError(path, f"is not valid JSON ({error}). Correct it.") from error
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            bad.report(path, number, "expected a JSON object in each item, found another value")


def _without_halves(value: Any, text: str) -> Any:
    """Replaces halves of surrogate pairs, which are not characters, in a value of JSON by `?`."""
    if "\\ud" not in text.lower():
        return value
    plain = json.dumps(value, ensure_ascii=False)
    return parse_json(plain.encode("utf-8", "replace"))


@contextmanager
def parquet_errors(path: str | Path) -> Iterator[None]:
    """Explains the errors of Arrow within.

    Raises:
        DataError: The file is damaged, missing or of another format.
    """
    try:
        yield
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
        return parquet.ParquetFile(path)


def as_text(value: Any) -> str:
    """Returns a cell as text: empty if it is missing, JSON if it is a list or an object."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    is_json = isinstance(value, list | dict | bool)
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


def as_texts(cells: Any) -> list[str]:
    """Returns the cells of a column, a list or an Arrow array, as texts."""
    if not isinstance(cells, list):
        cells = _arrow_values(cells)
    return [as_text(cell) for cell in cells]


def _arrow_values(column: Any) -> list[Any]:
    """Returns the values of an Arrow array as texts, or as objects if Arrow does not write them."""
    try:
        # Unlike Python, Arrow writes a float of 32 bits as 0.1, and nanoseconds in full.
        texts = column.cast("string").to_pylist()
    except (NotImplementedError, ValueError):
        return column.to_pylist()
    is_number = str(column.type) in ("halffloat", "float", "double")
    return [None if is_number and text == "nan" else text for text in texts]


def column_position(names: Sequence[str], column: str) -> int | None:
    """Returns the 0-based position of a column, or `None`.

    Args:
        names: The names of all columns.
        column: One of the names, best as it is written, else in any case and Unicode form; or a
            number from 1.
    """
    forms: list[Callable[[str], str]] = [str, _normal, _folded]
    for form in forms:
        known = [form(name) for name in names]
        if form(column) in known:
            return known.index(form(column))
    numbers = [str(number) for number in range(1, len(names) + 1)]
    return numbers.index(column) if column in numbers else None


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _folded(name: str) -> str:
    return _normal(_normal(name).strip().casefold())
