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

from tf_charagram._files.json_files import read_json
from tf_charagram.cli.flags import Parser
from tf_charagram.errors import CharagramError, RunError
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
# Settings of a run, and of a search.
_CONFIG = "config.json"
_SEARCH = "search.json"


@dataclass(frozen=True)
class _RunRecord:
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
        names = self.set_names()
        select = self.settings.get("select", _LAST)
        if select in names:
            return str(select)
        return names[0] if names else None

    def set_names(self) -> list[str]:
        """Returns the names of the sets that were scored."""
        names: dict[str, None] = {}
        for record in [*self.history, self.metrics, *(self.trials or [])]:
            # An unfinished run has no metrics.
            names |= dict.fromkeys(record.get("scores", {}))
        return list(names)

    def best(self, name: str) -> tuple[float | None, float | None]:
        """Returns the best score of a set, and its epoch; a search has only the score."""
        if self.trials is not None:
            scores = [trial["score"] for trial in self.trials if trial["status"] == _COMPLETED]
            return max(scores, default=None), None
        best: float | None = None
        best_epoch: float | None = None
        for record in self.history:
            score = record["scores"].get(name)
            # Of equal scores the first counts.
            if score is not None and (best is None or score > best):
                best = score
                best_epoch = record["epoch"]
        if best is None:
            return self.final(name), None
        return best, best_epoch

    def final(self, name: str) -> float | None:
        """Returns the score of the weights that a finished run kept."""
        return self.metrics.get("scores", {}).get(name)

    def changed_settings(self) -> dict[str, Any]:
        """Returns the settings that differ from the defaults of their task and encoder."""
        # A search has settings such as `search.tuner` and `space.dim`, too.
        search = {name: value for name, value in self.settings.items() if "." in name}
        run = {name: value for name, value in self.settings.items() if name not in search}
        cls = settings_class(run["task"])
        config = cls.from_dict(run).to_dict()
        defaults = cls(task=config["task"], encoder=config["encoder"]).to_dict()
        changed = {}
        for name, value in config.items():
            if value != defaults[name] and name != "out":
                changed[name] = value
        return {**changed, **search}


def _read_run(folder: str | Path) -> _RunRecord:
    """Reads the folder of a run or of a search.

    Raises:
        RunError: It does not exist, is not such a folder, or is damaged.
    """
    files = RunFolder(folder)
    search = files.path / _SEARCH
    is_search = search.is_file()
    config = search if is_search else files.config
    if not files.path.is_dir():
        raise RunError(f"There is no folder {folder}. `charagram runs FOLDER` lists runs.")
    if not config.is_file():
        raise RunError(f"{folder} is not a run folder: it has no {files.config.name}.")
    try:
        saved = read_json(config)
        if "encoder" in saved:
            raise RunError(f"{folder} is not a run folder but a model: give the folder of its run.")
        metrics = read_json(files.metrics) if files.metrics.is_file() else {}
        trials = _read_trials(files.path) if is_search else None
        record = _RunRecord(
            folder=files.path,
            settings=saved["settings"],
            version=saved["versions"]["tf_charagram"],
            started=config.stat().st_mtime,
            history=files.read_history(),
            metrics=metrics,
            status=_status(files, metrics, trials),
            trials=trials,
        )
        # Damaged files fail here, so that no table has to expect them.
        record.changed_settings()
        for name in record.set_names():
            record.best(name)
        return record
    except RunError:
        raise
    except (CharagramError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise RunError(f"{folder} cannot be read as a run: {error}") from error


def _status(files: RunFolder, metrics: dict[str, Any], trials: list[dict[str, Any]] | None) -> str:
    if trials is not None:
        return f"{len(trials)} trials"
    if metrics:
        return "finished"
    return "diverged" if files.problem.is_file() else "unfinished"


def _find_runs(folder: str | Path) -> list[_RunRecord]:
    """Returns the runs and searches directly in a folder, the newest first.

    Raises:
        RunError: There is no such folder.
    """
    if not Path(folder).is_dir():
        raise RunError(f"There is no folder {folder}. Name the folder that the runs are in.")
    found = []
    for path in Path(folder).iterdir():
        try:
            found.append(_read_run(path))
        except RunError:
            continue
    return sorted(found, key=lambda run: run.started, reverse=True)


def _read_trials(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "trials").glob("*/result.json"))
    return [read_json(path) for path in paths if path.parent.name.isdecimal()]


def _runs_table(runs: Sequence[_RunRecord]) -> Table:
    """Returns a table with a row for each run."""
    # Without lines between the columns it fits 80 characters.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("name", "task", "encoder", "started", "status", "best score"):
        table.add_column(name, overflow="fold", no_wrap=name == "started")
    for run in runs:
        status = run.status
        if run.trials is None:
            epoch = run.history[-1]["epoch"] if run.history else None
            status += f" {_epochs(epoch)}/{run.settings['epochs']:g}"
        table.add_row(
            cell(run.folder.name),
            run.task,
            run.settings["encoder"],
            _date(run.started),
            status,
            cell(_best_score(run)),
        )
    return table


def _best_score(run: _RunRecord) -> str:
    """Formats the set that selects weights and its best score; empty before the first score."""
    name = run.selects
    if name is None:
        return ""
    best, _ = run.best(name)
    return "" if best is None else f"{name} {best:.2f}"


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def _epochs(value: float | None) -> str:
    """Formats a number of epochs with three digits, or all digits of thousands."""
    # `.3g` would write 1000 as 1e+03.
    is_large = value is not None and value >= 999.5
    return number(value, ".0f" if is_large else ".3g")


def _print_run(console: Console, run: _RunRecord) -> None:
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
        if isinstance(value, list | tuple):
            value = ", ".join(str(part) for part in value)
        table.add_row(cell(name), cell(value))
    console.print(table)
    if run.history:
        console.print(history_table(run.history, run.selects or "", console.width))
    if run.trials:
        console.print(_trials_table(run, run.trials))
    elif run.set_names():
        console.print(_scores_table(run))


def _scores_table(run: _RunRecord) -> Table:
    """Returns the scores of the weights that were kept, and the best of all evaluations."""
    table = make_table("Scores", ("set",), ("kept", "best", "at epoch"))
    for name in run.set_names():
        best, epoch = run.best(name)
        table.add_row(cell(name), number(run.final(name)), number(best), _epochs(epoch))
    return table


def _trials_table(run: _RunRecord, trials: Sequence[dict[str, Any]]) -> Table:
    """Returns the best trials of a search."""

    def rank(trial: dict[str, Any]) -> tuple[bool, float]:
        return trial["status"] != _COMPLETED, -(trial["score"] or 0.0)

    best = sorted(trials, key=rank)
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


def _make_parser() -> Parser:
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
    folder = Path(_make_parser().parse_args(arguments).folder)
    if (folder / _CONFIG).is_file() or (folder / _SEARCH).is_file():
        _print_run(table_console(), _read_run(folder))
        return 0
    found = _find_runs(folder)
    if found:
        table_console().print(_runs_table(found))
    else:
        sys.stdout.write(f"No runs in {folder}.\n")
    return 0
