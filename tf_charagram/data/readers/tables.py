"""Tables of any layout: separated text, JSON lines, Parquet; row by row, or whole in memory."""

from __future__ import annotations

import csv
import functools
import itertools
import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tf_charagram.data.readers.lines import STDIN, BadLines, read_lines
from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.files.json_files import parse_json
from tf_charagram.files.writing import whole_file
from tf_charagram.lazy import extra_module

logger = logging.getLogger(__name__)

#: Names of columns in common tables, in lowercase; earlier ones take precedence.
TEXT_NAMES = ("text", "sentence", "review", "phrase", "title", "name", "query", "question")
PAIR_NAMES = (
    ("sentence_a", "sentence_b"), ("premise", "hypothesis"), ("sentence1", "sentence2"),
    ("question1", "question2"), ("text1", "text2"), ("text_a", "text_b"), ("left", "right"),
    ("a", "b"), ("text", "paraphrase"), ("phrase", "paraphrase"), ("word1", "word2"),
    ("s1", "s2"), ("anchor", "positive"), ("query", "answer"),
)  # fmt: skip
MATCH_NAMES = ("is_duplicate", "is_match", "duplicate", "match")
LABEL_NAMES = (
    "label", "gold_label", "entailment_judgment", "entailment_label", "sentiment", "category",
    "class", "intent", "topic",
)  # fmt: skip
SCORE_NAMES = ("score", "relatedness_score", "relatedness", "similarity", "similarity_score")
# `a` and `b` are also texts.
_KNOWN = {
    *TEXT_NAMES, *itertools.chain(*PAIR_NAMES), *MATCH_NAMES, *LABEL_NAMES, *SCORE_NAMES,
    "id",
} - {"a", "b"}  # fmt: skip

# Python's limit fits a cell of a spreadsheet; texts are longer.
csv.field_size_limit(2**31 - 1)
_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)
_PARQUET_MAGIC = b"PAR1"
_PPDB_SEPARATOR = " ||| "
# The first lines tell the separator and the header, and in JSON the columns.
_NUM_FIRST = 100
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
_MAX_NAME_WORDS = 3
_MAX_SHOWN, _MAX_SHOWN_CHARS = 20, 30

_Numbered = Iterator[tuple[int, list[Any]]]


