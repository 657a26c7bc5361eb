"""`charagram runs`: lists runs and searches, the newest first."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from tf_charagram._common.reporting import cell, number, table_console
from tf_charagram._files.json_files import read_json
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.errors import CharagramError, RunError
from tf_charagram.training._loop.run_folder import RunFolder

_FOLDER = "runs"
_COLUMNS = ("name", "task", "encoder", "started", "status", "best score")
# The settings of a run, and of a search.
_CONFIG = "config.json"
_SEARCH = "search.json"


class _Row(NamedTuple):
    """A run or a search in the list; `started` is in seconds since the epoch."""

    started: float
    cells: tuple[str, ...]


def _read_row(folder: Path) -> _Row:
    """Reads the row of a run or of a search, without TensorFlow.

    Raises:
        RunError: The folder is no run and no search, or is damaged.
    """
    search = folder / _SEARCH
    config = search if search.is_file() else folder / _CONFIG
    if not config.is_file():
        raise RunError(f"{folder} is not a run folder: it has no {_CONFIG}.")
    try:
        saved = read_json(config)
        if "encoder" in saved:
            raise RunError(f"{folder} is not a run folder but a model: give the folder of its run.")
        settings = saved["settings"]
        if search.is_file():
            task = f"tune {settings['task']}"
            status, best = _state_of_search(folder, settings)
        else:
            task = settings["task"]
            status, best = _state_of_run(folder, settings)
        started = config.stat().st_mtime
        date = time.strftime("%Y-%m-%d", time.localtime(started))
        return _Row(started, (folder.name, task, settings["encoder"], date, status, best))
    except RunError:
        raise
    except (CharagramError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise RunError(f"{folder} cannot be read as a run: {error}") from error


def _state_of_run(folder: Path, settings: dict[str, Any]) -> tuple[str, str]:
    """Returns status and best score of a run."""
    files = RunFolder(folder)
    history = files.read_history()
    records = list(history)
    if files.metrics.is_file():
        status = "finished"
        records.append(read_json(files.metrics))
    else:
        status = "diverged" if files.problem.is_file() else "unfinished"
    epoch = history[-1]["epoch"] if history else None
    # `.3g` would write 1000 as 1e+03.
    is_large = epoch is not None and epoch >= 999.5
    status += f" {number(epoch, '.0f' if is_large else '.3g')}/{settings['epochs']:g}"
    names = [name for record in records for name in record["scores"]]
    if not names:
        return status, ""
    # The set that selects weights, or else the first that was scored.
    selects = str(settings.get("select"))
    name = selects if selects in names else names[0]
    return status, _best(name, [record["scores"].get(name) for record in records])


def _state_of_search(folder: Path, settings: dict[str, Any]) -> tuple[str, str]:
    """Returns status and best score of a search."""
    # Other names are of trials that are being written.
    paths = [path for path in folder.glob("trials/*/result.json") if path.parent.name.isdecimal()]
    scores = [read_json(path)["score"] for path in paths]
    return f"{len(paths)} trials", _best(settings["select"], scores)


def _best(name: str, scores: Iterable[float | None]) -> str:
    """Formats the best score; a set without a score, or a trial that failed, has `None`."""
    known = [score for score in scores if score is not None]
    return f"{name} {max(known):.2f}" if known else ""


def _rows_in(folder: Path) -> list[_Row]:
    """Reads the runs and searches directly in a folder, the newest first."""
    found = []
    for path in folder.iterdir():
        try:
            found.append(_read_row(path))
        except RunError:
            continue
    return sorted(found, reverse=True)


def _runs_table(rows: Sequence[_Row]) -> Table:
    """Returns a table with a row for each run."""
    # Without lines between the columns it fits 80 characters.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in _COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name == "started")
    for row in rows:
        table.add_row(*map(cell, row.cells))
    return table


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram runs", description=__doc__)
    parser.add_argument(
        "folder",
        nargs="?",
        default=_FOLDER,
        help="folder that the runs are in, or folder of a run or search [runs]",
    )
    return parser


def runs(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    folder = Path(_make_parser().parse_args(arguments).folder)
    if not folder.is_dir():
        raise RunError(f"There is no folder {folder}. Name the folder that the runs are in.")
    is_one = (folder / _CONFIG).is_file() or (folder / _SEARCH).is_file()
    rows = [_read_row(folder)] if is_one else _rows_in(folder)
    if not rows:
        sys.stdout.write(f"No runs in {folder}.\n")
        return 0
    console = table_console()
    console.print(_runs_table(rows))
    return 0
