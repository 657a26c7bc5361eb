"""Texts with a label or a score in each row of a table; the columns are found by their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, Unpack

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs, ScoredRows, is_decimal, set_name
from tf_charagram.data.readers.table_rows import as_text
from tf_charagram.data.readers.tables import (
    LABEL_NAMES,
    MATCH_NAMES,
    PAIR_NAMES,
    SCORE_NAMES,
    Rows,
    plain_name,
)
from tf_charagram.data.tables import TEXT_NAMES
from tf_charagram.errors import ConfigError, DataError

#: What is next to the texts; a match is 0 or 1, whether the texts mean the same.
Value = Literal["label", "score", "match"]

_VALUE_NAMES: dict[Value, Sequence[str]] = {
    "label": [*LABEL_NAMES, *MATCH_NAMES],
    "score": [*SCORE_NAMES, *MATCH_NAMES, *LABEL_NAMES],
    "match": [*MATCH_NAMES, *LABEL_NAMES, *SCORE_NAMES],
}
_SPLIT_NAME = "semeval_set"
# Unique labels and whole scores are only suspicious in tables of at least this many rows.
_MIN_ROWS = 10


class ColumnOptions(TypedDict, total=False):
    """The arguments of all readers of tables, besides the path.

    Attributes:
        columns: The columns of the texts and then of the label or score, each a name of the header
            or a number from 1. Defaults to well-known names if there is a header, such as
            `premise`, `hypothesis` and `label`. Else the label or score is column 1 and the texts
            follow, except for a score in the third of three columns, and a label in the fourth of
            four, as in plain SICK files.
        split: `"train"`, `"trial"` or `"test"`: the rows to keep of a file with the column
            `SemEval_set`, such as `SICK.txt`. Other files are one split.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A
            line is bad if its number of columns differs from that of most lines, or if a text or
            label is empty.
    """

    columns: Sequence[str]
    split: str | None
    on_bad_line: str | BadLines


class _Row(NamedTuple):
    """One row of a table.

    Attributes:
        line: Its 1-based line.
        texts: Its texts, stripped and not empty.
        label: Its label or score, stripped; empty only if `allow_unscored`.
    """

    line: int
    texts: tuple[str, ...]
    label: str


def read_columns(
    path: str | Path,
    *,
    columns: Sequence[str] = (),
    num_texts: int = 1,
    is_scored: bool = False,
    allow_unscored: bool = False,
    split: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> list[_Row]:
    """Reads the texts and the label, or the score, of each row of a table.

    Args:
        path: A file of a format that `Rows` lists, or `"-"` for standard input.
        columns: See `ColumnOptions`, as for `split` and `on_bad_line`.
        num_texts: Texts in a row: 1 or 2.
        is_scored: Whether the rows have scores, not labels.
        allow_unscored: Whether to return rows with an empty score as well.
        split: The rows to keep of a file with several splits.
        on_bad_line: Policy for bad lines.

    Raises:
        ConfigError: The number of columns or `on_bad_line` is wrong.
        DataError: The file cannot be read, a line is bad, there are no rows, or a column is
            missing, or does not hold texts or labels as it should.
    """
    table = Rows(path, columns, on_bad_line=on_bad_line)
    chosen = choose_columns(table, columns, num_texts, "score" if is_scored else "label")
    names = [name.lower() for name in table.names]
    split_column = names.index(_SPLIT_NAME) if _SPLIT_NAME in names else None
    if split_column is not None and split is None:
        raise DataError(path, "holds the splits train, trial and test. Choose one with `split`.")
    rows = []
    for line, values in table:
        cells = [as_text(value).strip() for value in values]
        if split_column is not None and cells[split_column].lower() != split:
            continue
        *texts, label = (cells[i] for i in chosen)
        if not (allow_unscored and not label) and not all([*texts, label]):
            empty = next(i for i in chosen if not cells[i])
            kind = "label" if empty == chosen[-1] else "text"
            name = table.names[empty]
            table.report(line, f"expected a {kind} in column {name}, but it is empty")
            continue
        rows.append(_Row(line, tuple(texts), label))
    if not rows:
        raise DataError(path, f"no rows found: {table.bad.summary()}. {table.advice()}")
    _check_content(table, rows, chosen, is_scored)
    return rows


@dataclass(frozen=True)
class Labelled:
    """Texts, or pairs of texts, with a label each.

    Attributes:
        name: Name of the set.
        sides: The texts: one list, or left and right ones.
        labels: Label of each text or pair.
    """

    name: str
    sides: tuple[list[str], ...]
    labels: list[str]


def read_labelled(
    path: str | Path,
    num_texts: int,
    *,
    name: str | None = None,
    **options: Unpack[ColumnOptions],
) -> Labelled:
    """Reads texts or pairs of texts with labels from a table, for example SICK.

    Args:
        path: A file of a format that `Rows` lists, or `"-"` for standard input.
        num_texts: Texts in a row: 1 or 2.
        name: Name of the set. Default: the file name without suffix.
        **options: See `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong or does not fit the file.
        DataError: See `read_columns`.
    """
    rows = read_columns(path, num_texts=num_texts, **options)
    sides = tuple([row.texts[side] for row in rows] for side in range(num_texts))
    return Labelled(name or set_name(path), sides, [row.label for row in rows])


def read_scored_pairs(
    path: str | Path,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    name: str | None = None,
    group: str | None = None,
    allow_unscored: bool = False,
    **options: Unpack[ColumnOptions],
) -> ScoredPairs:
    """Reads pairs of texts with scores from a table, for example SICK.

    Args:
        path: A file of a format that `Rows` lists, or `"-"` for standard input.
        low: Lowest possible score; a lower one makes a line bad.
        high: Highest possible score.
        name: Name of the set. Default: the file name without suffix.
        group: Group of the set, see `ScoredPairs`.
        allow_unscored: Whether rows without a score are left out and counted, not bad.
        **options: See `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong or does not fit the file.
        DataError: See `read_columns`; or there are fewer than 2 rows.
    """
    options["on_bad_line"] = bad = BadLines.of(options.get("on_bad_line", "error"))
    scored = ScoredRows(path, bad, low, high)
    for row in read_columns(
        path, num_texts=2, is_scored=True, allow_unscored=allow_unscored, **options
    ):
        scored.add(row.line, row.texts, row.label)
    return scored.to_pairs(name or set_name(path), "pearson", group)


def choose_columns(
    table: Rows, columns: Sequence[str], num_texts: int, value: Value
) -> Sequence[int]:
    """Returns the 0-based positions of the texts and of the value, which a match may lack.

    Args:
        table: The table.
        columns: Names or 1-based numbers; empty for defaults, see `ColumnOptions`.
        num_texts: Texts in a row: 1 or 2.
        value: Kind of the value.

    Raises:
        ConfigError: `columns` has too few or too many.
        DataError: There is no such column, or no default; the columns are listed.
    """
    needed = f"{'a text' if num_texts == 1 else 'two texts'}{_AND[value]}"
    if columns:
        if len(columns) != num_texts + 1 and (value, len(columns)) != ("match", num_texts):
            raise ConfigError(
                f"`columns` must name {needed}. Received: columns={','.join(columns)}"
            )
        return [table.index(column) for column in columns]
    if not table.names:
        raise DataError(table.path, "no rows found: the file is empty")
    by_default = _by_name if table.has_header else _by_position
    chosen = by_default(table, num_texts, value)
    if chosen is None:
        raise DataError(table.path, f"expected columns of {needed}. {table.advice()}")
    return chosen


_AND: dict[Value, str] = {
    "label": " and a label",
    "score": " and a score",
    "match": " and, optionally, of 0 or 1 for whether they mean the same",
}


def _by_name(table: Rows, num_texts: int, value: Value) -> Sequence[int] | None:
    names = list(map(plain_name, table.names))
    choices = PAIR_NAMES if num_texts == 2 else [(name,) for name in TEXT_NAMES]
    texts = next((each for each in choices if set(map(plain_name, each)) <= {*names}), None)
    values = [name for name in _VALUE_NAMES[value] if plain_name(name) in names][:1]
    if texts is None or not (values or value == "match"):
        return None
    return [names.index(plain_name(name)) for name in (*texts, *values)]


def _by_position(table: Rows, num_texts: int, value: Value) -> Sequence[int] | None:
    num_columns = len(table.names)
    if value == "match":
        return (0, 1) if num_columns == 2 else None
    if num_columns <= num_texts:
        return None
    has_score = _holds_numbers(table, 0)
    if value == "score" and not has_score:
        return (0, 1, 2) if num_columns == 3 and _holds_numbers(table, 2) else None
    is_plain_sick = (num_texts, num_columns, value) == (2, 4, "label") and has_score
    return (1, 2, 3) if is_plain_sick else (*range(1, num_texts + 1), 0)


def _holds_numbers(table: Rows, column: int) -> bool:
    """Returns whether most of the first rows with a value in a column have a number there."""
    cells = [as_text(row[column]).strip() for _, row in table.first if len(row) > column]
    return 2 * sum(map(is_decimal, cells)) > len([*filter(None, cells)])


def _check_content(
    table: Rows, rows: Sequence[_Row], chosen: Sequence[int], is_scored: bool
) -> None:
    """Raises a `DataError` if a column has numbers instead of texts, or numbers of the rows."""
    *_, label = names = [table.names[i] for i in chosen]
    for name, *texts in zip(names, *(row.texts for row in rows), strict=False):
        if 2 * sum(map(is_decimal, texts)) > len(texts):
            raise DataError(
                table.path,
                f"column {name} should hold texts, but it holds numbers, such as '{texts[0]}'. "
                f"{table.advice()}",
            )
    first, *others = (row.label for row in rows)
    if len(rows) < _MIN_ROWS or (is_scored and not all(map(str.isdecimal, [first, *others]))):
        return
    if len({first, *others}) == len(rows):
        raise DataError(
            table.path,
            f"column {label} should hold {'scores' if is_scored else 'labels'}, but all "
            f"{len(rows)} rows differ, such as '{first[:40]}'. {table.advice()}",
        )
    if not (is_scored or table.has_header) and first not in others:
        raise DataError(
            table.path,
            f"looks like a header, because no other line has a label like '{first[:40]}'. If it is "
            "one, name its columns with --columns; otherwise move the line.",
            rows[0].line,
        )
