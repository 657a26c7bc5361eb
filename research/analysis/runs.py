"""How runs went, from their folders alone (Charagram and Universal, figures 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from research.analysis.table import Curves, Table
from tf_charagram.errors import ConfigError
from tf_charagram.files.json_files import read_json
from tf_charagram.training.run_folder import RunFolder

# The history has 4 digits of an epoch.
_LEAST_EPOCH = 5e-5


def convergence(runs: Mapping[str, RunFolder], score: str, unit: str = "epoch") -> Table:
    """Compares how runs get better while they train.

    Args:
        runs: Name -> run.
        score: The score to follow, as the history has it: a set such as `SL999`.
        unit: What the horizontal axis has: `"epoch"`, `"examples"` or `"seconds"`.

    Returns:
        One row per run: epochs, examples, best score and where it was, last score; and one curve
        per run.

    Raises:
        ConfigError: `unit` is unknown, or a run has no such score; the message names those it has.
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
    """Compares the last score of runs with how many pairs they were trained on.

    Args:
        runs: Name -> run; a name like `random-3` is of the line `random`.
        score: As for `convergence`.

    Returns:
        One row per run, fewest pairs first; and one curve per line.

    Raises:
        ConfigError: A run has no such score.
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
    """Returns how many pairs, or other examples, an epoch of a run has.

    A run that was not finished says it in its history only, whose epochs are rounded.
    """
    try:
        metrics = read_json(run.metrics)
    except (OSError, ValueError):
        metrics = {}
    # With a teacher, examples are texts.
    if "num_pairs" in metrics and "num_texts" not in metrics:
        return int(metrics["num_pairs"])
    steps_per_epoch = max(1, round(last["step"] / max(last["epoch"], _LEAST_EPOCH)))
    return round(last["examples"] / last["step"] * steps_per_epoch)


def _records(run: RunFolder, score: str) -> list[dict[str, Any]]:
    """Returns the evaluations of a run that have a score."""
    history = run.read_history()
    records = [record for record in history if record.get("scores", {}).get(score) is not None]
    if not records:
        names = sorted({name for record in history for name in record.get("scores", {})})
        raise ConfigError(
            f"{run.path} has no score {score!r} in its history. It has: {', '.join(names) or '-'}."
        )
    return records
