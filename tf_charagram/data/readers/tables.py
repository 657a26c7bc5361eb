"""Rows of tables of any layout: separated text, JSON lines, Parquet."""

from __future__ import annotations

import csv
import functools
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from tf_charagram.data.readers.lines import CORRECT, CORRECT_OR_SKIP, BadLines, read_lines
from tf_charagram.data.readers.scored import is_decimal
from tf_charagram.errors import DataError
from tf_charagram.files.json_files import parse_json
from tf_charagram.lazy import extra_module

logger = logging.getLogger(__name__)


def plain_name(name: str) -> str:
    """Returns the name of a column in lowercase, without spaces, underscores and marks."""
    return re.sub(r'[\s_"#]', "", name).lower()


#: Names of columns in common tables; earlier ones take precedence.
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
    "class", "intent", "topic", "target",
)  # fmt: skip
SCORE_NAMES = (
    "score", "relatedness_score", "relatedness", "similarity", "similarity_score", "rating",
)  # fmt: skip
_ALL_NAMES = ("id", *TEXT_NAMES, *chain(*PAIR_NAMES), *MATCH_NAMES, *LABEL_NAMES, *SCORE_NAMES)
_KNOWN = {*map(plain_name, _ALL_NAMES)} - {"a", "b"}  # They are also texts.

# Python's limit fits a cell of a spreadsheet; texts are longer.
csv.field_size_limit(2**31 - 1)
_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)
_JSON = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
# A cell in quotes: all quotes in it are doubled.
_QUOTED = re.compile(r'\s*"(?:[^"]|"")*"\s*')
_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
#: Separates the fields of PPDB, which is text in one column.
PPDB_SEPARATOR = " ||| "
# The first lines tell the separator and the header, and in JSON the columns.
_NUM_FIRST = 100
_MAX_NAME_WORDS = 3
_MAX_SHOWN, _MAX_SHOWN_CHARS = 20, 30

_Numbered: TypeAlias = Iterator[tuple[int, list[Any]]]


class Rows:
    r"""The rows of a table, to iterate over once, without those of another length.

    Parquet (extra `parquet`) is recognized by its name, `FILE.parquet`; CSV, text separated by
    tabs, `;` or `|` and JSON lines by their first lines, also if gzipped. Text in a file whose name
    does not end in `.csv` is one column, unless tabs, `;` or `|`, or commas below known names,
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
        separator: `","`, `"\t"`, `";"` or `"|"`; empty for one column and other formats.
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
        remedy = CORRECT_OR_SKIP if flag == "--columns" else CORRECT
        self.bad = BadLines.of(on_bad_line, remedy)
        self._flag = flag
        self._wanted = {column.lower() for column in columns if not column.isdecimal()}
        self.separator = ""
        names: list[str] | None = None
        if Path(path).suffix.lower() == ".parquet":
            rows, names = _parquet_rows(path)
        else:
            lines = read_lines(path)
            head = list(islice(lines, _NUM_FIRST))
            texts = [text for _, text in head if text.strip()]
            if _JSON.search(str(path)) or (texts and texts[0].lstrip().startswith("{")):
                rows, names = _json_rows(path, chain(head, lines), self.bad)
            else:
                self.separator = self._find_separator(texts)
                cells = next((t for t in texts if not t.startswith("#")), "").split("\t")
                is_quoted = all(map(_QUOTED.fullmatch, cells))
                rows = _text_rows(path, chain(head, lines), self.separator, is_quoted)
        self.first = list(islice(rows, _NUM_FIRST))
        if names is None:
            while self.separator and self.first and self.first[0][1][0].startswith("#"):
                if self._is_named(self.first[0][1]):
                    break
                del self.first[0]
            if self.first and self._is_header():
                names = [cell.strip().lstrip("# ") for cell in self.first.pop(0)[1]]
        self.has_header = names is not None
        length = _usual_length(cells for _, cells in self.first)
        names = [""] * length if names is None else names
        self.names = [name or str(number) for number, name in enumerate(names, start=1)]
        self._rows = chain(self.first, rows)
        self._num_good = 0

    def _find_separator(self, lines: Sequence[str]) -> str:
        """Returns the separator of the columns in the first lines; empty if they are one column."""
        lines = [line for line in lines if not line.startswith("#")] or lines
        is_csv = _CSV.search(str(self.path)) is not None
        if not lines or (PPDB_SEPARATOR in lines[0] and not is_csv):
            return ""
        if not is_csv and 2 * sum("\t" in line for line in lines) >= len(lines):
            return "\t"
        share, _, _, best = max((*_fit(lines, each), each == ",", each) for each in ",;\t|")
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
        (_, cells), *below = self.first
        names = [cell.strip().lower() for cell in cells]
        length = _usual_length(cells for _, cells in self.first)
        if self._is_named(cells):
            return True
        if len(cells) != length or any(map(is_decimal, names)):
            return False
        if length == 1:
            return names[0] in TEXT_NAMES
        columns = zip(*(row for _, row in below if len(row) == length), strict=True)
        pairs = list(zip(names, columns, strict=False))
        for name, column in pairs:
            if name and any(column) and all(map(is_decimal, filter(None, column))):
                return True
        if not (pairs and len({*names}) == length and _CSV.search(str(self.path))):
            return False
        for name, column in pairs:
            if len(name.split()) > _MAX_NAME_WORDS or name in map(str.lower, column):
                return False
        say_once(self.path, f"the first line is taken for names of columns: {', '.join(cells)}")
        return True

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        """Yields the 1-based line, or row in Parquet, and the cells."""
        length = len(self.names)
        for line, cells in self._rows:
            if len(cells) == length:
                yield line, cells
                self._num_good += 1
            else:
                expected = f"{length} column{'' if length == 1 else 's'} as in most lines"
                self.report(line, f"expected {expected}, found {len(cells)}")

    def report(self, line: int, message: str) -> None:
        """Reports a bad row; if there was no good one, with the columns instead of advice to skip.

        Raises:
            DataError: The policy is `"error"`.
        """
        self.bad.report(self.path, line, message, "" if self._num_good else self.advice())

    def advice(self) -> str:
        """Returns a sentence that lists the columns and says how to name them."""
        cells = next((row for _, row in self.first if len(row) == len(self.names)), [])
        samples = [as_text(cell).strip()[:_MAX_SHOWN_CHARS] for cell in cells]
        samples += [""] * (len(self.names) - len(cells))
        shown = [f"{name} '{text}'" for name, text in zip(self.names, samples, strict=True)]
        if len(shown) == 1:
            hint = "tabs separate columns, or commas in .csv files."
            return f"There is one column, {shown[0]}; {hint}"
        more = [f"and {len(shown) - _MAX_SHOWN} more"] if len(shown) > _MAX_SHOWN else []
        choose = f"Choose with {self._flag} NAME,NAME (names, or numbers from 1)"
        return (
            f"The columns, each with a value: {', '.join([*shown[:_MAX_SHOWN], *more])}. "
            f"{choose if self._flag else 'Name them in a header, such as left, right, label'}."
        )

    def index(self, column: str) -> int:
        """Returns the 0-based position of a column, given by name or 1-based number.

        Raises:
            DataError: The table lacks the column; the message lists those it has.
        """
        position = column_position(self.names, column)
        if position is None:
            raise DataError(self.path, f"expected a column {column}. {self.advice()}")
        return position


@functools.cache
def say_once(path: str | Path, message: str) -> None:
    """Logs a message once per file, which may be read many times."""
    logger.warning("%s: %s", path, message)


def as_text(value: Any) -> str:
    """Returns a cell as text: empty if it is missing, JSON if it is a list or an object."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    is_json = isinstance(value, list | dict | bool)
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