def as_text(value: Any) -> str:
    """Returns a cell as text: empty if it is missing, JSON if it is a list or an object."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    is_json = isinstance(value, list | dict | bool)
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


class Rows:
    r"""The rows of a table, to iterate over once, without those of another length.

    CSV, text separated by tabs, `;` or `|`, JSON lines and Parquet (extra `parquet`) are recognized
    by their first lines; text may be gzipped. Text in a file whose name does not end in `.csv` is
    one column, unless tabs, `;` or `|`, or commas below well-known names, separate all of its first
    lines. Quotes count except between tabs. Blank lines are skipped, as are lines with `#` above
    the table. The first row is a header if it has the given names or two well-known ones, if
    numbers are below one of its texts, or if a `.csv` file starts with short, distinct texts.

    Args:
        path: The file, or `"-"` for standard input.
        columns: Names, or numbers from 1, of columns that will be asked for.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
        flag: The flag that names columns, for errors.

    Attributes:
        names: The names of the columns; their numbers from 1 if there is no header.
        has_header: Whether there is one.
        separator: `","`, `"\t"`, `";"` or `"|"`; empty for one column and other formats.
        bad: The policy for bad lines.

    Raises:
        ConfigError: `on_bad_line` is unknown, or pyarrow is not installed.
        DataError: The file cannot be read, or, also while iterating, quotes are not closed.
    """

    def __init__(
        self,
        path: str | Path,
        columns: Sequence[str] = (),
        *,
        on_bad_line: str | BadLines = "error",
        flag: str = "--columns",
    ) -> None:
        self.path = path
        self._flag = flag
        self.bad = BadLines.of(on_bad_line)
        names: list[str] | None = None
        self.separator = ""
        if _is_parquet(path):
            rows, names = _parquet_rows(path)
        else:
            lines = read_lines(path)
            head = list(itertools.islice(lines, _NUM_FIRST))
            lines = itertools.chain(head, lines)
            texts = [text for _, text in head if text.strip()]
            if texts and texts[0].lstrip().startswith("{"):
                rows, names = _json_rows(path, lines, self.bad)
            else:
                self.separator = _separator(path, texts, _names_among(columns))
                rows = _text_rows(path, lines, self.separator)
        self._first = list(itertools.islice(rows, _NUM_FIRST))
        if names is None:
            names = self._header(columns)
        self.has_header = names is not None
        num_columns = _usual_length(cells for _, cells in self._first)
        self.names = _distinct([""] * num_columns if names is None else names)
        self._rows = itertools.chain(self._first, rows)
        self._num_good = 0

    def _header(self, columns: Sequence[str]) -> list[str] | None:
        """Takes comments and the header from the first rows; returns the header, if any."""
        wanted = _names_among(columns)
        while self.separator and self._first and self._first[0][1][0].startswith("#"):
            if _is_named(self._first[0][1], wanted):
                break
            del self._first[0]
        if not (self._first and self._is_header(wanted)):
            return None
        return list(map(_as_name, self._first.pop(0)[1]))

    def _is_header(self, wanted: set[str]) -> bool:
        """Returns whether the first row is a header; see the class."""
        cells = self._first[0][1]
        if _is_named(cells, wanted):
            return True
        names = [_as_name(cell).lower() for cell in cells]
        num_columns = _usual_length(cells for _, cells in self._first)
        if len(names) != num_columns or any(map(is_number, names)):
            return False
        if num_columns == 1:
            return names[0] in TEXT_NAMES
        rows = [row for _, row in self._first[1:] if len(row) == num_columns]
        columns = list(zip(*rows, strict=True))
        for name, column in zip(names, columns, strict=False):
            if name and any(column) and all(map(is_number, filter(None, column))):
                return True
        is_short = len(set(names)) == num_columns and all(
            len(name.split()) <= _MAX_NAME_WORDS and name not in map(str.lower, column)
            for name, column in zip(names, columns, strict=False)
        )
        if is_short and columns and is_csv(self.path):
            _say(self.path, f"the first line is taken for the columns' names: {', '.join(names)}")
            return True
        return False

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        """Yields the 1-based line, or row in Parquet, and the cells."""
        num_columns = len(self.names)
        for line, cells in self._rows:
            if len(cells) != num_columns:
                plural = "" if num_columns == 1 else "s"
                expected = f"{num_columns} column{plural} as in most lines"
                self.report(line, f"expected {expected}, found {len(cells)}")
                continue
            yield line, cells
            self._num_good += 1

    def report(self, line: int, message: str) -> None:
        """Reports a bad row; the first row of all is reported with the columns instead of advice.

        Raises:
            DataError: The policy is `"error"`.
        """
        self.bad.report(self.path, line, message, "" if self._num_good else self.advice())

    def advice(self) -> str:
        """Returns a sentence that lists the columns and says how to name them."""
        cells = next((row for _, row in self._first if len(row) == len(self.names)), [])
        shown = [
            f"{name or number} '{as_text(cell).strip()[:_MAX_SHOWN_CHARS]}'"
            for number, (name, cell) in enumerate(
                itertools.zip_longest(self.names, cells, fillvalue=""), start=1
            )
        ]
        more = [f"and {len(shown) - _MAX_SHOWN} more"] if len(shown) > _MAX_SHOWN else []
        is_commas = len(cells) == 1 and "," in as_text(cells[0])
        hint = " Commas separate columns only in .csv files." if is_commas else ""
        return (
            f"The columns, each with a value: {', '.join([*shown[:_MAX_SHOWN], *more])}. Choose "
            f"with {self._flag} NAME,NAME (names, or numbers from 1).{hint}"
        )

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            DataError: There is none; the columns are listed.
        """
        position = _position(self.names, column)
        if position is None:
            raise DataError(self.path, f"expected a column {column}. {self.advice()}")
        return position


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
            ConfigError: A column of `on` is missing, `on_bad_line` is unknown, or pyarrow is not
                installed.
            DataError: The file cannot be read, has no row, or a row of another length.
        """
        rows = Rows(path, on, on_bad_line=on_bad_line, flag="--on")
        names = rows.names
        if len(names) == 1 and not rows.has_header:
            names = ["text"]
        table = cls(names, [cells for _, cells in rows], rows.separator or ",")
        if not table.rows:
            raise DataError(path, f"no rows found: {rows.bad.summary()}")
        for column in on:
            table.index(column)
        return table

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            ConfigError: There is none.
        """
        position = _position(self.columns, column)
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
            known = [name for name in TEXT_NAMES if _position(self.columns, name) is not None]
            if not known:
                raise ConfigError(f"Name the columns of the texts: {', '.join(self.columns)}.")
            on = known[:1]
        positions = [self.index(column) for column in on] or [0]
        return [
            " ".join(filter(None, (as_text(row[i]).strip() for i in positions)))
            for row in self.rows
        ]

    def add(self, name: str, values: Iterable[Any]) -> None:
        """Adds a column, one value per row; its name is changed if there is one of that name."""
        self.columns = _distinct([*self.columns, name])
        self.rows = [[*row, value] for row, value in zip(self.rows, values, strict=True)]

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
        if suffix == ".parquet":
            arrow, parquet = extra_module("pyarrow", "parquet"), _parquet()
            columns = {
                name: _arrow_column(arrow, [row[i] for row in self.rows])
                for i, name in enumerate(self.columns)
            }
            with whole_file(path) as file:
                parquet.write_table(arrow.table(columns), file)
            return
        with nullcontext(sys.stdout) if str(path) == STDIN else whole_file(path, "w") as file:
            if suffix == ".jsonl":
                for row in self.rows:
                    values = (None if value != value else value for value in row)
                    cells = dict(zip(self.columns, values, strict=True))
                    file.write(json.dumps(cells, ensure_ascii=False, default=str) + "\n")
            elif suffix == ".tsv" or (str(path) == STDIN and self.separator == "\t"):
                for row in [self.columns, *self.rows]:
                    file.write("\t".join(" ".join(as_text(cell).split()) for cell in row) + "\n")
            else:
                separator = "," if self.separator == "\t" else self.separator
                writer = csv.writer(file, delimiter=separator, lineterminator="\n")
                for row in [self.columns, *self.rows]:
                    writer.writerow(map(as_text, row))


