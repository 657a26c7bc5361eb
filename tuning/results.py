"""The results of trials, in their folders and as tables."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tf_charagram.errors import RunError
from tf_charagram.files.json_files import read_json, write_json
from tf_charagram.files.writing import whole_file
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import label

COMPLETED = "completed"
#: Stopped as hopeless.
STOPPED = "stopped"
FAILED = "failed"

_FILE = "result.json"


@dataclass(frozen=True)
class Result:
    """The result of a trial.

    Attributes:
        id: Id of the trial.
        status: `"completed"`, `"stopped"` or `"failed"`.
        values: Field -> value.
        score: Its objective; `None` if it failed.
        scores: Set -> score of the weights that were kept.
        epochs: Epochs trained.
        seconds: Seconds of training, without evaluations.
        reason: Why it was stopped or failed.
    """

    id: str
    status: str
    values: dict[str, Any]
    score: float | None = None
    scores: dict[str, float | None] = field(default_factory=dict)
    epochs: float = 0.0
    seconds: float = 0.0
    reason: str | None = None

    def write(self, folder: Path) -> None:
        """Writes the result into the folder of its trial."""
        write_json(folder / _FILE, asdict(self))

    def describe(self, select: str) -> str:
        """Returns a line about the result; `select` is the set of its score."""
        values = " ".join(f"{name}={label(value)}" for name, value in self.values.items())
        score = "-" if self.score is None else f"{self.score:.2f}"
        reason = "" if self.reason is None else f"  {' '.join(self.reason.split())}"
        line = f"trial {self.id}  {self.status}  {select} {score}  {values}"
        return f"{line}  {self.seconds:.0f} s{reason}"


def read_result(folder: Path) -> Result | None:
    """Returns the result of the trial in a folder, or `None` if it has not ended.

    Raises:
        RunError: The file is damaged.
    """
    path = folder / _FILE
    try:
        return Result(**read_json(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path} is damaged: {error!r}.") from error


def read_results(folder: SearchFolder) -> list[Result]:
    """Returns the results of all trials that have ended, in order; errors as `read_result`."""
    names = [path.parent.name for path in folder.trials.glob(f"*/{_FILE}")]
    ids = sorted(filter(str.isdecimal, names), key=int)
    return [result for id_ in ids if (result := read_result(folder.trials / id_))]


def ranked(results: Iterable[Result]) -> list[Result]:
    """Returns results from best to worst: completed, stopped, failed; then by score and order."""
    statuses = (COMPLETED, STOPPED, FAILED)
    return sorted(
        results, key=lambda result: (statuses.index(result.status), -(result.score or 0.0))
    )


def best(results: Iterable[Result]) -> Result | None:
    """Returns the best completed trial, if any."""
    return next((result for result in ranked(results) if result.status == COMPLETED), None)


def write_tables(search: Search, folder: SearchFolder, results: Sequence[Result]) -> None:
    """Writes `results.csv`, in order, and `results.json`, from best to worst.

    Raises:
        RunError: A file cannot be written.
    """
    sets = dict.fromkeys(name for result in results for name in result.scores)
    columns = [
        "id", "status", *search.space, "score", *(f"score.{name}" for name in sets), "epochs",
        "seconds", "reason",
    ]  # fmt: skip
    with whole_file(folder.path / "results.csv", "w") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for result in results:
            values = {name: label(value) for name, value in result.values.items()}
            scores = {f"score.{name}": score for name, score in result.scores.items()}
            writer.writerow({**asdict(result), **values, **scores})
    summary = {
        "select": search.config.select,
        "objective": search.objective,
        "tuner": search.tuner,
        "num_trials": search.num_trials,
        "space": {name: list(choices) for name, choices in search.space.items()},
        "trials": [asdict(result) for result in ranked(results)],
    }
    write_json(folder.path / "results.json", summary)


def prune(folder: SearchFolder, results: list[Result], keep: int) -> None:
    """Deletes the checkpoints of finished trials, and the models of all but the best."""
    for rank, result in enumerate(ranked(results)):
        run = RunFolder(folder.trials / result.id)
        shutil.rmtree(run.checkpoints, ignore_errors=True)
        if rank >= keep or result.status != COMPLETED:
            shutil.rmtree(run.model, ignore_errors=True)
