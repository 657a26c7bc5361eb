"""Reads tables into memory: the name of a file tells its format, the first line the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from tf_charagram.data.readers.lines import BadLines, read_text, say_once
from tf_charagram.data.readers.table_rows import (
    json_array,
    json_rows,
    long_cells,
    open_parquet,
    parquet_errors,
    split_rows,
)
from tf_charagram.data.tables import Table
from tf_charagram.errors import DataError

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# Excel names the separator in a first line of its own.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_JSON = (".json", ".jsonl", ".ndjson")


_Rows = list[tuple[int, list[str]]]


def read_table(
    path: str | Path,
    *,
    header: bool = True,
    encoding: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> Table:
    """Reads a table; the suffix of the file tells its format, and nothing is guessed.

    * `.csv`: the separator is the most frequent of `,` `;` `|` and tab in the first line, or the
      one of a first line `sep=;`. The quotes are those of CSV.
    * `.tsv`, `.tab`: tabs, with the quotes of CSV; if they are not, quotes are characters.
    * `.json`, `.jsonl`, `.ndjson`: an array of objects, or an object per line. The columns are all
      keys.
    * `.parquet` (extra `parquet`).
    * Other files and standard input: a text per line, in a column `text`.

    Text may be gzipped. Blank lines between rows of several columns are skipped.

    Args:
        path: The file, or `"-"` for standard input.
        header: Whether the first line of CSV and TSV has the names of the columns. Otherwise they
            are called 1, 2 and so on.
        encoding: The encoding of a text file, such as `"cp1252"`. Default: UTF-8, or the one that
            a byte order mark tells.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A row
            is bad if its length is not that of the first row, or its quotes are wrong.

    Raises:
        ConfigError: `on_bad_line` or `encoding` is unknown, or pyarrow is not installed.
        DataError: The file cannot be read, has another encoding, a bad row or no row.
    """
    bad = BadLines.of(on_bad_line)
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    if suffix == ".parquet":
        table = _read_parquet(path)
    else:
        text = read_text(path, encoding)
        if suffix in _JSON:
            table = _read_json(path, text, bad)
        elif suffix in (".csv", ".tsv", ".tab"):
            table = _read_separated(path, text, suffix == ".csv", header, bad)
        else:
            table = _read_lines(text)
    if not len(table):
        empty = "only a header" if table.columns else "the file is empty"
        raise DataError(path, f"no rows found: {bad.summary() if bad.count else empty}")
    return table


def _read_parquet(path: str | Path) -> Table:
    file = open_parquet(path)
    with parquet_errors(path):
        table = file.read()
    return Table(table.column_names, table.columns)


def _read_json(path: str | Path, text: str, bad: BadLines) -> Table:
    if text.lstrip().startswith("["):
        numbered = json_array(path, text, bad)
    else:
        numbered = json_rows(path, enumerate(text.split("\n"), start=1), bad)
    rows = [row for _, row in numbered]
    names = dict.fromkeys(name for row in rows for name in row)
    return Table(list(names), [[row.get(name) for row in rows] for name in names])


def _read_lines(text: str) -> Table:
    if not text:
        return Table([], [])
    # The end of the last line does not start another one.
    lines = text.removesuffix("\n").split("\n")
    return Table(["text"], [[line.removesuffix("\r") for line in lines]])


def _read_separated(
    path: str | Path, text: str, is_csv: bool, header: bool, bad: BadLines
) -> Table:
    lines = io.StringIO(text, newline="").readlines()
    separator = _separator(path, lines) if is_csv else "\t"
    if lines and (named := _SEPARATOR_LINE.fullmatch(lines[0])):
        separator = named[1]
        # Empty lines above the header are skipped, and the numbers of lines stay the same.
        lines[0] = "\n"
    if is_csv or _has_csv_quotes(lines, separator):
        rows = split_rows(path, lines, separator, bad)
    else:
        say_once(path, "quotes are read as characters, because they are not those of CSV")
        rows = [(n, line.rstrip("\r\n").split(separator)) for n, line in enumerate(lines, start=1)]
    return _to_table(path, rows, separator, header, bad)


def _separator(path: str | Path, lines: Sequence[str]) -> str:
    """Returns the most frequent separator outside of quotes in the first line."""
    first = _QUOTED.sub("", lines[0]) if lines else ""
    separator = max(_SEPARATORS, key=first.count)
    if separator != ",":
        say_once(path, f"columns are separated by {_SEPARATORS[separator]}, not by commas")
    return separator


def _has_csv_quotes(lines: Sequence[str], separator: str) -> bool:
    try:
        with long_cells():
            for _ in csv.reader(lines, delimiter=separator, strict=True):
                pass
    except csv.Error:
        return False
    return True


def _to_table(path: str | Path, rows: _Rows, separator: str, header: bool, bad: BadLines) -> Table:
    """Makes a table of rows, without those of another length than the first one."""
    width = next((len(cells) for _, cells in rows if cells), 0)
    kept: list[list[str]] = []
    for line, cells in rows:
        if width == 1 and kept:
            # An empty line is an empty cell of the only column.
            cells = cells or [""]
        if len(cells) == width:
            kept.append(cells)
        elif "".join(cells).strip() or len(cells) > 1:
            message = f"expected {width} column{'' if width == 1 else 's'} as in the first row"
            bad.report(path, line, f"{message}, found {len(cells)}")
    names = [str(number) for number in range(1, width + 1)]
    if header and kept:
        names = kept.pop(0)
    columns = [list(cells) for cells in zip(*kept, strict=True)]
    return Table(names, columns or [[] for _ in names], separator, header)
