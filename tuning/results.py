"""What came of the trials: read from their folders, written as tables."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tf_charagram.errors import RunError
from tf_charagram.files.json_files import read_json, write_json
from tf_charagram.files.writing import whole_file
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import label

COMPLETED = "completed"
#: Given up as hopeless.
STOPPED = "stopped"
FAILED = "failed"

_FILE = "result.json"


@dataclass(frozen=True)
class Result:
    """What came of one trial.

    Attributes:
        id: The trial.
        status: `"completed"`, `"stopped"` or `"failed"`.
        values: What it varied, field -> value.
        score: Its objective; `None` if it failed.
        scores: All scores of the weights that were kept, by set.
        epochs: How far it was trained.
        seconds: Time in training, without evaluations.
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


def read_result(folder: Path) -> Result | None:
    """Returns the result of a trial, or `None` if it has not ended.

    Args:
        folder: The folder of the trial.

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
    """Returns the results of all trials that have ended, in order; errors as for `read_result`."""
    names = [path.parent.name for path in folder.trials.glob(f"*/{_FILE}")]
    # A copy that somebody made of a folder is not a trial.
    ids = sorted(filter(str.isdecimal, names), key=int)
    return [result for id_ in ids if (result := read_result(folder.trials / id_))]


def ranked(results: Iterable[Result]) -> list[Result]:
    """Returns results from best to worst: completed, stopped, failed, each by score and order."""
    statuses = (COMPLETED, STOPPED, FAILED)
    return sorted(
        results, key=lambda result: (statuses.index(result.status), -(result.score or 0.0))
    )


def best(results: Iterable[Result]) -> Result | None:
    """Returns the best completed trial, if any was completed."""
    return next((result for result in ranked(results) if result.status == COMPLETED), None)


def write_tables(search: Search, folder: SearchFolder, results: Sequence[Result]) -> None:
    """Writes `results.csv` in the order of the trials, `.json` and `.md` from best to worst.

    Raises:
        RunError: A file cannot be written.
    """
    rows = [_row(search, result, results) for result in results]
    header = list(_row(search, Result("", FAILED, {}), results))
    with whole_file(folder.path / "results.csv", "w") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    order = ranked(results)
    write_json(
        folder.path / "results.json",
        {
            "select": search.config.select,
            "objective": search.objective,
            "tuner": search.tuner,
            "num_trials": search.num_trials,
            "space": {name: list(choices) for name, choices in search.space.items()},
            "trials": [asdict(result) for result in order],
        },
    )
    with whole_file(folder.path / "results.md", "w") as file:
        file.write(f"| {' | '.join(map(_cell, header))} |\n|{'---|' * len(header)}\n")
        for result in order:
            cells = (_cell(value) for value in _row(search, result, results).values())
            file.write(f"| {' | '.join(cells)} |\n")


def _row(search: Search, result: Result, results: Sequence[Result]) -> dict[str, Any]:
    """Returns one line of the table; all have the same columns."""
    sets = dict.fromkeys(name for result in results for name in result.scores)
    values = {name: result.values.get(name) for name in search.space}
    # A set may be called like a column.
    scores = {f"score.{name}": result.scores.get(name) for name in sets}
    return {
        "id": result.id,
        "status": result.status,
        **{name: label(value) for name, value in values.items()},
        "score": result.score,
        **scores,
        "epochs": result.epochs,
        "seconds": result.seconds,
        "reason": result.reason,
    }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
