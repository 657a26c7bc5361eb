"""What a run or a search left in its folder, read without TensorFlow and whatever its state.

Files may be of another version, cut short or written by someone else: what cannot be made sense of
is left out, and only a folder that says nothing of a run is an error.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tf_charagram.errors import CharagramError, RunError
from tf_charagram.tasks import settings_class
from tf_charagram.training.run_folder import RunFolder

FINISHED = "finished"
UNFINISHED = "unfinished"
DIVERGED = "diverged"
#: Trials with this status have a score that counts.
COMPLETED = "completed"

_LAST = "last"
# The file of the settings of a search, which the folder of a run does not have.
_SEARCH = "search.json"
# The table of a search, which says how many trials it is to have.
_RESULTS = "results.json"


@dataclass(frozen=True)
class RunRecord:
    """A run, or a search for settings, as its folder has it.

    Attributes:
        folder: The folder.
        settings: All settings that were saved.
        versions: Versions of packages that it was started with.
        started: When, in seconds since the epoch.
        written: When something was last written.
        history: One record for each evaluation: `epoch`, `loss`, `scores` and more.
        metrics: The results of a finished run; empty before.
        trials: Results of the trials of a search; `None` of a run.
        num_trials: How many trials the search is to have; `None` where its tuner decides.
        files: Bytes of what is in the folder, by name; a folder's name ends with a slash.
    """

    folder: Path
    settings: dict[str, Any]
    versions: dict[str, str]
    started: float
    written: float
    history: list[dict[str, Any]] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    trials: list[dict[str, Any]] | None = None
    num_trials: int | None = None
    files: dict[str, int] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """The task, with `tune` before that of a search."""
        return f"{'' if self.trials is None else 'tune '}{self.settings.get('task', '?')}"

    @property
    def encoder(self) -> str:
        """The encoder."""
        return str(self.settings.get("encoder", "?"))

    @property
    def status(self) -> str:
        """Whether it came to its end; of a search, how many of its trials did."""
        if self.trials is None:
            if RunFolder(self.folder).problem.name in self.files:
                return DIVERGED
            return FINISHED if self.metrics else UNFINISHED
        whole = "" if self.num_trials is None else f" of {self.num_trials}"
        return f"{len(self.trials)}{whole} trials"

    @property
    def epochs_done(self) -> float | None:
        """Epochs at the last evaluation."""
        return to_number(self.history[-1].get("epoch")) if self.history else None

    @property
    def size(self) -> int:
        """Bytes in the folder."""
        return sum(self.files.values())

    @property
    def selects(self) -> str | None:
        """The set that selects weights, or else the first that was scored."""
        select = self.settings.get("select", _LAST)
        names = self.set_names()
        return select if select in names else next(iter(names), None)

    def set_names(self) -> list[str]:
        """Returns the names of the sets that were scored."""
        scored = [_scores(record) for record in [*self.history, self.metrics, *(self.trials or ())]]
        return list(dict.fromkeys(name for scores in scored for name in scores))

    def curve(self, name: str | None = None) -> tuple[list[float], list[float]]:
        """Returns epochs, and at each the score of a set, or without a name the loss."""
        points = {
            to_number(record.get("epoch")): to_number(
                record.get("loss") if name is None else _scores(record).get(name)
            )
            for record in self.history
        }
        known = sorted((x, y) for x, y in points.items() if x is not None and y is not None)
        return [x for x, _ in known], [y for _, y in known]

    def best(self, name: str) -> tuple[float | None, float | None]:
        """Returns the best score of a set, and the epoch of it."""
        if self.trials is not None:
            done = [trial for trial in self.trials if trial.get("status") == COMPLETED]
            known = [to_number(trial.get("score")) for trial in done]
            return max((score for score in known if score is not None), default=None), None
        epochs, scores = self.curve(name)
        if not scores:
            return to_number(_scores(self.metrics).get(name)), None
        place = max(range(len(scores)), key=scores.__getitem__)
        return scores[place], epochs[place]

    def final(self, name: str) -> float | None:
        """Returns the score of the weights that a finished run kept."""
        return to_number(_scores(self.metrics).get(name))

    def changed_settings(self) -> dict[str, Any]:
        """Returns the settings that are not at their defaults; all where these are not known."""
        flat = {name: value for name, value in self.settings.items() if "." not in name}
        of_search = {name: value for name, value in self.settings.items() if "." in name}
        try:
            config = settings_class(flat["task"]).from_dict(flat)
            default = type(config)(task=config.task, encoder=config.encoder, init=config.init)
            same = {**default.to_dict(), "init": None}
            flat = {n: value for n, value in config.to_dict().items() if value != same.get(n)}
        except (CharagramError, KeyError, ValueError, TypeError, AttributeError):
            pass  # A setting, a task or an encoder of another version.
        changed = {n: value for n, value in {**flat, **of_search}.items() if n != "out"}
        return {name: value for name, value in changed.items() if value not in (None, (), [])}


def read_run(folder: str | Path) -> RunRecord:
    """Returns what the folder of a run or of a search holds.

    Raises:
        RunError: The folder does not exist, or is none of a run.
    """
    files = RunFolder(folder)
    search = files.path / _SEARCH
    config = search if search.is_file() else files.config
    if files.path.is_file():
        raise RunError(f"{folder} is a file. Give the folder of a run.")
    if not files.path.is_dir():
        raise RunError(f"There is no folder {folder}. `charagram runs FOLDER` lists what is there.")
    if not config.is_file():
        raise RunError(f"{folder} is not a run folder: it has no {files.config.name}.")
    saved = _read_json(config)
    if not isinstance(saved.get("settings"), dict):
        hint = " It is a model: give the folder of its run." if "encoder" in saved else ""
        raise RunError(f"{folder} is not a run folder: {config} holds no settings.{hint}")
    versions = saved.get("versions")
    written = [
        status.st_mtime for path in _entries(files.path) if (status := _status(path, follow=True))
    ]
    return RunRecord(
        folder=files.path,
        settings=saved["settings"],
        versions=versions if isinstance(versions, dict) else {},
        started=config.stat().st_mtime,
        written=max(written, default=0.0),
        history=_read_history(files),
        metrics=_read_json(files.metrics) if files.metrics.is_file() else {},
        trials=_read_trials(files.path / "trials") if config == search else None,
        num_trials=_num_trials(files.path, saved["settings"]) if config == search else None,
        files=_sizes(files.path),
    )


def find_runs(folder: str | Path) -> list[RunRecord]:
    """Returns the runs and searches right in a folder, the newest first; others are left out.

    Raises:
        RunError: There is no such folder.
    """
    if not Path(folder).is_dir():
        raise RunError(f"There is no folder {folder}. Name the one that the runs are in.")
    found = []
    for path in _entries(Path(folder)):
        try:
            found.append(read_run(path))
        except (RunError, OSError):
            continue
    return sorted(found, key=lambda run: run.started, reverse=True)


def to_number(value: Any) -> float | None:
    """Returns a finite number, or `None` for anything else."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _num_trials(folder: Path, settings: dict[str, Any]) -> int | None:
    """Returns how many trials a search is to have: all combinations if its table does not say."""
    space = [v for name, v in settings.items() if name.startswith("space.") and isinstance(v, list)]
    number = _read_json(folder / _RESULTS).get("num_trials", math.prod(map(len, space)))
    return number if isinstance(number, int) else None


