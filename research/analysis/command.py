"""`python -m research analyze`: runs one of the papers' analyses on trained models."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from research.analysis.catalog import ANALYSES
from research.analysis.inputs import Inputs
from research.analysis.plot import svg
from research.analysis.table import rich_tables
from tf_charagram._common.reporting import table_console
from tf_charagram._files.writing import whole_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError


def make_parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    lines = [f"  {name:15} {analysis.purpose}" for name, analysis in ANALYSES.items()]
    parser = argparse.ArgumentParser(
        prog="python -m research analyze", description=__doc__,
        epilog="\n".join(["analyses:", *lines]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("name", choices=ANALYSES, metavar="NAME", help="the analysis, see below")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="run folder or model folder")
    parser.add_argument("--eval-data", help="folder or file of scored pairs")
    parser.add_argument(
        "--train-data", action="append", default=[], help="training pairs; repeatable"
    )
    parser.add_argument("--texts", help="file of texts, one per line [those of the first model]")
    parser.add_argument("--tagged", help="tagged sentences, for parts of speech")
    parser.add_argument(
        "--query", action="append", default=[],
        help="a text or an n-gram to ask about; repeatable [those of the papers]",
    )  # fmt: skip
    parser.add_argument("--score", help="the score that curves follow, such as SL999")
    parser.add_argument("--k", type=int, default=10, help="number of results shown")
    parser.add_argument("--on-bad-line", choices=("error", "skip"), default="error")
    parser.add_argument("--plot", type=Path, help="write the curves: FILE.svg")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    bad_lines = BadLines(values.on_bad_line)
    inputs = Inputs(
        models=values.models, eval_data=values.eval_data, train_data=values.train_data,
        texts=values.texts, tagged=values.tagged, queries=values.query, score=values.score,
        k=values.k, bad_lines=bad_lines,
    )  # fmt: skip
    table = ANALYSES[values.name].make(inputs)
    if bad_lines.count:
        sys.stderr.write(f"{bad_lines.summary()}\n")
    if values.json:
        sys.stdout.write(json.dumps(table.to_dict(), ensure_ascii=False) + "\n")
    else:
        table_console().print(rich_tables(table))
    if values.plot is not None:
        if table.curves is None:
            raise ConfigError(f"The analysis {values.name} has no curves. Leave out --plot.")
        with whole_file(values.plot, "w") as file:
            file.write(svg(table.curves))
    return 0
