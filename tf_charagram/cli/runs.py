"""`charagram runs`: lists runs and searches side by side, the newest first."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from tf_charagram.cli.flags import FlagParser, run_command
from tf_charagram.cli.run_record import RunRecord, find_runs, to_number
from tf_charagram.reporting.console import cell, make_table, number, size, table_console

_FOLDER = "runs"


def when(seconds: float) -> str:
    """Returns a time as a date and minutes."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def describe(run: RunRecord) -> dict[str, Any]:
    """Returns what `--json` prints of a run."""
    selects = run.selects
    return {
        "folder": str(run.folder),
        "task": run.task,
        "encoder": run.encoder,
        "started": when(run.started),
        "status": run.status,
        "epochs_done": run.epochs_done,
        "epochs": to_number(run.settings.get("epochs")),
        "set": selects,
        "best": None if selects is None else run.best(selects)[0],
        "size_bytes": run.size,
    }


def runs_table(folder: str, runs: Sequence[RunRecord]) -> Table:
    """Returns the table of the runs of a folder."""
    table = make_table(
        f"Runs in {folder}",
        ("name", "task", "encoder", "started", "status", "set"),
        ("best", "epochs", "size"),
    )
    for run in runs:
        facts = describe(run)
        epochs = f"{number(facts['epochs_done'], 'g')} of {number(facts['epochs'], 'g')}"
        table.add_row(
            cell(run.folder.name), cell(run.task), cell(run.encoder), facts["started"], run.status,
            cell(facts["set"] or "-"), number(facts["best"]),
            epochs if run.trials is None else "", size(run.size),
        )  # fmt: skip
    return table


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(
        prog="charagram runs", description="Lists runs and searches side by side, the newest first."
    )
    parser.add_argument("folder", nargs="?", type=str, default=_FOLDER, help="where the runs are")
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def runs(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    found = find_runs(values.folder)
    if values.json:
        sys.stdout.write(json.dumps({"runs": [describe(run) for run in found]}) + "\n")
    elif found:
        table_console().print(runs_table(values.folder, found))
    else:
        sys.stdout.write(f"No runs in {values.folder}.\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(runs, arguments)
