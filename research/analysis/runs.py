"""The course of training runs, read from their folders (Charagram and Universal, figures 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from research.analysis.table import Curves, Table
from research.paper_numbers import with_means
from tf_charagram._files.json_files import read_json
from tf_charagram.errors import ConfigError
from tf_charagram.training._loop.run_folder import RunFolder

# The history has 4 digits of an epoch.
_MIN_EPOCH = 5e-5


def convergence(runs: Mapping[str, RunFolder], score: str, unit: str = "epoch") -> Table:
    """Compares the scores of runs during training.

    Args:
        runs: Name -> run.
        score: A set of the history, such as `SL999`, or a mean of a paper.
        unit: Unit of the horizontal axis: `"epoch"`, `"examples"` or `"seconds"`.

    Returns:
        One row per run: epochs, examples, best score and its epoch, last score; and one curve
        per run.

    Raises:
        ConfigError: `unit` is unknown, or a run lacks the score; the message names its scores.
    """
    if unit not in ("epoch", "examples", "seconds"):
        raise ConfigError(f"`unit` must be epoch, examples or seconds. Received: unit={unit!r}")
    rows, lines = [], {}
    for name, run in runs.items():
        records = _records(run, score)
        best = max(records, key=lambda record: record["scores"][score])
        last = records[-1]
        rows.append(
            (name, last["epoch"], last["examples"], best["scores"][score], best["epoch"],
             last["scores"][score])
        )  # fmt: skip
        lines[name] = [(float(record[unit]), float(record["scores"][score])) for record in records]
    columns = ("run", "epochs", "examples", f"best {score}", "at epoch", f"last {score}")
    return Table(f"{score} while training", columns, tuple(rows), curves=Curves(unit, score, lines))


def score_by_amount(runs: Mapping[str, RunFolder], score: str) -> Table:
    """Compares the last scores of runs with their numbers of training pairs.

    Args:
        runs: Name -> run; a name such as `random-3` belongs to the line `random`.
        score: As for `convergence`.

    Returns:
        One row per run, fewest pairs first; and one curve per line.

    Raises:
        ConfigError: A run lacks the score.
    """
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, run in runs.items():
        last = _records(run, score)[-1]
        pairs = _num_pairs(run, last)
        rows.append((name, pairs, last["scores"][score]))
        lines.setdefault(name.rpartition("-")[0] or name, []).append(
            (float(pairs), float(last["scores"][score]))
        )
    rows.sort(key=lambda row: row[1])
    curves = Curves("pairs", score, {name: sorted(points) for name, points in lines.items()}, True)
    return Table(f"{score} by amount of data", ("run", "pairs", score), tuple(rows), curves=curves)


def _num_pairs(run: RunFolder, last: dict[str, Any]) -> int:
    """Returns the number of examples in an epoch of a run.

    For an unfinished run, it is computed from the history, whose epochs are rounded.
    """
    try:
        metrics = read_json(run.metrics)
    except (OSError, ValueError):
        metrics = {}
    # With a teacher, examples are texts.
    if "num_pairs" in metrics and "num_texts" not in metrics:
        return int(metrics["num_pairs"])
    steps_per_epoch = max(1, round(last["step"] / max(last["epoch"], _MIN_EPOCH)))
    return round(last["examples"] / last["step"] * steps_per_epoch)


def _records(run: RunFolder, score: str) -> list[dict[str, Any]]:
    """Returns the evaluations of a run that have a score."""
    history = scored_history(run)
    records = [record for record in history if record.get("scores", {}).get(score) is not None]
    if not records:
        names = sorted({name for record in history for name in record.get("scores", {})})
        raise ConfigError(
            f"{run.path} has no score {score!r} in its history. It has: {', '.join(names) or '-'}."
        )
    return records


def scored_history(run: RunFolder) -> list[dict[str, Any]]:
    """Reads the evaluations during a run, and adds the papers' means to their scores."""
    return [
        {**record, "scores": with_means(record.get("scores", {}))} for record in run.read_history()
    ]
