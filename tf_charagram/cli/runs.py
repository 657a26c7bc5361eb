"""`charagram runs`: lists runs and searches side by side, the newest first, or shows one."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import Parser
from tf_charagram.cli.run_record import COMPLETED, RunRecord, find_runs, read_run
from tf_charagram.reporting.console import cell, make_table, number, printable, size, table_console
from tf_charagram.reporting.history_table import history_table

_FOLDER = "runs"
_MAX_TRIALS = 15


def describe(run: RunRecord) -> dict[str, Any]:
    """Returns the facts that the table and `--json` have of a run."""
    selects = run.selects
    return {
        "folder": str(run.folder),
        "task": run.task,
        "encoder": run.settings["encoder"],
        "started": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started)),
        "status": run.status,
        "epochs_done": run.epochs_done,
        "epochs": run.settings["epochs"],
        "set": selects,
        "best": None if selects is None else run.best(selects)[0],
        "size_bytes": run.size,
    }


def runs_table(runs: Sequence[RunRecord]) -> Table:
    """Returns a table with a row for each run."""
    # Without lines between the columns it fits 80 characters.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("name", "task", "encoder", "started", "status", "best score", "size"):
        table.add_column(name, overflow="fold", no_wrap=name in ("started", "size"))
    for run in runs:
        facts = describe(run)
        status = run.status
        if run.trials is None:
            status += f" {_epochs(facts['epochs_done'])}/{facts['epochs']:g}"
        score = "" if facts["best"] is None else f"{facts['set']} {facts['best']:.2f}"
        table.add_row(
            cell(run.folder.name), run.task, run.settings["encoder"], facts["started"][:10],
            status, cell(score), size(run.size),
        )  # fmt: skip
    return table


def _epochs(value: float | None) -> str:
    """Returns a number of epochs with three digits, or all of thousands."""
    return number(value, ".3g" if value is None or value < 999.5 else ".0f")


def print_run(console: Console, run: RunRecord) -> None:
    """Prints settings, history, scores and trials of a run."""
    facts = describe(run)
    _say(console, f"{run.folder}: {run.task} with {facts['encoder']}, {run.status}")
    _say(console, f"started {facts['started']}, tf-charagram {run.version}, {size(run.size)}")
    if run.status == "unfinished":
        _say(console, f"To go on: the same command with --out {run.folder} --resume")
    console.print(settings_table(run))
    if run.history:
        console.print(history_table(run.history, run.selects or "", console.width))
    if run.trials:
        console.print(trials_table(run))
    elif run.set_names():
        console.print(scores_table(run))


def _say(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)


def settings_table(run: RunRecord) -> Table:
    """Returns the table of the settings that differ from their defaults."""
    table = make_table("Changed settings", ("setting", "value"), ())
    for name, value in run.changed_settings().items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        table.add_row(cell(name), cell(shown))
    return table


def scores_table(run: RunRecord) -> Table:
    """Returns the scores of the weights that were kept, and the best of all evaluations."""
    table = make_table("Scores", ("set",), ("kept", "best", "at epoch"))
    for name in run.set_names():
        best, epoch = run.best(name)
        table.add_row(cell(name), number(run.final(name)), number(best), _epochs(epoch))
    return table


def trials_table(run: RunRecord) -> Table:
    """Returns the best trials of a search."""
    trials = sorted(
        run.trials or (), key=lambda t: (t["status"] != COMPLETED, -(t["score"] or 0.0))
    )
    title = f"Trials, {min(len(trials), _MAX_TRIALS)} best of {len(trials)}"
    table = make_table(title, ("trial", "values", "status"), (run.selects or "score", "epochs"))
    for trial in trials[:_MAX_TRIALS]:
        values = " ".join(f"{name}={value}" for name, value in trial["values"].items())
        table.add_row(
            trial["id"], cell(values), trial["status"], number(trial["score"]),
            number(trial["epochs"], "g"),
        )  # fmt: skip
    return table


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram runs", description=__doc__)
    parser.add_argument(
        "folder", nargs="?", default=_FOLDER,
        help="folder that the runs are in, or folder of a run or search to show [runs]",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no tables")
    return parser


def runs(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    folder = Path(values.folder)
    if any((folder / name).is_file() for name in ("config.json", "search.json")):
        run = read_run(folder)
        if values.json:
            result = {
                **describe(run),
                "version": run.version,
                "changed_settings": run.changed_settings(),
                "settings": run.settings,
                "history": run.history,
                "metrics": run.metrics,
                "trials": run.trials,
            }
            sys.stdout.write(json.dumps(result) + "\n")
        else:
            print_run(table_console(), run)
        return 0
    found = find_runs(folder)
    if values.json:
        sys.stdout.write(json.dumps({"runs": [describe(run) for run in found]}) + "\n")
    elif found:
        table_console().print(runs_table(found))
    else:
        sys.stdout.write(f"No runs in {values.folder}.\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(runs, arguments)
