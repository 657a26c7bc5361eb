"""`charagram analyze`: what models learned, one of the papers' analyses at a time."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import MODEL_HELP, FlagParser, flag_of
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.files.writing import check_local, whole_file
from tf_charagram.reporting.console import table_console

#: The flags that each analysis has, besides its own.
_OF_ALL = ("on_bad_line", "json")


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram analyze", description=__doc__)
    parser.add_argument(
        "name", type=str | None, nargs="?", default=None, help="the analysis; none: list them"
    )
    parser.add_argument("model", type=str, nargs="*", default=[], metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "--eval-data", type=str | None, default=None, help="folder or file of scored pairs"
    )
    parser.add_argument(
        "--train-data", type=str, action="append", default=[],
        help="training pairs, as those of `train --data`; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--texts", type=str | None, default=None,
        help="file of texts, one per line [those of the first model]",
    )  # fmt: skip
    parser.add_argument(
        "--tagged", type=str | None, default=None, help="tagged sentences, for parts of speech"
    )
    parser.add_argument(
        "--query", type=str, action="append", default=[],
        help="a text or an n-gram to ask about; repeatable [the papers' own]",
    )  # fmt: skip
    parser.add_argument("--score", type=str | None, default=None, help="the score curves follow")
    parser.add_argument("--k", type=int, default=10, help="how many are shown")
    parser.add_argument(
        "--on-bad-line", type=str, default="error", help="what to do about a bad line: error, skip"
    )
    parser.add_argument("--plot", type=str | None, default=None, help="write the curves: FILE.svg")
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def analyze(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = make_parser()
    values = parser.parse_args(arguments)
    given = parser.given(arguments) - {"name", "model"}
    from research.analysis.catalog import ANALYSES

    if values.name is None:
        if given:
            raise ConfigError(f"{flag_of(min(given))} needs an analysis: charagram analyze NAME")
        _list(ANALYSES)
        return 0
    if values.name not in ANALYSES:
        raise ConfigError(unknown_name("analysis", values.name, ANALYSES))
    analysis = ANALYSES[values.name]
    if unread := sorted(given - {*analysis.flags, *_OF_ALL}):
        raise ConfigError(
            f"{flag_of(unread[0])} is not for the analysis '{values.name}'. Leave it out."
        )
    if not values.model:
        raise ConfigError(f"Name a model: charagram analyze {values.name} MODEL [MODEL ...]")
    if values.plot is not None:
        check_local(values.plot)
        if not values.plot.endswith(".svg"):
            raise ConfigError(f"`plot` must end in .svg. Received: {values.plot}")
    from research.analysis.inputs import Inputs
    from research.analysis.table import rich_tables

    bad_lines = BadLines(values.on_bad_line)
    inputs = Inputs(
        models=values.model, eval_data=values.eval_data, train_data=values.train_data,
        texts=values.texts, tagged=values.tagged, queries=values.query, score=values.score,
        k=values.k, bad_lines=bad_lines,
    )  # fmt: skip
    table = analysis.make(inputs)
    if bad_lines.count:
        sys.stderr.write(f"{bad_lines.summary()}\n")
    if values.json:
        sys.stdout.write(json.dumps(table.to_dict(), ensure_ascii=False) + "\n")
    else:
        table_console().print(rich_tables(table))
    if values.plot is not None:
        _write_plot(table, values.plot)
    return 0


def _list(analyses: dict[str, Any]) -> None:
    lines = [
        f"  {name:15} {analysis.purpose} ({', '.join(map(flag_of, analysis.flags))})"
        for name, analysis in analyses.items()
    ]
    text = "\n".join(["usage: charagram analyze NAME MODEL [MODEL ...]", "", *lines])
    sys.stdout.write(f"{text}\n")


def _write_plot(table: Any, path: str) -> None:
    from research.analysis.plot import svg

    with whole_file(Path(path), "w") as file:
        file.write(svg(table.curves))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(analyze, arguments)
