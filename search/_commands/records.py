"""The part of `charagram match` and `dedupe` for tables with several columns."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli._flags.table_flags import read_input, texts_of
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.search._commands.search import model_of

if TYPE_CHECKING:
    from argparse import Namespace

    from tf_charagram.data._tables.tables import Table
    from tf_charagram.search._pairs.learning import Learned
    from tf_charagram.search.linkage._columns.columns import Column
    from tf_charagram.search.linkage._fellegi_sunter.labels import Label
    from tf_charagram.search.linkage._fellegi_sunter.linking import Evidence
    from tf_charagram.search.linkage.answers import Duplicates, Matches
    from tf_charagram.search.linkage.estimates import Estimate

# Flags without an effect on several columns, and on one.
_ONE_COLUMN = ("vectors_only",)
_SEVERAL_COLUMNS = ("column", "identifies")
# The next higher threshold, of which half of the pairs should be left.
_MIN_STEP = 0.1
# Characters of the longest bar of the histogram of scores.
_MAX_BAR = 40


def tell(line: str) -> None:
    """Writes a line to standard error."""
    sys.stderr.write(f"{line}\n")


def add_column_flag(parser: Parser) -> None:
    """Adds `--column`, the kind of a column."""
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME:KIND",
        help="kind of a column of --on: text, name, code, number, date, time or list [told from "
        "the values]",
    )
    parser.add_argument(
        "--identifies",
        metavar="NAMES",
        help="columns of --on that identify a thing, separated by commas; the others may change "
        "[told from the names and values]",
    )


def add_record_flags(parser: Parser) -> None:
    """Adds the flags for rows of tables."""
    add_column_flag(parser)
    parser.add_argument(
        "--key", metavar="NAME", help="column by which --labels name rows [row numbers from 0]"
    )
    parser.add_argument(
        "--explain", action="store_true", help="add a column with the evidence of each column"
    )


def check_record_flags(parser: Parser, values: Namespace) -> None:
    """Checks that the flags fit the number of columns of `--on`.

    Raises:
        ConfigError: A flag would have no effect, or a number is not positive.
    """
    if len(values.on) > 1:
        parser.refuse(values, _ONE_COLUMN, "is for one column: several are compared by their kinds")
    else:
        parser.refuse(values, _SEVERAL_COLUMNS, "is for several columns, as --on name,city")
    if values.labels is None:
        parser.refuse(values, ("key",), "is for --labels")


def check_on_right(values: Namespace) -> None:
    """Checks that `--on-right` names as many columns as `--on`.

    Raises:
        ConfigError: It names more or fewer.
    """
    on_right = values.on if values.on_right is None else values.on_right
    if len(values.on) != len(on_right):
        raise ConfigError(
            "--on and --on-right must name the same number of columns. "
            f"Received: {','.join(values.on)} and {','.join(on_right)}"
        )


def kinds_of(values: Namespace, table: Table) -> dict[str, str]:
    """Returns the kinds of `--column` by name.

    Raises:
        ConfigError: A value has no colon, or its column is not compared.
    """
    return {
        _compared_name(values, table, name, "--column"): kind for name, kind in given_kinds(values)
    }


def given_kinds(values: Namespace) -> Iterator[tuple[str, str]]:
    """Yields the name and the kind of each `--column`.

    Raises:
        ConfigError: A value has no colon.
    """
    for given in values.column:
        name, colon, kind = given.rpartition(":")
        if not colon:
            raise ConfigError(f"--column must be NAME:KIND, such as born:date. Received: {given}")
        yield name, kind


def identifying_of(values: Namespace, table: Table) -> list[str] | None:
    """Returns the names of `--identifies`, or `None` without it."""
    if values.identifies is None:
        return None
    names = given_names(values.identifies)
    return [_compared_name(values, table, name, "--identifies") for name in names]


def _compared_name(values: Namespace, table: Table, given: str, flag: str) -> str:
    """Returns the distinct name of a column that is compared.

    Args:
        values: The values of the flags.
        table: The table.
        given: The name or number of the column, or its distinct name, as it is printed.
        flag: The flag that names it.

    Raises:
        ConfigError: The column is not in the table, or not compared.
    """
    names = _distinct_names(table, values.on)
    if given in names and given not in table.columns:
        return given
    position = table.index(given)
    compared = [table.index(name) for name in values.on]
    if position not in compared:
        listed = ", ".join(names)
        raise ConfigError(f"{flag} must name a column of --on: {listed}. Received: {given}")
    return names[compared.index(position)]


def given_names(text: str) -> list[str]:
    """Splits the value of `--identifies` at commas."""
    return list(filter(None, map(str.strip, text.split(","))))


def columns_of(table: Table, on: Sequence[str]) -> dict[str, list[Any]]:
    """Returns columns of a table, which may be given by number, by distinct names."""
    return dict(zip(_distinct_names(table, on), map(table.column, on), strict=True))


def _distinct_names(table: Table, on: Sequence[str]) -> list[str]:
    """Returns the names of columns; the second of one name ends in `_2`."""
    names: list[str] = []
    for given in on:
        name = table.columns[table.index(given)]
        while name in names:
            name += "_2"
        names.append(name)
    return names


def _read_record_labels(values: Namespace, left: Table, right: Table) -> list[Label]:
    """Reads the table of `--labels`, with the columns `left`, `right` and `match`.

    Rows are named by their numbers, by the values of the column `--key`, or by their texts.

    Raises:
        DataError: The file cannot be read or lacks a column.
        ConfigError: A table lacks the column, or a key is in no row or in several rows.
    """
    from tf_charagram.data._tables.tables import column_position
    from tf_charagram.data.readers.pairs import read_labels

    key = values.key
    for table, side in ((left, "left"), (right, "right")):
        if key is not None and column_position(table.columns, key) is None:
            named = "the table" if left is right else f"the {side} table"
            advice = unknown_name("column", key, table.columns)
            raise ConfigError(f"--key must name a column of {named}. {advice}")
    labels = read_labels(values.labels, encoding=values.encoding, on_bad_line=values.on_bad_line)
    left_rows = _rows_by_key(left, key)
    right_rows = _rows_by_key(right, key)

    def row_of(rows: dict[str, list[int]], name: str) -> int | str:
        found = rows.get(name, [])
        if key is not None and len(found) != 1:
            raise ConfigError(
                f"--labels must name a row by the column {key}. Received: {name!r}, which is in "
                f"{len(found) or 'no'} row{'' if not found else 's'}"
            )
        return found[0] if found else name

    return [
        (row_of(left_rows, one), row_of(right_rows, other), is_match)
        for one, other, is_match in labels
    ]


def _rows_by_key(table: Table, key: str | None) -> dict[str, list[int]]:
    """Returns the rows of each key."""
    keys = map(str, range(len(table))) if key is None else table.column(key)
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(keys):
        rows.setdefault(value, []).append(row)
    return rows


def answer_options(values: Namespace, left: Table, right: Table) -> dict[str, Any]:
    """Returns the arguments that `match` and `deduplicate` have in common."""
    options: dict[str, Any] = {
        "model": model_of(values),
        "threshold": values.threshold,
        "labels": _read_record_labels(values, left, right) if values.labels else None,
    }
    if len(values.on) > 1:
        kinds, identifies = kinds_of(values, left), identifying_of(values, left)
        return {**options, "kinds": kinds, "identifies": identifies}
    return {**options, "lexical": not values.vectors_only, "shows_progress": True}


def read_right(values: Namespace) -> tuple[Table, Sequence[str]]:
    """Reads the right table; returns it and its columns of `--on-right`, or of `--on`."""
    on_right = values.on_right
    hint = ""
    if on_right is None:
        on_right = values.on
        hint = " If its columns have other names, give them with --on-right."
    return read_input(values.right, values, on_right, hint), on_right


def compared(table: Table, on: Sequence[str]) -> dict[str, list[Any]]:
    """Returns the columns that are compared: those that are named, or the one of texts."""
    return columns_of(table, on) if on else {"text": texts_of(table)}


def say_answer(values: Namespace, found: Matches | Duplicates) -> None:
    """Writes kinds of columns, scores on labels and estimates to standard error."""
    if len(found.links.columns) > 1:
        say_kinds(found.links.columns)
    for side, has_copies in zip(("left", "right"), found.links.have_copies, strict=True):
        if has_copies:
            tell(
                f"the {side} table has copies of rows (charagram dedupe finds them): of these, the "
                "best partner is shown"
            )
    say_learned(found.learned)
    if values.labels and found.learned is None:
        tell(f"{values.labels} has fewer than two matches or two others: nothing was learned")
    say_estimates(found.estimates, found.threshold)


def say_kinds(columns: Sequence[Column]) -> None:
    """Writes the kinds of the columns, and the columns that identify, to standard error."""
    from tf_charagram.search.linkage._columns.columns import notes_of

    kinds = {column.name: column.kind.name for column in columns}
    names = [column.name for column in columns if column.is_identifying]
    say_named_kinds(kinds, names)
    for note in notes_of(columns):
        tell(note)


def say_named_kinds(kinds: Mapping[str, str], identifies: Sequence[str]) -> None:
    """Writes the kinds of columns, and the columns that identify, to standard error."""
    named = ", ".join(f"{name}:{kind}" for name, kind in kinds.items())
    tell(f"columns: {named} (to change: --column NAME:KIND)")
    names = f"{', '.join(identifies)}; others" if identifies else "none; all"
    tell(f"identify: {names} may change (to change: --identifies)")


def say_estimates(estimates: Sequence[Estimate], threshold: float) -> None:
    """Writes the expected precision and recall to standard error."""
    from tf_charagram.search.linkage.estimates import MIN_MATCHES

    chosen = estimate_at(estimates, threshold)
    if chosen.num_pairs < MIN_MATCHES:
        tell("too few matches to estimate precision and recall")
        return
    tell("threshold     pairs  precision         recall (estimated, with bounds)")
    for each in estimates:
        mark = " *" if each.threshold == threshold else ""
        precision = _bounded_text(each.precision, each.precision_bounds)
        recall = _bounded_text(each.recall, each.recall_bounds)
        tell(f"{each.threshold:9.2f} {each.num_pairs:9,}  {precision:16}  {recall}{mark}")
    _say_narrow(estimates, threshold)


def say_scores(counts: Sequence[int]) -> None:
    """Writes a histogram of scores to standard error, to choose a threshold by."""
    for place, count in enumerate(counts):
        if count:
            # Rounded up, so that no bar is empty.
            bar = "#" * math.ceil(_MAX_BAR * count / max(counts))
            tell(f"score {place / len(counts):.2f}  {count:9,}  {bar}")


def estimate_at(estimates: Sequence[Estimate], threshold: float) -> Estimate:
    """Returns the estimate at a threshold."""
    [chosen] = [each for each in estimates if each.threshold == threshold]
    return chosen


def _say_narrow(estimates: Sequence[Estimate], threshold: float) -> None:
    """Says on standard error if most pairs are barely above the threshold."""
    chosen = estimate_at(estimates, threshold)
    higher = [each for each in estimates if each.threshold >= threshold + _MIN_STEP]
    if higher and higher[0].num_pairs < chosen.num_pairs / 2:
        tell(
            f"{chosen.num_pairs:,} pairs at {threshold:.2f} and {higher[0].num_pairs:,} at "
            f"{higher[0].threshold:.2f}: probabilities hardly differ, so a threshold means little. "
            "Label some pairs (charagram label)"
        )


def _bounded_text(value: float, bounds: tuple[float, float]) -> str:
    """Returns a value with its bounds, `0.95 (0.90-0.98)`."""
    # The only value that differs from itself is NaN.
    if value != value:
        return "not known"
    lower, upper = bounds
    return f"{value:.2f} ({lower:.2f}-{upper:.2f})"


def evidence_text(evidence: Iterable[Evidence]) -> str:
    """Returns the evidence of a pair in one line, in bits."""
    parts = []
    for each in evidence:
        agreement = f" {each.agreement}" if each.agreement else ""
        parts.append(f"{each.column}{agreement} {each.weight:+.1f}")
    return "; ".join(parts)


def say_learned(learned: Learned | None) -> None:
    """Writes the learned threshold to standard error."""
    if learned is not None:
        tell(
            f"learned from labels: threshold {learned.threshold:.2f}, precision "
            f"{learned.precision:.2f}, recall {learned.recall:.2f} (on held-out labels)"
        )
