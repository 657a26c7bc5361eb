"""`charagram show RUN`: prints a run or a search again: settings, curve, scores, files."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.cli.run_record import COMPLETED, UNFINISHED, RunRecord, read_run, to_number
from tf_charagram.cli.runs import describe, epochs, when
from tf_charagram.reporting.console import (
    cell,
    make_table,
    number,
    printable,
    size,
    table_console,
)
from tf_charagram.reporting.curve import draw_curve

_CURVE_WIDTH = 72
_MOST_TRIALS = 15


def to_json(run: RunRecord) -> dict[str, Any]:
    """Returns what `--json` prints."""
    return {
        **describe(run),
        "written": when(run.written),
        "versions": run.versions,
        "changed_settings": run.changed_settings(),
        "settings": run.settings,
        "history": run.history,
        "metrics": run.metrics,
        "trials": run.trials,
        "files": run.files,
    }


def print_run(console: Console, run: RunRecord) -> None:
    """Prints all that is known of a run."""
    _say(console, f"{run.folder}: {run.task} with {run.encoder}, {run.status}")
    version = f"tf-charagram {run.versions.get('tf_charagram', 'of unknown version')}"
    _say(console, f"started {when(run.started)}, last written {when(run.written)}, {version}")
    if run.status == UNFINISHED:
        _say(console, f"To go on: the same command with --out {run.folder} --resume")
    console.print(settings_table(run))
    _print_curves(console, run)
    if run.set_names() and run.trials is None:
        console.print(scores_table(run))
    if run.trials:
        console.print(trials_table(run))
    console.print(files_table(run))


def _print_curves(console: Console, run: RunRecord) -> None:
    """Prints the loss, and the score of the set that selects."""
    is_ascii = not console.encoding.lower().startswith("utf")
    width = min(console.width, _CURVE_WIDTH)
    for name in dict.fromkeys((None, run.selects)):
        xs, ys = run.curve(name)
        if len(xs) > 1:
            _say(console, f"{'loss' if name is None else name} by epoch")
            for line in draw_curve(xs, ys, width=width, is_ascii=is_ascii):
                _say(console, line)


def settings_table(run: RunRecord) -> Table:
    """Returns the settings that are not at their defaults."""
    table = make_table("Changed settings", ("setting", "value"), ())
    for name, value in run.changed_settings().items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        table.add_row(cell(name), cell(shown))
    return table


def scores_table(run: RunRecord) -> Table:
    """Returns the scores: of the weights that were kept, and the best there were."""
    table = make_table("Scores", ("set",), ("kept", "best", "at epoch"))
    for name in run.set_names():
        best, epoch = run.best(name)
        table.add_row(cell(name), number(run.final(name)), number(best), epochs(epoch))
    return table


def trials_table(run: RunRecord) -> Table:
    """Returns the best trials of a search."""
    trials = run.trials or []
    ranked = sorted(trials, key=_rank)
    title = f"Trials, {min(len(trials), _MOST_TRIALS)} best of {len(trials)}"
    table = make_table(title, ("trial", "values", "status"), (run.selects or "score", "epochs"))
    for trial in ranked[:_MOST_TRIALS]:
        values = trial.get("values")
        shown = values.items() if isinstance(values, dict) else ()
        table.add_row(
            cell(trial.get("id", "?")), cell(" ".join(f"{name}={value}" for name, value in shown)),
            cell(trial.get("status", "?")), number(to_number(trial.get("score"))),
            number(to_number(trial.get("epochs")), "g"),
        )  # fmt: skip
    return table


def _rank(trial: dict[str, Any]) -> tuple[bool, float]:
    return trial.get("status") != COMPLETED, -(to_number(trial.get("score")) or 0.0)


def files_table(run: RunRecord) -> Table:
    """Returns what is in the folder."""
    table = make_table("Files", ("name",), ("size",))
    for name, num_bytes in run.files.items():
        table.add_row(cell(name), size(num_bytes))
    return table


def _say(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(
        prog="charagram show",
        description="Prints a run or a search again: settings, curve, scores, files. It may be "
        "unfinished, or of an older version.",
    )
    parser.add_argument("run", type=str, help="run folder, or folder of a search")
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no tables")
    return parser


def show(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    run = read_run(values.run)
    if values.json:
        sys.stdout.write(json.dumps(to_json(run)) + "\n")
    else:
        print_run(table_console(), run)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(show, arguments)
