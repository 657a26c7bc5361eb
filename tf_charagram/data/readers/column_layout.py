"""The layout of a table: which column holds what, by name or by position."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import ConfigError, DataError

# Column names of the data sets that people have, in lower case; the first that is there counts.
_LABEL_NAMES = ("label", "gold_label", "entailment_judgment", "entailment_label", "sentiment")
_SCORE_NAMES = ("score", "relatedness_score", "relatedness", "similarity")
#: What the two columns of pairs of texts are called.
PAIR_NAMES = (
    ("sentence_a", "sentence_b"),
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("left", "right"),
)
_TEXT_NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("text",), ("sentence",), ("review",), ("phrase",)),
    2: PAIR_NAMES,
}
_KNOWN = {*_LABEL_NAMES, *_SCORE_NAMES, *itertools.chain(*_TEXT_NAMES[1], *_TEXT_NAMES[2])}
_SPLIT_NAME = "semeval_set"


def scored_columns(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Returns where score and texts are in a header of well-known names; `None` for other cells."""
    places = {cell.strip().lower(): place for place, cell in enumerate(cells)}
    scores = [places[name] for name in _SCORE_NAMES if name in places]
    texts = [pair for pair in PAIR_NAMES if places.keys() >= {*pair}]
    return (scores[0], places[texts[0][0]], places[texts[0][1]]) if scores and texts else None


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


@dataclass(frozen=True)
class Layout:
    """The layout of a table: where the cells of a row are.

    Attributes:
        names: Names of the columns in messages: names of the header, or numbers.
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


class LayoutFinder:
    """Finds columns by what the first line of a table holds.

    Args:
        path: The file that messages name.
        line: The 1-based number of its first line.
        cells: The cells of that line.
        header: Whether that line holds names of columns; `None` to tell by what it holds.
        given: The columns that the caller named.

    Attributes:
        has_header: Whether the first line holds names of columns.
    """

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
    ) -> Layout:
        """Returns where the cells of a row are; arguments and errors as for `read_columns`."""
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
        return Layout(names, tuple(indices[:-1]), indices[-1], self._split(split), self._line)

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
        header = ", ".join(self._cells)
        return DataError(
            self._path,
            f"expected one of these in the header: {', '.join(names)}; found {header}. "
            f"Say which column it is with {argument}.",
            self._line,
        )

    def _index(self, column: str) -> int:
        if column in map(str, range(len(self._cells))):
            return int(column)
        if column.lower() in self._lower and self.has_header:
            return self._lower.index(column.lower())
        columns = f"{len(self._cells)} columns"
        if self.has_header:
            columns += f": {', '.join(self._cells)}"
        if column.isdecimal():
            column += ", counted from 0"
        raise DataError(self._path, f"expected a column {column}; found {columns}", self._line)

    def _split(self, split: str | None) -> tuple[int, str] | None:
        if not self.has_header or _SPLIT_NAME not in self._lower:
            return None
        if split is None:
            raise DataError(
                self._path, "holds the splits train, trial and test. Say which with `split`."
            )
        return self._lower.index(_SPLIT_NAME), split.lower()
