"""`charagram match`: matches the rows of two tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli._flags.table_flags import (
    add_input_flags,
    add_on_right_flag,
    add_output_flags,
    check_input_flags,
    check_table_output,
    read_input,
)
from tf_charagram.errors import check_positive
from tf_charagram.search._commands.files import (
    add_folder_flags,
    files_of,
    is_folder,
    options_of,
    say,
)
from tf_charagram.search._commands.records import (
    add_record_flags,
    answer_options,
    check_on_right,
    check_record_flags,
    compared,
    evidence_text,
    read_right,
    say_answer,
    say_scores,
    tell,
)
from tf_charagram.search._commands.search import add_scoring_flags

if TYPE_CHECKING:
    from argparse import Namespace

    from tf_charagram.data._tables.tables import Table
    from tf_charagram.search.linkage.answers import Match, Matches


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram match", description=__doc__)
    for side in ("left", "right"):
        help_text = "table, or file of texts; or files, as 'folder/*.parquet'"
        parser.add_argument(side, help=help_text)
    add_scoring_flags(parser)
    add_on_right_flag(parser)
    add_threshold_flags(parser, "0.5; 0.7 with --vectors-only")
    add_record_flags(parser)
    parser.add_argument("--one-to-one", action="store_true", help="match each row at most once")
    parser.add_argument(
        "--alternatives",
        type=int,
        metavar="N",
        help="write the N most probable right rows of each matched row",
    )
    add_folder_flags(parser)
    return parser


def add_threshold_flags(parser: Parser, default: str) -> None:
    """Adds flags about the threshold and the output."""
    parser.add_argument("--threshold", type=float, help=f"minimum score [{default}]")
    parser.add_argument(
        "--labels",
        metavar="FILE",
        help="table of two texts, or two rows, and 1 or 0, whether they match, to learn from",
    )
    add_output_flags(
        parser, "-", "FILE.csv, .tsv, .jsonl or .parquet; or FOLDER/ [standard output]"
    )
    add_input_flags(parser)


def match(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = _make_parser()
    values = parser.parse_args(arguments)
    check_record_flags(parser, values)
    check_on_right(values)
    if values.alternatives is not None:
        check_positive(alternatives=values.alternatives)
    if is_folder(parser, values, values.left, values.right):
        from tf_charagram.search._partitions.tables import match_files

        sides = files_of(values.left), files_of(values.right)
        options = {
            **options_of(values),
            "on_right": values.on_right,
            "one_to_one": values.one_to_one,
        }
        say(values, match_files(*sides, values.output, **options))
        return 0
    check_table_output(values, values.left, values.right)
    check_input_flags(values, values.left, values.right)
    from tf_charagram.search.linkage.estimates import histogram
    from tf_charagram.search.matching import match as find

    left = read_input(values.left, values, values.on)
    right, on_right = read_right(values)
    left_columns = compared(left, values.on)
    right_columns = compared(right, on_right)
    found = find(
        left_columns,
        right_columns,
        on=list(left_columns),
        on_right=list(right_columns),
        one_to_one=values.one_to_one,
        **answer_options(values, left, right),
    )
    num_rows = len(left)
    _join(values, left, right, found).write(values.output)
    say_answer(values, found)
    say_scores(histogram([pair.score for pair in found.pairs]))
    num_matched = len({pair.left for pair in found.pairs})
    tell(
        f"{num_matched:,} of {num_rows:,} rows matched in {len(found.pairs):,} pairs, "
        f"threshold {found.threshold:.2f}"
    )
    return 0


def _join(values: Namespace, left: Table, right: Table, found: Matches) -> Table:
    """Joins both tables; a left row without a partner has empty cells."""
    pairs: dict[int, list[Match]] = {row: [] for row in range(len(left))}
    for pair in found.pairs:
        pairs[pair.left].append(pair)
    if values.alternatives:
        for row, own in pairs.items():
            pairs[row] = found.alternatives(row, values.alternatives) if own else []
    rows = []
    chosen: list[Match | None] = []
    for row, own in pairs.items():
        # A row without a partner is written once.
        rows += [row] * max(len(own), 1)
        chosen += own or [None]
    joined = left.take(rows)
    joined.add("score", [pair and round(pair.score, 4) for pair in chosen])
    if values.explain:
        joined.add("evidence", [_evidence_of(found, pair) for pair in chosen])
    joined.add_columns_of(right.take([pair and pair.right for pair in chosen]))
    return joined


def _evidence_of(found: Matches, pair: Match | None) -> str:
    return evidence_text(found.explain(pair.left, pair.right)) if pair else ""