def _scores(record: dict[str, Any]) -> dict[str, Any]:
    scores = record.get("scores")
    return scores if isinstance(scores, dict) else {}


def _read_json(path: Path) -> dict[str, Any]:
    """Returns an object of a JSON file, empty if it is damaged or has something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read_history(files: RunFolder) -> list[dict[str, Any]]:
    try:
        records = json.dumps(files.read_history())
        return [r for r in json.loads(records, parse_constant=_no_number) if isinstance(r, dict)]
    except (OSError, ValueError):
        return []


def _no_number(constant: str) -> None:
    """Takes the place of NaN and infinities, which are no JSON."""


def _read_trials(folder: Path) -> list[dict[str, Any]]:
    # A copy that somebody made of a folder is no trial.
    trials = [path for path in _entries(folder) if path.name.isdecimal()]
    results = [_read_json(path / "result.json") for path in trials]
    return [result for result in results if result]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _sizes(folder: Path) -> dict[str, int]:
    """Returns the bytes of the entries of a folder; links count as themselves."""
    return {
        f"{path.name}/" if path.is_dir() else path.name: _num_bytes(path)
        for path in _entries(folder)
    }


def _num_bytes(path: Path) -> int:
    if path.is_dir() and not path.is_symlink():
        try:
            return sum(map(_num_bytes, path.iterdir()))
        except OSError:
            return 0
    status = _status(path)
    return 0 if status is None else status.st_size


def _status(path: Path, *, follow: bool = False) -> os.stat_result | None:
    """Returns what `stat` says; `None` of a file that a run deleted since, or a link to nothing."""
    try:
        return path.stat(follow_symlinks=follow)
    except OSError:
        return None
