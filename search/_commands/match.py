"""`charagram match`: matches the rows of two tables."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

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
    check_record_flags,
    labels_of,
    match_records,
    say_learned,
)
from tf_charagram.search._commands.search import add_scoring_flags, model_of

# Bins of the histogram of scores from 0 to 1, and characters of its longest bar.
_NUM_BINS = 20
_BAR = 40


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram match", description=__doc__)
    parser.add_argument("left", help="table, or file of texts")
    parser.add_argument("right", help="table, or file of texts")
    add_scoring_flags(parser)
    add_on_right_flag(parser)
    add_threshold_flags(parser, "0, or learned from --labels; 0.5 with several columns")
    add_record_flags(parser)
    parser.add_argument(
        "--one-to-one", action="store_true", help="match each right row at most once"
    )
    parser.add_argument(
        "--alternatives",
        type=int,
        metavar="N",
        help="with several columns: write the N most probable right rows of each matched row",
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
    if values.alternatives is not None:
        check_positive(alternatives=values.alternatives)
    if is_folder(parser, values):
        from tf_charagram.search._partitions.tables import match_files

        sides = files_of(values.left), files_of(values.right)
        options = {**options_of(values), "on_right": values.on_right}
        say(values, match_files(*sides, values.output, **options))
        return 0
    check_table_output(values, values.left, values.right)
    check_input_flags(values, values.left, values.right)
    from tf_charagram.search import matching

    left = read_input(values.left, values, values.on)
    on_right = values.on_right
    hint = ""
    if on_right is None:
        on_right = values.on
        hint = " If its columns have other names, give them with --on-right."
    right = read_input(values.right, values, on_right, hint)
    if len(values.on) > 1:
        match_records(values, left, right, on_right)
        return 0
    labels = labels_of(values)
    found = matching.match(
        left.text_of(values.on),
        right.text_of(on_right),
        model_of(values),
        lexical=not values.vectors_only,
        threshold=values.threshold,
        one_to_one=values.one_to_one,
        labels=labels,
        shows_progress=True,
    )
    # Rows without a partner have empty cells.
    num_rows = len(left)
    scores: list[float | None] = [None] * num_rows
    partners: list[int | None] = [None] * num_rows
    for pair in found.pairs:
        scores[pair.left] = round(pair.score, 4)
        partners[pair.left] = pair.right
    left.add("score", scores)
    left.add_columns_of(right.take(partners))
    left.write(values.output)
    say_learned(found.learned)
    say_scores([pair.score for pair in found.pairs])
    sys.stderr.write(
        f"{len(found.pairs):,} of {num_rows:,} rows matched, threshold {found.threshold:.2f}\n"
    )
    return 0


def say_scores(scores: Iterable[float]) -> None:
    """Writes a histogram of scores to standard error, to choose a threshold by."""
    counts = [0] * _NUM_BINS
    for score in scores:
        # A score of 1 is in the last bin.
        place = min(int(score * _NUM_BINS), _NUM_BINS - 1)
        counts[place] += 1
    for place, count in enumerate(counts):
        if count:
            # Rounded up, so that no bar is empty.
            length = math.ceil(_BAR * count / max(counts))
            bar = "#" * length
            sys.stderr.write(f"score {place / _NUM_BINS:.2f}  {count:9,}  {bar}\n")
