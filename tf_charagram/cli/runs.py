"""`charagram runs`: lists runs and searches side by side, the newest first."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.cli.run_record import RunRecord, find_runs, to_number
from tf_charagram.reporting.console import cell, number, size, table_console

_FOLDER = "runs"
# Below, the columns would be too narrow to read.
_TABLE_WIDTH = 72
_COLUMNS = ("name", "task", "encoder", "started", "status", "best score", "size")


def when(seconds: float) -> str:
    """Returns a time as a date and minutes."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def epochs(value: float | None) -> str:
    """Returns a number of epochs with three digits, of thousands with all."""
    return number(value, ".3g" if value is None or value < 999.5 else ".0f")


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


def runs_table(runs: Sequence[RunRecord]) -> Table:
    """Returns the table of runs."""
    # Without lines between the columns it fits 80 characters.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in _COLUMNS:
        is_text = name not in ("started", "size")
        table.add_column(name, overflow="fold", no_wrap=not is_text)
    for run in runs:
        table.add_row(*_cells(run))
    return table


def print_narrow(console: Console, runs: Sequence[RunRecord]) -> None:
    """Prints runs one below the other, where the table would not fit."""
    for run in runs:
        name, *facts = _cells(run)
        console.print(name)
        console.print(f"  {', '.join(filter(None, facts))}")


def _cells(run: RunRecord) -> tuple[str, ...]:
    facts = describe(run)
    status = run.status
    if run.trials is None:
        status += f" {epochs(facts['epochs_done'])}/{number(facts['epochs'], 'g')}"
    score = "" if facts["best"] is None else f"{facts['set']} {facts['best']:.2f}"
    return (
        cell(run.folder.name), cell(run.task), cell(run.encoder), when(run.started)[:10],
        status, cell(score), size(run.size),
    )  # fmt: skip


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
        console = table_console()
        if console.width < _TABLE_WIDTH:
            print_narrow(console, found)
        else:
            console.print(runs_table(found))
    else:
        sys.stdout.write(f"No runs in {values.folder}.\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(runs, arguments)
