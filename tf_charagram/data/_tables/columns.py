"""Texts with a label or a score in each row of a table; the columns are found by their names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, Unpack

from tf_charagram.data._tables.lines import BadLines, say_once
from tf_charagram.data._tables.scored import ScoredPairs, ScoredRows, is_decimal, set_name
from tf_charagram.data._tables.table_reading import Rows
from tf_charagram.data._tables.tables import TEXT_NAMES
from tf_charagram.errors import ConfigError, DataError

#: What is next to the texts; a match, which may be missing, and a truth are 0 or 1, whether the
#: texts mean the same.
Value = Literal["label", "score", "match", "truth"]

#: Values of a match or truth besides 1 and 0, which no header has.
YES = ("yes", "y", "true", "t")
NO = ("no", "n", "false", "f")
#: Names of columns in common tables; earlier ones take precedence.
PAIR_NAMES = (
    ("sentence_a", "sentence_b"), ("premise", "hypothesis"), ("sentence1", "sentence2"),
    ("question1", "question2"), ("text1", "text2"), ("text_a", "text_b"), ("left", "right"),
    ("a", "b"), ("text", "paraphrase"), ("phrase", "paraphrase"), ("word1", "word2"),
    ("s1", "s2"), ("anchor", "positive"), ("query", "answer"),
)  # fmt: skip
_MATCH_NAMES = ("is_duplicate", "is_match", "duplicate", "match")
_LABEL_NAMES = (
    "label", "gold_label", "entailment_judgment", "entailment_label", "sentiment", "category",
    "class", "intent", "topic", "target",
)  # fmt: skip
_SCORE_NAMES = (
    "score", "relatedness_score", "relatedness", "similarity", "similarity_score", "rating",
)  # fmt: skip
_TRUTH_NAMES = [*_MATCH_NAMES, *_LABEL_NAMES, *_SCORE_NAMES]
_VALUE_NAMES: dict[Value, Sequence[str]] = {
    "label": [*_LABEL_NAMES, *_MATCH_NAMES],
    "score": [*_SCORE_NAMES, *_MATCH_NAMES, *_LABEL_NAMES],
    "match": _TRUTH_NAMES,
    "truth": _TRUTH_NAMES,
}
_AND: dict[Value, str] = {
    "label": " and a label",
    "score": " and a score",
    "match": " and, optionally, of 0 or 1 for whether they mean the same",
    "truth": " and 1 or 0, whether they mean the same",
}
_SPLIT_NAME = "semeval_set"
# Unique labels and whole scores are only suspicious in tables of at least this many rows.
_MIN_ROWS = 10


def plain_name(name: str) -> str:
    """Returns the name of a column in lowercase, without spaces, underscores and marks."""
    return re.sub(r'[\s_"#]', "", name).lower()


class ColumnOptions(TypedDict, total=False):
    """The arguments of all readers of tables, besides the path.

    Attributes:
        columns: The columns of the texts and then of the label or score, each a name of the header
            or a number from 1. Default: well-known names, such as `premise`, `hypothesis` and
            `label`. A file without names has its label or score where a number stands.
        header: Whether the first line of CSV and TSV has the names of the columns. A first line
            with a number in the place of the score or label has no names in any case.
        split: `"train"`, `"trial"` or `"test"`: the rows to keep of a file with the column
            `SemEval_set`, such as `SICK.txt`. Other files are one split.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards. A
            line is bad if its number of columns differs from that of the first line, or if a text
            or label is empty.
    """

    columns: Sequence[str]
    header: bool
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
    header: bool = True,
    num_texts: int = 1,
    is_scored: bool = False,
    allow_unscored: bool = False,
    split: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> list[_Row]:
    """Reads the texts and the label, or the score, of each row of a table.

    Args:
        path: A file of a format that `Rows` lists, or `"-"` for standard input.
        columns: Names or 1-based numbers of the texts, then of the label or score. Default:
            well-known names.
        header: Whether the first line has the names of the columns.
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
    table = Rows(path, header=header, on_bad_line=on_bad_line, has_tabs=True, columns=columns)
    chosen = choose_columns(table, columns, num_texts, "score" if is_scored else "label")
    names = [table.names[position] for position in chosen]
    lowered = [name.lower() for name in table.names]
    has_splits = _SPLIT_NAME in lowered
    if has_splits and split is None:
        raise DataError(path, "holds the splits train, trial and test. Choose one with `split`.")
    positions = [*chosen, lowered.index(_SPLIT_NAME)] if has_splits else chosen
    rows: list[_Row] = []
    for line, found in table.texts(positions):
        cells = [cell.strip() for cell in found]
        if has_splits and cells.pop().lower() != split:
            continue
        *texts, label = cells
        if not (allow_unscored and not label) and not all(cells):
            name = names[cells.index("")]
            kind = "label" if all(texts) else "text"
            # The advice to skip such lines would not help with wrong columns.
            remedy = "" if rows else table.advice()
            message = f"expected a {kind} in column {name}, but it is empty"
            table.bad.report(path, line, message, remedy)
            continue
        rows.append(_Row(line, tuple(texts), label))
    if not rows:
        raise DataError(path, f"no rows found: {table.bad.summary()}. {table.advice()}")
    _check_content(table, rows, names, is_scored)
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
        **options: `columns`, `header`, `split` and `on_bad_line`, a `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong or does not fit the file.
        DataError: The file cannot be read, a line is bad, a column is missing, or there are no
            rows.
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
        group: Group of the set, such as `"sts"`.
        allow_unscored: Whether rows without a score are left out and counted, not bad.
        **options: `columns`, `header`, `split` and `on_bad_line`, a `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong or does not fit the file.
        DataError: The file cannot be read, a line is bad, a column is missing, or there are
            fewer than 2 rows.
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

    Without names, the first line tells: a number in the first column, or in the last one if the
    columns are as many as needed, is the value, and this line is a row. With plain SICK files,
    the label is the fourth column. `header=False` also allows two columns of two texts.

    Args:
        table: The table.
        columns: Names or 1-based numbers; empty for defaults.
        num_texts: Texts in a row: 1 or 2.
        value: Kind of the value.

    Raises:
        ConfigError: `columns` has too few or too many.
        DataError: There is no such column, or no default; the columns are listed.
    """
    needed = f"{'a text' if num_texts == 1 else 'two texts'}{_AND[value]}"
    if columns:
        is_without_match = value == "match" and len(columns) == num_texts
        if len(columns) != num_texts + 1 and not is_without_match:
            raise ConfigError(
                f"`columns` must name {needed}. Received: columns={','.join(columns)}"
            )
        if table.first_line and table.has_header and all(map(str.isdecimal, columns)):
            _check_header(table, columns[num_texts:])
        return [table.index(column) for column in columns]
    if not table.names:
        raise DataError(table.path, "no rows found: the file is empty")
    if table.has_header:
        chosen = _by_name(table.names, num_texts, value)
    elif _by_name(table.first_line, num_texts, value):
        shown = ", ".join(table.first_line)
        message = f"the first line has the names of columns: {shown}. Leave out --no-header"
        raise DataError(table.path, f"{message} (in Python, header=False).", 1)
    else:
        is_pair = value == "match" and len(table.names) == 2
        chosen = (0, 1) if is_pair else None
    # JSON and Parquet name their columns and have no first line.
    if table.first_line and (chosen is None or len(chosen) == num_texts):
        numbered = _by_number(table.first_line, num_texts, value)
        if numbered is not None and table.has_header:
            table.unread_header()
        chosen = numbered or chosen
    if chosen is None:
        raise DataError(table.path, f"expected columns of {needed}. {table.advice()}")
    return chosen


def _check_header(table: Rows, value: Sequence[str]) -> None:
    """Makes a first line with a number as its value a row, and says that another is the header."""
    cells = table.first_line
    numbers = [str(number) for number, cell in enumerate(cells, start=1) if is_decimal(cell)]
    if any(column in numbers for column in value):
        table.unread_header()
    else:
        message = "the first line has the names of columns (if not, add --no-header)"
        say_once(table.path, f"{message}: {', '.join(cells)}")


def _by_name(names: Sequence[str], num_texts: int, value: Value) -> Sequence[int] | None:
    plain = list(map(plain_name, names))
    choices = PAIR_NAMES if num_texts == 2 else [(name,) for name in TEXT_NAMES]
    texts = next((each for each in choices if {*map(plain_name, each)} <= {*plain}), None)
    values = [name for name in _VALUE_NAMES[value] if plain_name(name) in plain]
    if texts is None or not (values or value == "match"):
        return None
    # The first value takes precedence.
    chosen = map(plain_name, (*texts, *values[:1]))
    return list(map(plain.index, chosen))


def _by_number(cells: Sequence[str], num_texts: int, value: Value) -> Sequence[int] | None:
    """Returns the columns of a file without names by the value in its first line."""
    is_number = [is_decimal(cell) for cell in cells]
    width = len(cells)
    # Rows that are named by their numbers have three numbers.
    has_truth = value in ("match", "truth")
    may_be_last = has_truth or not is_number[0]
    is_truth = has_truth and cells[-1].strip().lower() in (*YES, *NO)
    if width == num_texts + 1 and (is_number[-1] or is_truth) and may_be_last:
        return range(width)
    if width <= num_texts or not is_number[0] or value == "match":
        return None
    # SICK without a header: the number of the pair, two texts, and the label.
    is_plain_sick = (num_texts, width, value) == (2, 4, "label")
    if is_plain_sick and not is_number[3]:
        return 1, 2, 3
    return *range(1, num_texts + 1), 0


def _check_content(
    table: Rows, rows: Sequence[_Row], names: Sequence[str], is_scored: bool
) -> None:
    """Raises a `DataError` if a column has numbers instead of texts, or numbers of the rows."""
    for name, *texts in zip(names, *(row.texts for row in rows), strict=False):
        if 2 * sum(map(is_decimal, texts)) > len(texts):
            raise DataError(
                table.path,
                f"column {name} should hold texts, but it holds numbers, such as '{texts[0]}'. "
                f"{table.advice()}",
            )
    labels = [row.label for row in rows]
    # Scores with decimals may all differ.
    has_decimals = is_scored and not all(map(str.isdecimal, labels))
    if len(rows) < _MIN_ROWS or has_decimals:
        return
    if len(set(labels)) == len(rows):
        raise DataError(
            table.path,
            f"column {names[-1]} should hold {'scores' if is_scored else 'labels'}, but all "
            f"{len(rows)} rows differ, such as '{labels[0][:40]}'. {table.advice()}",
        )
