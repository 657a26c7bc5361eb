"""Tables for training and evaluation: the first lines tell the format and the header."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from tf_charagram.data.readers.lines import (
    CORRECT,
    CORRECT_OR_SKIP,
    BadLines,
    read_lines,
    say_once,
)
from tf_charagram.data.readers.scored import is_decimal
from tf_charagram.data.readers.table_rows import (
    as_text,
    column_position,
    json_array,
    json_rows,
    long_cells,
    open_parquet,
    parquet_errors,
    stream_rows,
)
from tf_charagram.data.tables import TEXT_NAMES
from tf_charagram.errors import DataError

#: Names of columns in common tables; earlier ones take precedence.
PAIR_NAMES = (
    ("sentence_a", "sentence_b"), ("premise", "hypothesis"), ("sentence1", "sentence2"),
    ("question1", "question2"), ("text1", "text2"), ("text_a", "text_b"), ("left", "right"),
    ("a", "b"), ("text", "paraphrase"), ("phrase", "paraphrase"), ("word1", "word2"),
    ("s1", "s2"), ("anchor", "positive"), ("query", "answer"),
)  # fmt: skip
MATCH_NAMES = ("is_duplicate", "is_match", "duplicate", "match")
LABEL_NAMES = (
    "label", "gold_label", "entailment_judgment", "entailment_label", "sentiment", "category",
    "class", "intent", "topic", "target",
)  # fmt: skip
SCORE_NAMES = (
    "score", "relatedness_score", "relatedness", "similarity", "similarity_score", "rating",
)  # fmt: skip
#: Separates the fields of PPDB, which is text in one column.
PPDB_SEPARATOR = " ||| "

_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)
_JSON = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
# A cell in quotes: all quotes in it are doubled.
_QUOTED = re.compile(r'\s*"(?:[^"]|"")*"\s*')
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
# The first lines tell the separator and the header, and in JSON the columns.
_NUM_FIRST = 100
_MAX_NAME_WORDS = 3
_MAX_SHOWN, _MAX_SHOWN_CHARS = 20, 30

_Numbered: TypeAlias = Iterator[tuple[int, list[Any]]]


def plain_name(name: str) -> str:
    """Returns the name of a column in lowercase, without spaces, underscores and marks."""
    return re.sub(r'[\s_"#]', "", name).lower()


_ALL_NAMES = ("id", *TEXT_NAMES, *chain(*PAIR_NAMES), *MATCH_NAMES, *LABEL_NAMES, *SCORE_NAMES)
_KNOWN = {plain_name(name) for name in _ALL_NAMES} - {"a", "b"}  # They are also texts.


class Rows:
    r"""The rows of a table, to iterate over once, without those of another length.

    Parquet (extra `parquet`) and JSON are recognized by the name of the file; CSV, text separated
    by tabs, `;` or `|` and JSON lines by their first lines, also if gzipped. Text in a file whose
    name does not end in `.csv` is one column, unless tabs, `;` or `|`, or commas below known names,
    separate all of its first lines. Between tabs, quotes are characters, unless all cells of the
    first line are in quotes, or those in a cell are doubled. Blank lines are skipped, as are lines
    with `#` above the table. The first row is a header if it has the given names or two well-known
    ones, if numbers are below one of its texts, or if a `.csv` file starts with short, distinct
    texts.

    Args:
        path: The file, or `"-"` for standard input.
        columns: Names, or numbers from 1, of columns that will be asked for.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
        flag: The flag that names columns, for errors; empty if there is no flag.

    Attributes:
        names: The names of the columns; their numbers from 1 if there is no header.
        has_header: Whether there is one.
        first: The first rows with their lines, up to 100.
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
        self.bad = BadLines.of(on_bad_line, CORRECT_OR_SKIP if flag else CORRECT)
        self._flag = flag
        self._wanted = {column.lower() for column in columns if not column.isdecimal()}
        names, rows = self._open(columns)
        self.first = list(islice(rows, _NUM_FIRST))
        if names is None and self.first and self._is_header():
            _, cells = self.first.pop(0)
            names = [cell.strip().lstrip("# ") for cell in cells]
        self.has_header = names is not None
        if names is None:
            names = [""] * _usual_width(cells for _, cells in self.first)
        self.names = [name or str(number) for number, name in enumerate(names, start=1)]
        self._rows = chain(self.first, rows)
        self._num_good = 0

    def _open(self, columns: Sequence[str]) -> tuple[list[str] | None, _Numbered]:
        """Returns the names of the columns, if the format has them, and the rows."""
        if Path(self.path).suffix.lower() == ".parquet":
            return _parquet_rows(self.path)
        lines = read_lines(self.path)
        head = list(islice(lines, _NUM_FIRST))
        lines = chain(head, lines)
        texts = [text for _, text in head if text.strip()]
        if _JSON.search(str(self.path)) or (texts and _is_object(texts[0])):
            return self._json_rows(lines, texts, columns)
        separator = self._find_separator([text for text in texts if text[0] != "#"] or texts)
        rows = _text_rows(self.path, lines, separator, texts)
        return None, self._below_comments(rows) if separator else rows

    def _json_rows(
        self, lines: Iterator[tuple[int, str]], texts: Sequence[str], columns: Sequence[str]
    ) -> tuple[list[str], _Numbered]:
        """Returns the keys of the first objects, with those asked for, and the values of all."""
        if texts and texts[0].lstrip().startswith("["):
            objects = json_array(self.path, "\n".join(text for _, text in lines), self.bad)
        else:
            objects = json_rows(self.path, lines, self.bad)
        first = list(islice(objects, _NUM_FIRST))
        names = dict.fromkeys(chain.from_iterable(row for _, row in first))
        later = [column for column in columns if column_position(list(names), column) is None]
        names |= dict.fromkeys(column for column in later if not column.isdecimal())
        rows = ((line, [row.get(name) for name in names]) for line, row in chain(first, objects))
        return list(names), rows

    def _below_comments(self, rows: _Numbered) -> _Numbered:
        """Skips the rows with `#` above the table, apart from a header with `#`."""
        is_above = True
        for line, cells in rows:
            is_above = is_above and cells[0].startswith("#") and not self._is_named(cells)
            if not is_above:
                yield line, cells

    def _find_separator(self, lines: Sequence[str]) -> str:
        """Returns the separator of the columns in the first lines; empty if they are one column."""
        if not lines:
            return ""
        is_csv = _CSV.search(str(self.path)) is not None
        if not is_csv:
            if PPDB_SEPARATOR in lines[0]:
                return ""
            if 2 * sum("\t" in line for line in lines) >= len(lines):
                return "\t"
        fits = {separator: _fit(lines, separator) for separator in _SEPARATORS}
        best = max(fits, key=lambda separator: fits[separator])
        share, _ = fits[best]
        if is_csv:
            best = best if share else ","
        elif share < 1.0 or len(lines) < 2 or best == "\t":
            return ""
        elif best == "," and not self._is_named(lines[0].split(",")):
            return ""
        usual = "," if is_csv else "\t"
        if best != usual:
            text = f"columns are separated by {_SEPARATORS[best]}, not by {_SEPARATORS[usual]}"
            say_once(self.path, text)
        return best

    def _is_named(self, cells: Iterable[str]) -> bool:
        """Returns whether cells have all names that are asked for, or two well-known ones."""
        names = {cell.strip(' "#').lower() for cell in cells}
        num_known = len(_KNOWN.intersection(map(plain_name, names)))
        return bool(self._wanted and self._wanted <= names) or num_known > 1

    def _is_header(self) -> bool:
        """Returns whether the first row has the names of the columns."""
        cells = self.first[0][1]
        if self._is_named(cells):
            return True
        names = [cell.strip().lower() for cell in cells]
        width = _usual_width(row for _, row in self.first)
        if len(names) != width or any(is_decimal(name) for name in names):
            return False
        if width == 1:
            return names[0] in TEXT_NAMES
        below = [row for _, row in self.first[1:] if len(row) == width]
        columns = [[row[column] for row in below] for column in range(width)]
        has_numbers = [_are_decimals(column) for column in columns]
        if any(name and numbers for name, numbers in zip(names, has_numbers, strict=True)):
            return True
        if not below or len({*names}) < width or not _CSV.search(str(self.path)):
            return False
        for name, column in zip(names, columns, strict=True):
            if len(name.split()) > _MAX_NAME_WORDS or name in map(str.lower, column):
                return False
        say_once(self.path, f"the first line is taken for names of columns: {', '.join(cells)}")
        return True

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        """Yields the 1-based line, or row in Parquet, and the cells."""
        width = len(self.names)
        for line, cells in self._rows:
            if len(cells) == width:
                yield line, cells
                self._num_good += 1
            else:
                expected = f"{width} column{'' if width == 1 else 's'} as in most lines"
                self.report(line, f"expected {expected}, found {len(cells)}")

    def report(self, line: int, message: str) -> None:
        """Reports a bad row; if there was no good one, with the columns instead of advice to skip.

        Raises:
            DataError: The policy is `"error"`.
        """
        self.bad.report(self.path, line, message, "" if self._num_good else self.advice())

    def advice(self) -> str:
        """Returns a sentence that lists the columns and says how to name them."""
        width = len(self.names)
        cells = next((row for _, row in self.first if len(row) == width), [""] * width)
        shown = []
        for name, cell in zip(self.names, cells, strict=True):
            shown.append(f"{name} '{as_text(cell).strip()[:_MAX_SHOWN_CHARS]}'")
        if width == 1:
            hint = "tabs separate columns, or commas in .csv files."
            return f"There is one column, {shown[0]}; {hint}"
        if width > _MAX_SHOWN:
            shown[_MAX_SHOWN:] = [f"and {width - _MAX_SHOWN} more"]
        choose = "Name them in a header, such as left, right, label"
        if self._flag:
            choose = f"Choose with {self._flag} NAME,NAME (names, or numbers from 1)"
        return f"The columns, each with a value: {', '.join(shown)}. {choose}."

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            DataError: The table lacks the column; the message lists those it has.
        """
        position = column_position(self.names, column)
        if position is None:
            raise DataError(self.path, f"expected a column {column}. {self.advice()}")
        return position


def _usual_width(rows: Iterable[Sequence[str]]) -> int:
    widths = Counter(len(cells) for cells in rows).most_common(1)
    return widths[0][0] if widths else 0


def _are_decimals(column: Sequence[str]) -> bool:
    cells = [cell for cell in column if cell]
    return bool(cells) and all(is_decimal(cell) for cell in cells)


def _is_object(text: str) -> bool:
    """Returns whether a line is a JSON object; a text may begin with a brace as well."""
    try:
        return text.lstrip().startswith("{") and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _fit(lines: Sequence[str], separator: str) -> tuple[float, int]:
    """Returns the share of lines with the usual number of columns, 0 for one, and that number."""
    plain = [line.replace("\r", " ") for line in lines]
    with long_cells():
        rows = list(csv.reader(plain, delimiter=separator))
    width = _usual_width(rows)
    return sum(len(cells) == width > 1 for cells in rows) / len(rows), width


def _text_rows(
    path: str | Path, lines: Iterator[tuple[int, str]], separator: str, first: Sequence[str]
) -> _Numbered:
    """Yields the rows of text without blank lines; a line is one cell without a separator."""
    head = next((text for text in first if text[0] != "#"), "")
    is_quoted = all(_QUOTED.fullmatch(cell) for cell in head.split("\t"))
    rows: Iterator[tuple[int, list[str]]]
    if not separator:
        rows = ((number, [text]) for number, text in lines)
    elif separator == "\t" and not is_quoted:
        rows = ((number, _split_at_tabs(text)) for number, text in lines)
    else:
        rows = stream_rows(path, lines, separator)
    for number, cells in rows:
        # A separator alone is two empty cells, not a blank line.
        if len(cells) > 1 or "".join(cells).strip():
            yield number, cells


def _split_at_tabs(text: str) -> list[str]:
    cells = text.split("\t")
    return [_unquoted(cell) for cell in cells] if '""' in text else cells


def _unquoted(cell: str) -> str:
    """Returns a cell between tabs as it was before quotes in it were doubled, if they were."""
    inner = cell[1:-1].replace('""', '"')
    return inner if _QUOTED.fullmatch(cell) and len(inner) < len(cell) - 2 else cell


def _parquet_rows(path: str | Path) -> tuple[list[str], _Numbered]:
    """Returns the names of the columns of a Parquet file, and its rows."""
    file = open_parquet(path)

    def rows() -> _Numbered:
        number = 0
        with parquet_errors(path):
            for batch in file.iter_batches(batch_size=1000):
                columns = [column.to_pylist() for column in batch.columns]
                for cells in zip(*columns, strict=True):
                    number += 1
                    yield number, list(cells)

    return file.schema_arrow.names, rows()
