"""Makes tables: trains missing runs, puts the paper's numbers next to ours, saves the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from research.papers.context import Context
from research.papers.entry import Entry
from research.papers.result import NOT_AT_HAND, Result
from research.papers.runs import Run
from research.papers.sources import ROLES
from research.papers.training import (
    UNLIMITED,
    Limits,
    roles_of,
    run_order,
    train,
    train_command,
)
from tf_charagram._files.json_files import read_json, write_json
from tf_charagram.errors import RunError


def result_file(results: Path, name: str) -> Path:
    """Returns the file with the result of a table or figure."""
    return results / f"{name.replace('/', '-')}.json"


def read_result(path: Path) -> Result:
    """Reads a saved result.

    Raises:
        RunError: The file is missing or damaged.
    """
    try:
        return Result.from_dict(read_json(path))
    except OSError as error:
        raise RunError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} is damaged: {error!r}. Make it again.") from error


def make(
    entry: Entry, context: Context, results: Path, *, limits: Limits = UNLIMITED,
    trained_only: bool = False, say: Callable[[str], object] = lambda text: None,
) -> Result:  # fmt: skip
    """Makes a table or figure, and saves it unless it quotes evaluation sets.

    If a run is missing, its saved cells are kept.

    Args:
        entry: The table or figure.
        context: Runs and data.
        results: Folder to save it in.
        limits: Limits of the runs that are not trained yet.
        trained_only: Train nothing; cells of missing runs stay as they were saved.
        say: Is called with each command before it runs.

    Raises:
        DataError: Data is missing; the message names the run that needs it.
        RunError: A run failed, or the result cannot be written.
    """
    runs = [run for run in run_order(entry.runs) if context.is_needed(run)]
    if not trained_only:
        for run in runs:
            train(run, context.folder, context.sources, context.out, limits, say)
    there = [run for run in runs if context.is_trained(run.name)]
    if entry.runs and not any(map(context.is_trained, entry.runs)):
        raise RunError(f"No run of {entry.name} is trained yet. Leave out --trained-only.")
    for run in there:  # reports missing data
        train_command(run, context.folder, context.sources, context.out)
    made = entry.make(context)
    differences = (*entry.differences, *_differences(context, there))
    result = Result(made.ours, made.paper, made.claims, differences)
    path = result_file(results, entry.name)
    lost = [run.name for run in runs if run not in there]
    if lost and path.is_file():
        result = result.filled_from(read_result(path), lost)
    if not entry.quotes_data:
        write_json(path, result.to_dict())
    return result


def _differences(context: Context, runs: Sequence[Run]) -> list[str]:
    """Returns notes on substitutes for the papers' data, and on runs that ended early."""
    roles = dict.fromkeys(role for run in runs for role in roles_of(run))
    notes = [
        f"{ROLES[role][0].what} {NOT_AT_HAND} {context.sources[role].alternative.what}."
        for role in roles
        if not context.sources[role].alternative.is_papers
    ]
    notes = list(dict.fromkeys(notes))
    shorter: dict[str, list[str]] = {}
    for run in runs:
        history = context.history(run.name)
        epochs, whole = (history[-1]["epoch"] if history else 0.0), run.epochs
        if epochs < whole * 0.99:
            shorter.setdefault(f"{epochs:.3g} of {whole:g} epochs", []).append(run.name)
    return notes + [f"{', '.join(names)}: {length}." for length, names in shorter.items()]
