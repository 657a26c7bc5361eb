"""`charagram label`: asks about pairs of rows, for match and dedupe to learn from the answers."""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tf_charagram._common.reporting import printable
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli._flags.table_flags import (
    add_input_flags,
    add_on_right_flag,
    check_input_flags,
    column_names,
    read_input,
)
from tf_charagram.cli.commands import check_not_read
from tf_charagram.errors import DataError
from tf_charagram.search._commands.records import (
    add_column_flag,
    check_on_right,
    columns_of,
    identifying_of,
    kinds_of,
    read_right,
    say_kinds,
    say_learned,
    tell,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from tf_charagram.search.linkage._columns.columns import Column
    from tf_charagram.search.linkage._fellegi_sunter.labels import Label
    from tf_charagram.search.linkage._fellegi_sunter.linking import Links

_HEADER = ["left", "right", "match"]
_ANSWERS = {"y": 1, "n": 0}
_LABEL = re.compile(r"[0-9]{1,15},[0-9]{1,15},[01]")
_PROMPT = "same? y(es), n(o), s(kip), q(uit): "
# The first labels are too few to learn from; after so many more, the model learns again.
_MIN_LABELS = 10
_EVERY = 5
# Pairs that may be asked about: the model learns while somebody waits.
_NUM_PAIRS = 2000


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram label", description=__doc__)
    parser.add_argument("left", help="table")
    parser.add_argument("right", nargs="?", help="table [duplicates in the first one]")
    parser.add_argument(
        "--on",
        type=column_names,
        required=True,
        metavar="A,B,...",
        help="columns to compare, by name or number from 1",
    )
    add_on_right_flag(parser)
    add_column_flag(parser)
    parser.add_argument(
        "--labels", required=True, metavar="FILE", help="CSV of the answers; they are added to it"
    )
    add_input_flags(parser)
    return parser


def label(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = make_parser()
    values = parser.parse_args(arguments)
    if values.right is None:
        parser.refuse(values, ("on_right",), "is for a second table")
    check_on_right(values)
    tables = [values.left] if values.right is None else [values.left, values.right]
    check_not_read(values.labels, tables)
    check_input_flags(values, *tables)
    from tf_charagram.search.linkage._fellegi_sunter.asking import next_pair
    from tf_charagram.search.linkage._fellegi_sunter.finding import find_links
    from tf_charagram.search.linkage._fellegi_sunter.labels import numbered_labels

    columns = _read_tables(values)
    labels = numbered_labels(columns, _read(values.labels)).tolist()
    asked = {(one, other): answer for one, other, answer in labels}
    say_kinds(columns)
    links = find_links(columns)
    links.keep_uncertain(_NUM_PAIRS)
    _learn(links, labels)
    while (pair := next_pair(links, asked)) is not None:
        rows = (int(links.pairs[pair, 0]), int(links.pairs[pair, 1]))
        _show(links, pair)
        answer = _ask()
        if answer == "q":
            break
        # A pair that was skipped has no answer.
        asked[rows] = _ANSWERS.get(answer, -1)
        if answer in _ANSWERS:
            labels.append([*rows, _ANSWERS[answer]])
            _append(values.labels, labels[-1])
            if len(labels) % _EVERY == 0:
                _learn(links, labels)
    if links.learned is not None:
        say_learned(links.learned)
    place = f" in {values.labels}" if labels else ""
    tell(f"{len(labels):,} labels{place}")
    return 0


def _read_tables(values: Namespace) -> list[Column]:
    """Reads the columns of one or two tables."""
    from tf_charagram.search.linkage._columns.columns import read_columns

    left = read_input(values.left, values, values.on)
    left_columns = columns_of(left, values.on)
    right_columns = None
    on_right = None
    if values.right is not None:
        right_columns = columns_of(*read_right(values))
        on_right = list(right_columns)
    return read_columns(
        left_columns,
        right_columns,
        list(left_columns),
        on_right,
        kinds_of(values, left),
        identifying_of(values, left),
    )


def _read(path: str) -> list[Label]:
    """Returns the labels of a file, if there is one.

    Raises:
        DataError: A line does not have two row numbers and 1 or 0.
    """
    if not Path(path).exists():
        return []
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        lines = list(csv.reader(file)) or [_HEADER]
    for number, line in enumerate(lines, start=1):
        cells = ",".join(line)
        is_good = line == _HEADER if number == 1 else _LABEL.fullmatch(cells)
        if not is_good:
            expected = "expected left,right,match with row numbers from 0 and 1 or 0"
            raise DataError(path, f"{expected}, found {cells}. Correct it.", number)
    return [(int(one), int(other), int(answer)) for one, other, answer in lines[1:]]


def _append(path: str, answer: list[int]) -> None:
    """Writes an answer at once, so that none is lost."""
    with Path(path).open("a+b") as file:
        is_new = not file.tell()
        lines: list[Sequence[object]] = [_HEADER, answer] if is_new else [answer]
        if not is_new:
            file.seek(-1, os.SEEK_END)
            # Somebody's editor may have left out the end of the last line.
            lines = lines if file.read(1) == b"\n" else [[], answer]
        for line in lines:
            file.write(",".join(map(str, line)).encode() + b"\n")


def _learn(links: Links, labels: list[list[int]]) -> None:
    """Learns from the labels if there are enough."""
    import numpy as np

    if len(labels) >= _MIN_LABELS:
        links.learn_from(np.array(labels), None)


def _show(links: Links, pair: int) -> None:
    """Shows the cells of two rows next to each other."""
    left, right = links.pairs[pair].tolist()
    tell(f"\nprobability {links.probabilities[pair]:.2f}")
    for column in links.columns:
        left_cell = printable(column.left_cells[left])
        right_cell = printable(column.right_cells[right])
        tell(f"  {column.name:20} {left_cell:30} | {right_cell}")


def _ask() -> str:
    """Returns `y`, `n`, `s` or `q`; the end of the input is `q`."""
    while True:
        sys.stderr.write(_PROMPT)
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1]
        if not line:
            return "q"
        if answer in ("y", "n", "s", "q"):
            return answer
