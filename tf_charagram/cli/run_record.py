"""What a run or a search left in its folder; read without TensorFlow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf_charagram.errors import CharagramError, RunError
from tf_charagram.files.json_files import read_json
from tf_charagram.tasks import settings_class
from tf_charagram.training.run_folder import RunFolder

#: Status of a trial with a score that counts.
COMPLETED = "completed"

_LAST = "last"
# Files of a search: its settings, and the table that says how many trials there will be.
_SEARCH, _RESULTS = "search.json", "results.json"


@dataclass(frozen=True)
class RunRecord:
    """A run, or a search for settings.

    Attributes:
        folder: Its folder.
        settings: All settings that were saved.
        version: Version of this package that it was started with.
        started: When it was started, in seconds since the epoch.
        history: One record for each evaluation: `epoch`, `loss`, `scores` and more.
        metrics: The results of a finished run, else empty.
        has_diverged: Whether training could not go on.
        trials: Results of the trials of a search; `None` for a run.
        num_trials: Number of trials of a search; `None` if its tuner decides.
        size: Bytes in the folder.
    """

    folder: Path
    settings: dict[str, Any]
    version: str
    started: float
    history: list[dict[str, Any]]
    metrics: dict[str, Any]
    has_diverged: bool
    trials: list[dict[str, Any]] | None
    num_trials: int | None
    size: int

    @property
    def task(self) -> str:
        """The task, after `tune` for a search."""
        return f"{'' if self.trials is None else 'tune '}{self.settings['task']}"

    @property
    def status(self) -> str:
        """Whether it is finished; for a search, how many trials have ended."""
        if self.trials is not None:
            total = "" if self.num_trials is None else f" of {self.num_trials}"
            return f"{len(self.trials)}{total} trials"
        return "diverged" if self.has_diverged else "finished" if self.metrics else "unfinished"

    @property
    def epochs_done(self) -> float | None:
        """Epochs at the last evaluation."""
        return self.history[-1]["epoch"] if self.history else None

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
            scores = [trial["score"] for trial in self.trials if trial["status"] == COMPLETED]
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
        record = RunRecord(
            folder=files.path,
            settings=saved["settings"],
            version=saved["versions"]["tf_charagram"],
            started=config.stat().st_mtime,
            history=files.read_history(),
            metrics=read_json(files.metrics) if files.metrics.is_file() else {},
            has_diverged=files.problem.is_file(),
            trials=_read_trials(files.path / "trials") if config == search else None,
            num_trials=_num_trials(files.path, saved["settings"]) if config == search else None,
            size=_num_bytes(files.path),
        )
        # So that no command has to expect other files than a run writes.
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


def _num_trials(folder: Path, settings: dict[str, Any]) -> int | None:
    """Returns the number of trials of a search: all combinations unless its table says another."""
    if (folder / _RESULTS).is_file():
        return read_json(folder / _RESULTS)["num_trials"]
    return math.prod(len(v) for name, v in settings.items() if name.startswith("space."))


def _read_trials(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.glob("*/result.json"))
    return [read_json(path) for path in paths if path.parent.name.isdecimal()]


def _num_bytes(folder: Path) -> int:
    """Returns the bytes of the files below a folder; files that a run deletes meanwhile are 0."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if not path.is_dir() else 0
        except OSError:
            continue
    return total