def check_table_file(path: str | Path) -> None:
    """Checks the name of a file before the table is computed; see `Table.write`.

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
        _parquet()


def is_csv(path: str | Path) -> bool:
    """Returns whether a file is CSV by its name."""
    return _CSV.search(str(path)) is not None


def _as_name(cell: str) -> str:
    """Returns a cell of a header as a name, without the mark of a comment."""
    return cell.strip().lstrip("# ")


def _names_among(columns: Iterable[str]) -> set[str]:
    return {column.lower() for column in columns if not column.isdecimal()}


def _is_named(cells: Iterable[str], wanted: set[str]) -> bool:
    """Returns whether cells have all wanted names, if any, or two well-known ones."""
    names = {_as_name(cell).lower() for cell in cells}
    return bool(wanted and wanted <= names) or len(names & _KNOWN) > 1


def _usual_length(rows: Iterable[Sequence[str]]) -> int:
    lengths = Counter(map(len, rows)).most_common(1)
    return lengths[0][0] if lengths else 0


def _distinct(names: Iterable[str]) -> list[str]:
    """Returns names of columns: numbers for empty ones, and later ones that occur twice changed."""
    distinct: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        name = name or str(number)
        while name in distinct:
            name += "_2"
        distinct[name] = None
    return list(distinct)


def _position(names: Sequence[str], column: str) -> int | None:
    """Returns the position of a column, by its name, its name in another case, or its number."""
    lower = [name.lower() for name in names]
    for known, name in ((names, column), (lower, column.lower())):
        if name in known:
            return known.index(name)
    is_number = column.isdecimal() and len(column) < 10 and 1 <= int(column) <= len(names)
    return int(column) - 1 if is_number else None


@functools.cache
def _say(path: str | Path, message: str) -> None:
    """Logs once per file, which may be read many times."""
    logger.warning("%s: %s", path, message)


def _separator(path: str | Path, lines: Sequence[str], wanted: set[str]) -> str:
    """Returns what separates the columns in the first lines; empty if they are one column."""
    lines = [line for line in lines if not line.startswith("#")] or lines
    if not lines or (_PPDB_SEPARATOR in lines[0] and not is_csv(path)):
        return ""
    if not is_csv(path) and 2 * sum("\t" in line for line in lines) >= len(lines):
        return "\t"
    share, _, _, best = max((*_fit(lines, each), each == ",", each) for each in ",;\t|")
    if is_csv(path):
        best, usual = best if share else ",", ","
    else:
        is_sure = share == 1.0 and len(lines) > 1 and best != "\t"
        if not is_sure or (best == "," and not _is_named(lines[0].split(","), wanted)):
            return ""
        usual = "\t"
    if best != usual:
        _say(path, f"columns are separated by {_SEPARATORS[best]}, not by {_SEPARATORS[usual]}")
    return best


def _fit(lines: Sequence[str], separator: str) -> tuple[float, int]:
    """Returns the share of lines with the usual number of columns, 0 for one, and that number."""
    rows = list(csv.reader((line.replace("\r", " ") for line in lines), delimiter=separator))
    length = _usual_length(rows)
    return sum(len(cells) == length > 1 for cells in rows) / len(rows), length


def _text_rows(path: str | Path, lines: Iterator[tuple[int, str]], separator: str) -> _Numbered:
    """Yields the rows of text; a line is one cell without a separator."""
    if separator in ("", "\t"):
        for number, text in lines:
            # A tab alone is two empty cells, not a blank line.
            if text.strip() or (separator and separator in text):
                yield number, text.split(separator) if separator else [text]
        return
    reader = csv.reader((f"{text}\n" for _, text in lines), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            message = f"the row is not valid CSV ({error}). Check its quotes."
            raise DataError(path, message, line) from error
        if cells is None:
            return
        # A comma alone is two empty cells, not a blank line.
        if len(cells) > 1 or "".join(cells).strip():
            yield line, cells


def _json_rows(
    path: str | Path, lines: Iterator[tuple[int, str]], bad: BadLines
) -> tuple[_Numbered, list[str]]:
    """Returns the rows of JSON lines, and their keys in the first of them."""

    def objects() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, text in lines:
            if not text.strip():
                continue
            try:
                found = parse_json(text)
                if "\\ud" in text.lower():  # Half of a pair of surrogates is not a character.
                    plain = json.dumps(found, ensure_ascii=False)
                    found = parse_json(plain.encode("utf-8", "replace"))
                if not isinstance(found, dict):
                    raise ValueError("another value")
            except ValueError as error:
                bad.report(path, number, f"expected a JSON object ({error})")
            else:
                yield number, found

    found = objects()
    head = list(itertools.islice(found, _NUM_FIRST))
    names = list(dict.fromkeys(itertools.chain(*(cells for _, cells in head))))

    def rows() -> _Numbered:
        for number, cells in itertools.chain(head, found):
            if new := cells.keys() - set(names):
                bad.report(path, number, f"has a key that the first lines lack: {min(new)}")
            else:
                yield number, [cells.get(name) for name in names]

    return rows(), names


def _is_parquet(path: str | Path) -> bool:
    try:
        if str(path) == STDIN or not Path(path).is_file():
            return False
        with open(path, "rb") as file:
            return file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
    except OSError:
        return False


def _parquet() -> Any:
    return extra_module("pyarrow.parquet", "parquet")


def _parquet_rows(path: str | Path) -> tuple[_Numbered, list[str]]:
    """Returns the rows of a Parquet file, and the names of its columns."""
    try:
        file = _parquet().ParquetFile(path)
    except (ValueError, OSError) as error:
        raise DataError(path, f"cannot be read as Parquet: {error}. Get it again.") from error

    def rows() -> _Numbered:
        number = 0
        for batch in file.iter_batches(batch_size=1000):
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, list(cells)

    return rows(), file.schema_arrow.names


def _arrow_column(arrow: Any, values: list[Any]) -> Any:
    """Returns values as an array, as texts if their types differ."""
    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return arrow.array([None if value is None else as_text(value) for value in values])
