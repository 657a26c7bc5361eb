"""`charagram runs`: lists runs and searches side by side, the newest first, or shows one."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tf_charagram.cli.flags import Parser
from tf_charagram.errors import CharagramError, RunError
from tf_charagram.files.json_files import read_json
from tf_charagram.reporting import (
    cell,
    history_table,
    make_table,
    number,
    printable,
    table_console,
)
from tf_charagram.tasks import settings_class
from tf_charagram.training.run_folder import RunFolder

_FOLDER = "runs"
_MAX_TRIALS = 15
_LAST = "last"
# Status of a trial with a score that counts.
_COMPLETED = "completed"
# Settings of a search.
_SEARCH = "search.json"


@dataclass(frozen=True)
class RunRecord:
    """A run, or a search for settings; read without TensorFlow.

    Attributes:
        folder: Its folder.
        settings: All settings that were saved.
        version: Version of this package that it was started with.
        started: When it was started, in seconds since the epoch.
        history: One record for each evaluation: `epoch`, `loss`, `scores` and more.
        metrics: The results of a finished run, else empty.
        status: Whether it is finished; for a search, how many trials have ended.
        trials: Results of the trials of a search; `None` for a run.
    """

    folder: Path
    settings: dict[str, Any]
    version: str
    started: float
    history: list[dict[str, Any]]
    metrics: dict[str, Any]
    status: str
    trials: list[dict[str, Any]] | None

    @property
    def task(self) -> str:
        """The task, after `tune` for a search."""
        return f"{'' if self.trials is None else 'tune '}{self.settings['task']}"

    @property
    def selects(self) -> str | None:
        """The set that selects weights, or else the first that was scored."""
        select, names = self.settings.get("select", _LAST), self.set_names()
        return select if select in names else next(iter(names), None)

    def set_names(self) -> list[str]:
        """Returns the names of the sets that were scored."""
        records = [*self.history, self.metrics, *(self.trials or ())]
        return list(dict.fromkeys(name for record in records for name in record.get("scores", {})))

    def best(self, name: str) -> tuple[float | None, float | None]:
        """Returns the best score of a set, and its epoch; for a search, that of its best trial."""
        if self.trials is not None:
            scores = [trial["score"] for trial in self.trials if trial["status"] == _COMPLETED]
            return max(scores, default=None), None
        scores = [(record["scores"].get(name), record["epoch"]) for record in self.history]
        known = [(score, -epoch) for score, epoch in scores if score is not None]
        if not known:
            return self.final(name), None
        score, epoch = max(known)
        return score, -epoch

    def final(self, name: str) -> float | None:
        """Returns the score of the weights that a finished run kept."""
        return self.metrics.get("scores", {}).get(name)

    def changed_settings(self) -> dict[str, Any]:
        """Returns the settings that differ from the defaults of their task and encoder."""
        run = {name: value for name, value in self.settings.items() if "." not in name}
        cls = settings_class(run["task"])
        config = cls.from_dict(run).to_dict()
        defaults = cls(task=config["task"], encoder=config["encoder"]).to_dict()
        search = {name: value for name, value in self.settings.items() if "." in name}
        changed = {n: value for n, value in config.items() if value != defaults[n] and n != "out"}
        return {**changed, **search}


def read_run(folder: str | Path) -> RunRecord:
    """Reads the folder of a run or of a search.

    Raises:
        RunError: It does not exist, is not such a folder, or is damaged.
    """
    files = RunFolder(folder)
    search = files.path / _SEARCH
    config = search if search.is_file() else files.config
    if not files.path.is_dir():
        raise RunError(f"There is no folder {folder}. `charagram runs FOLDER` lists runs.")
    if not config.is_file():
        raise RunError(f"{folder} is not a run folder: it has no {files.config.name}.")
    try:
        saved = read_json(config)
        if "encoder" in saved:
            raise RunError(f"{folder} is not a run folder but a model: give the folder of its run.")
        metrics = read_json(files.metrics) if files.metrics.is_file() else {}
        trials = None if config == files.config else _read_trials(files.path)
        if trials is not None:
            status = f"{len(trials)} trials"
        else:
            is_over = "diverged" if files.problem.is_file() else "unfinished"
            status = "finished" if metrics else is_over
        record = RunRecord(
            files.path,
            saved["settings"],
            saved["versions"]["tf_charagram"],
            config.stat().st_mtime,
            files.read_history(),
            metrics,
            status,
            trials,
        )
        # So that no table has to expect other files than a run writes.
        record.changed_settings()
        for name in record.set_names():
            record.best(name)
        return record
    except RunError:
        raise
    except (CharagramError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise RunError(f"{folder} cannot be read as a run: {error}") from error


def find_runs(folder: str | Path) -> list[RunRecord]:
    """Returns the runs and searches directly in a folder, the newest first.

    Raises:
        RunError: There is no such folder.
    """
    if not Path(folder).is_dir():
        raise RunError(f"There is no folder {folder}. Name the folder that the runs are in.")
    found = []
    for path in Path(folder).iterdir():
        try:
            found.append(read_run(path))
        except RunError:
            continue
    return sorted(found, key=lambda run: run.started, reverse=True)


def _read_trials(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "trials").glob("*/result.json"))
    return [read_json(path) for path in paths if path.parent.name.isdecimal()]


def runs_table(runs: Sequence[RunRecord]) -> Table:
    """Returns a table with a row for each run."""
    # Without lines between the columns it fits 80 characters.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("name", "task", "encoder", "started", "status", "best score"):
        table.add_column(name, overflow="fold", no_wrap=name == "started")
    for run in runs:
        status, score, selects = run.status, "", run.selects
        if run.trials is None:
            epoch = run.history[-1]["epoch"] if run.history else None
            status += f" {_epochs(epoch)}/{run.settings['epochs']:g}"
        if selects is not None and (best := run.best(selects)[0]) is not None:
            score = f"{selects} {best:.2f}"
        table.add_row(
            cell(run.folder.name),
            run.task,
            run.settings["encoder"],
            _date(run.started),
            status,
            cell(score),
        )
    return table


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def _epochs(value: float | None) -> str:
    """Returns a number of epochs with three digits, or all of thousands."""
    return number(value, ".3g" if value is None or value < 999.5 else ".0f")


def print_run(console: Console, run: RunRecord) -> None:
    """Prints settings, history, scores and trials of a run."""
    lines = [
        f"{run.folder}: {run.task} with {run.settings['encoder']}, {run.status}",
        f"started {_date(run.started)}, tf-charagram {run.version}",
    ]
    if run.status == "unfinished":
        lines.append(f"To go on: the same command with --out {run.folder} --resume")
    for line in lines:
        console.print(printable(line), markup=False, soft_wrap=True)
    table = make_table("Changed settings", ("setting", "value"), ())
    for name, value in run.changed_settings().items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        table.add_row(cell(name), cell(shown))
    console.print(table)
    if run.history:
        console.print(history_table(run.history, run.selects or "", console.width))
    if run.trials:
        console.print(_trials_table(run, run.trials))
    elif run.set_names():
        console.print(_scores_table(run))


def _scores_table(run: RunRecord) -> Table:
    """Returns the scores of the weights that were kept, and the best of all evaluations."""
    table = make_table("Scores", ("set",), ("kept", "best", "at epoch"))
    for name in run.set_names():
        best, epoch = run.best(name)
        table.add_row(cell(name), number(run.final(name)), number(best), _epochs(epoch))
    return table


def _trials_table(run: RunRecord, trials: Sequence[dict[str, Any]]) -> Table:
    """Returns the best trials of a search."""
    best = sorted(trials, key=lambda t: (t["status"] != _COMPLETED, -(t["score"] or 0.0)))
    title = f"Trials, {min(len(best), _MAX_TRIALS)} best of {len(best)}"
    table = make_table(title, ("trial", "values", "status"), (run.selects or "score", "epochs"))
    for trial in best[:_MAX_TRIALS]:
        values = " ".join(f"{name}={value}" for name, value in trial["values"].items())
        table.add_row(
            trial["id"],
            cell(values),
            trial["status"],
            number(trial["score"]),
            number(trial["epochs"], "g"),
        )
    return table


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram runs", description=__doc__)
    parser.add_argument(
        "folder",
        nargs="?",
        default=_FOLDER,
        help="folder that the runs are in, or folder of a run or search to show [runs]",
    )
    return parser


def runs(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    folder = Path(make_parser().parse_args(arguments).folder)
    if any((folder / name).is_file() for name in ("config.json", _SEARCH)):
        print_run(table_console(), read_run(folder))
    elif found := find_runs(folder):
        table_console().print(runs_table(found))
    else:
        sys.stdout.write(f"No runs in {folder}.\n")
    return 0
