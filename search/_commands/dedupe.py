"""`charagram dedupe`: finds the rows of a table that are the same thing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tf_charagram._files.json_files import read_json, write_json
from tf_charagram._files.writing import FolderLock, partial_folder
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli._flags.table_flags import (
    check_input_flags,
    check_table_output,
    read_input,
    texts_of,
)
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search._commands.files import (
    add_folder_flags,
    files_of,
    is_folder,
    options_of,
    say,
)
from tf_charagram.search._commands.match import add_threshold_flags
from tf_charagram.search._commands.records import (
    add_record_flags,
    answer_options,
    check_record_flags,
    columns_of,
    compared,
    estimate_at,
    evidence_text,
    identifying_of,
    kinds_of,
    say_answer,
    say_kinds,
    say_scores,
    tell,
)
from tf_charagram.search._commands.search import add_scoring_flags, model_of

if TYPE_CHECKING:
    from argparse import Namespace

    from tf_charagram.data._tables.tables import Table
    from tf_charagram.search.growing import GroupedRows
    from tf_charagram.search.linkage.answers import Duplicates
    from tf_charagram.search.linkage.estimates import Estimate

# Warnings of a kind that are shown.
_NUM_SHOWN = 5
# Flags that need all rows at once, and flags that hold for all rows of a folder.
_AT_ONCE = ("drop", "explain", "groups", "labels")
_FIXED = ("on", "model", "vectors_only", "threshold", "column", "identifies")
# Note in a folder about rows whose groups are not written yet.
_UNWRITTEN = "unwritten.json"
# Rows are dropped without --yes only if the lower bound of the precision is higher.
_MIN_PRECISION = 0.8


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram dedupe", description=__doc__)
    parser.add_argument("table", help="table, or file of texts; or files, as 'folder/*.parquet'")
    add_scoring_flags(parser)
    add_threshold_flags(parser, "0.5; 0.7 with --vectors-only")
    add_record_flags(parser)
    parser.add_argument(
        "--groups",
        choices=("average", "components"),
        default="average",
        help="parts of a group match on average, or chains of pairs connect its rows [average]",
    )
    parser.add_argument(
        "--drop",
        action="store_true",
        help="write one row of each group [all rows, with columns group, kept and score]",
    )
    parser.add_argument(
        "--into",
        metavar="FOLDER",
        help="add the rows to the groups of a folder, whose numbers stay; the first call makes it",
    )
    parser.add_argument(
        "--merge",
        action="store_true",
        help="groups become one if new or earlier rows connect them [they stay, with a warning]",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="drop rows even if fewer than 80 %% of the pairs may be right",
    )
    add_folder_flags(parser)
    return parser


def dedupe(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = _make_parser()
    values = parser.parse_args(arguments)
    check_record_flags(parser, values)
    if is_folder(parser, values, values.table):
        from tf_charagram.search._partitions.tables import deduplicate_files

        files = files_of(values.table)
        say(
            values,
            deduplicate_files(files, values.output, groups=values.groups, **options_of(values)),
        )
        return 0
    if values.drop:
        parser.refuse(values, ("explain",), "does not go with --drop")
    else:
        parser.refuse(values, ("yes",), "is for --drop")
    if values.into is None:
        parser.refuse(values, ("merge",), "is for --into")
    check_table_output(values, values.table)
    check_input_flags(values, values.table)
    if values.into is not None:
        return _add_rows(parser, values)
    from tf_charagram.search.matching import deduplicate

    table = read_input(values.table, values, values.on)
    columns = compared(table, values.on)
    found = deduplicate(
        columns, on=list(columns), groups=values.groups, **answer_options(values, table, table)
    )
    # Cosines are no probabilities.
    if values.drop and not values.yes and not values.vectors_only:
        _check_precision(found.estimates, found.threshold)
    if values.drop:
        table.take(found.kept).write(values.output)
    else:
        _add_columns(table, found, values.explain)
        table.write(values.output)
    _say_groups(values, found, len(table))
    return 0


def _say_groups(values: Namespace, found: Duplicates, num_rows: int) -> None:
    """Tells of groups of duplicates, and of the scores of their rows."""
    from tf_charagram.search.linkage.estimates import histogram

    say_answer(values, found)
    weak_links = []
    for link in found.weak_links:
        weak_links.append(
            f"only rows {link.left} and {link.right} (score {link.probability:.2f}) "
            f"hold two parts of a group of {link.size} rows together"
        )
    _warn(weak_links, "pairs")
    shown: list[float] = []
    for group in found.groups:
        # The first row of a group is the one that is kept, with itself as its partner.
        shown += group.scores[1:]
    say_scores(histogram(shown))
    tell(
        f"{len(found.kept):,} of {num_rows:,} rows kept, groups of duplicates: "
        f"{len(found.groups):,}, threshold {found.threshold:.2f}"
    )


def _add_rows(parser: Parser, values: Namespace) -> int:
    """Adds the rows of a table to the groups of a folder; returns the exit status."""
    from tf_charagram.search.growing import GroupedRows

    parser.refuse(values, _AT_ONCE, "does not go with --into")
    folder = Path(values.into)
    # Numbers that were written are never given again, so the folder comes first. Until the output
    # is there, a note in the folder tells the same command from one that adds more rows.
    note: dict[str, Any] = {
        "input": values.table,
        "output": values.output,
        "flags": {name: getattr(values, name) for name in _FIXED},
    }
    with FolderLock(folder) if folder.exists() else nullcontext():
        if folder.exists():
            grouped = GroupedRows.load(folder)
            table = _add_once(parser, values, grouped, note["flags"])
            note["num_rows"] = len(grouped) - len(table)
            write_json(folder / _UNWRITTEN, note)
            grouped.save(folder)
        else:
            table = read_input(values.table, values, values.on)
            grouped = _first_groups(values, table)
            with partial_folder(folder) as partial:
                made = partial / "made"
                grouped.save(made)
                write_json(made / _UNWRITTEN, {**note, "num_rows": 0})
                made.rename(folder)
        num_old = len(grouped) - len(table)
        groups = grouped.groups[num_old:]
        table.add("group", groups)
        # A reader such as `head` may have enough.
        with suppress(BrokenPipeError):
            table.write(values.output)
            sys.stdout.flush()
        (folder / _UNWRITTEN).unlink()
    old_groups = set(grouped.groups[:num_old])
    num_joined = sum(group in old_groups for group in groups)
    tell(
        f"{num_joined:,} of {len(table):,} rows joined old groups; {folder}: {len(grouped):,} rows "
        f"in {len(set(grouped.groups)):,} groups, threshold {grouped.threshold:.2f}"
    )
    return 0


def _add_once(
    parser: Parser, values: Namespace, grouped: GroupedRows, flags: dict[str, Any]
) -> Table:
    """Adds the rows of a table, unless the same command did so and could not write its output.

    Raises:
        RunError: Another command could not write its output.
    """
    path = Path(values.into, _UNWRITTEN)
    note = read_json(path) if path.exists() else None
    if note is not None and note["num_rows"] == len(grouped):
        # It ended before it saved the folder.
        note = None
    if note is None or note["flags"] != flags:
        parser.refuse(values, _FIXED, f"was chosen when {values.into} was made")
    table = read_input(values.table, values, grouped.on)
    rows = _compared(table, grouped.on)
    if note is not None:
        if not grouped.has_last(rows, note["num_rows"]):
            raise RunError(
                f"{values.into} has the rows of {note['input']}, but {note['output']} was not "
                f"written. Repeat that command first, or delete {path} to go on without."
            )
        tell(f"{values.into} has the rows of {values.table}: they are not added again")
        rows = _compared(table.take([]), grouped.on)
    added = grouped.add(rows, merge=values.merge)
    _say_merges(added.merges, values.merge)
    return table


def _first_groups(values: Namespace, table: Table) -> GroupedRows:
    """Groups the rows of the first table."""
    from tf_charagram.search.growing import GroupedRows
    from tf_charagram.search.linkage.linker import Linker

    rows = _compared(table, values.on)
    model = model_of(values)
    if len(values.on) < 2:
        return GroupedRows(
            rows,
            model,
            on=list(rows) if values.on else None,
            lexical=not values.vectors_only,
            threshold=values.threshold,
        )
    linker = Linker(
        list(rows),
        kinds=kinds_of(values, table),
        identifies=identifying_of(values, table),
        threshold=values.threshold,
        model=model,
    )
    grouped = GroupedRows(rows, linker=linker)
    say_kinds(linker.links.columns)
    return grouped


def _compared(table: Table, on: Sequence[str]) -> Any:
    """Returns the columns that are compared, or the texts if none is named."""
    return columns_of(table, on) if on else texts_of(table)


def _say_merges(merges: Sequence[Sequence[int]], is_done: bool) -> None:
    """Tells of old groups that new rows connect."""
    lines = []
    for groups in merges:
        names = ", ".join(map(str, groups))
        result = f"they are {groups[0]} now" if is_done else "they stay apart without --merge"
        lines.append(f"rows connect the groups {names}; {result}")
    _warn(lines, "groups")


def _check_precision(estimates: Sequence[Estimate], threshold: float) -> None:
    """Checks that few rows are dropped that are no duplicates.

    Raises:
        ConfigError: The lower bound of the precision is too low.
    """
    from tf_charagram.search.linkage.estimates import MIN_MATCHES

    chosen = estimate_at(estimates, threshold)
    lower, _ = chosen.precision_bounds
    if chosen.num_pairs >= MIN_MATCHES and lower < _MIN_PRECISION:
        raise ConfigError(
            f"--drop is for duplicates of which at least {_MIN_PRECISION:.0%} are surely right. "
            f"Lower bound at threshold {threshold}: {lower:.0%}. Raise --threshold, look at the "
            "groups without --drop, or add --yes."
        )


def _warn(lines: Sequence[str], others: str) -> None:
    """Writes the first of many warnings, and how many others there are."""
    for line in lines[:_NUM_SHOWN]:
        tell(f"warning: {line}")
    num_others = len(lines) - _NUM_SHOWN
    if num_others > 0:
        tell(f"warning: {num_others:,} more such {others}")


def _add_columns(table: Table, found: Duplicates, explains: bool) -> None:
    """Adds the columns `group`, `kept` and `score` to a table, and perhaps `evidence`."""
    num_rows = len(table)
    # Rows without a duplicate have empty cells.
    groups: list[int | None] = [None] * num_rows
    scores: list[float | None] = [None] * num_rows
    for number, group in enumerate(found.groups, start=1):
        for row, score in zip(group.rows, group.scores, strict=True):
            groups[row] = number
            scores[row] = round(score, 4)
    kept = set(found.kept)
    table.add("group", groups)
    table.add("kept", [int(row in kept) for row in range(num_rows)])
    table.add("score", scores)
    if explains:
        evidence = [""] * num_rows
        for group in found.groups:
            for row in group.rows[1:]:
                evidence[row] = evidence_text(found.explain(group.rows[0], row))
        table.add("evidence", evidence)