def column_position(names: Sequence[str], column: str) -> int | None:
    """Returns the position of a column: by its name, in any case, or its 1-based number."""
    lower = [name.lower() for name in names]
    for known, name in ((names, column), (lower, column.lower())):
        if name in known:
            return known.index(name)
    numbers = list(map(str, range(1, len(names) + 1)))
    return numbers.index(column) if column in numbers else None


def _usual_length(rows: Iterable[Sequence[str]]) -> int:
    lengths = Counter(map(len, rows)).most_common(1)
    return lengths[0][0] if lengths else 0


def _fit(lines: Sequence[str], separator: str) -> tuple[float, int]:
    """Returns the share of lines with the usual number of columns, 0 for one, and that number."""
    rows = list(csv.reader((line.replace("\r", " ") for line in lines), delimiter=separator))
    length = _usual_length(rows)
    return sum(len(cells) == length > 1 for cells in rows) / len(rows), length


def _text_rows(
    path: str | Path, lines: Iterator[tuple[int, str]], separator: str, is_quoted: bool
) -> _Numbered:
    """Yields the rows of text; a line is one cell without a separator."""
    if separator == "" or (separator == "\t" and not is_quoted):
        for number, text in lines:
            # A tab alone is two empty cells, not a blank line.
            if text.strip() or (separator and separator in text):
                split = text.split(separator) if separator else [text]
                yield number, list(map(_unquoted, split)) if separator and '""' in text else split
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


def _unquoted(cell: str) -> str:
    """Returns a cell between tabs as it was before quotes in it were doubled, if they were."""
    inner = cell[1:-1].replace('""', '"')
    return inner if _QUOTED.fullmatch(cell) and len(inner) < len(cell) - 2 else cell


def _json_rows(
    path: str | Path, lines: Iterator[tuple[int, str]], bad: BadLines
) -> tuple[_Numbered, list[str]]:
    """Returns the rows of JSON lines, and the keys of the first of them."""
    objects = _json_objects(path, lines, bad)
    first = list(islice(objects, _NUM_FIRST))
    names = list(dict.fromkeys(chain(*(cells for _, cells in first))))

    def rows() -> _Numbered:
        for number, cells in chain(first, objects):
            if new := cells.keys() - set(names):
                bad.report(path, number, f"has a key that the first lines lack: {min(new)}")
            else:
                yield number, [cells.get(name) for name in names]

    return rows(), names


def _json_objects(
    path: str | Path, lines: Iterator[tuple[int, str]], bad: BadLines
) -> Iterator[tuple[int, dict[str, Any]]]:
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
            bad.report(path, number, f"expected a JSON object in each line ({error})")
        else:
            yield number, found


@contextmanager
def _parquet_errors(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise DataError(path, f"cannot be read as Parquet: {error}. Get it again.") from error


def _parquet_rows(path: str | Path) -> tuple[_Numbered, list[str]]:
    """Returns the rows of a Parquet file, and the names of its columns."""
    with _parquet_errors(path):
        file = extra_module("pyarrow.parquet", "parquet").ParquetFile(path)

    def rows() -> _Numbered:
        number = 0
        with _parquet_errors(path):
            for batch in file.iter_batches(batch_size=1000):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, list(cells)

    return rows(), file.schema_arrow.names
