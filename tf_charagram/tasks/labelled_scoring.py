"""Scores saved models of the labelled tasks, alone or side by side, for `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.sources import named_sets
from tf_charagram.data.starter import STARTER
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.evaluation.comparison import Difference, difference_table, score_differences
from tf_charagram.files.json_files import read_json
from tf_charagram.models.locations import read_config, read_kind
from tf_charagram.tasks import TASKS, settings_class, task_class
from tf_charagram.tasks.labelled import LabelledTask
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.task import Scoring


class LabelledEvaluation(NamedTuple):
    """The scores of one model of a labelled task.

    Attributes:
        model: Its folder, as given.
        task: The task it was trained for.
        scores: Name of the set -> score.
    """

    model: str
    task: LabelledTask
    scores: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores for `--json`."""
        return {
            "model": self.model,
            "scores": {name: self.task.value(score) for name, score in self.scores.items()},
            "details": [{"name": name, **score.to_dict()} for name, score in self.scores.items()],
        }


def evaluate_labelled(
    model: str, eval_data: str | None, *, bad_lines: BadLines, num_resamples: int, seed: int
) -> LabelledEvaluation:
    """Scores a model in the way of the task it was trained for.

    Args:
        model: Run folder or model folder.
        eval_data: File to score on. Default: the starter set.
        bad_lines: What to do about bad lines.
        num_resamples: Bootstrap resamples for the intervals.
        seed: Seed of the resamples.

    Raises:
        CharagramError: The model or the file cannot be used.
    """
    task = _saved_task(model, bad_lines)
    task.read_sets(named_sets((eval_data or STARTER,), ()))
    scores = task.score(task.load(model), Scoring(num_resamples, seed))
    return LabelledEvaluation(model, task, scores)


def _saved_task(model: str, bad_lines: BadLines) -> LabelledTask:
    """Returns the task of a saved model, with the settings of its run if it is in one."""
    path = Path(model)
    run = RunFolder(path if (path / "model").is_dir() else path.parent)
    settings: dict[str, Any] = {}
    if run.history.is_file():
        try:
            settings = read_json(run.config)["settings"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{run.config} is damaged: {error!r}.") from error
    name = settings.get("task") or read_config(model).get("task") or _only_task(model)
    config = settings_class(name).from_dict({**settings, "task": name})
    task = task_class(name)(config, bad_lines)
    if not isinstance(task, LabelledTask):
        raise ConfigError(f"{model} was trained for the task '{name}', which has no labels.")
    task.restore(run)
    return task


def _only_task(model: str) -> str:
    """Returns the only task of a kind of model, for a model folder that does not name its task."""
    kind = read_kind(model)
    names = [name for name, entry in TASKS.items() if entry.kind == kind]
    if len(names) != 1:
        raise ConfigError(
            f"{model} does not say which task it was trained for, and {len(names)} tasks train a "
            f"model of the kind '{kind}'. Give the folder of its run."
        )
    return names[0]


def labelled_json(results: Sequence[LabelledEvaluation]) -> dict[str, Any]:
    """Returns the result of one model, or several under `models`, with differences of two."""
    if len(results) == 1:
        return results[0].to_dict()
    result: dict[str, Any] = {"models": [result.to_dict() for result in results]}
    if changes := _differences(results):
        result["differences"] = {
            name: [change.to_dict() for change in of_set] for name, of_set in changes.items()
        }
    return result


def labelled_tables(results: Sequence[LabelledEvaluation]) -> list[tuple[str, list[Table]]]:
    """Returns headings and tables: those of each model, then the differences of two."""
    tables = [
        (result.model if len(results) > 1 else "", result.task.tables(result.scores))
        for result in results
    ]
    changes = _differences(results).items()
    return [*tables, ("", [difference_table(name, change) for name, change in changes])]


def _differences(results: Sequence[LabelledEvaluation]) -> dict[str, list[Difference]]:
    """Returns the scores of the second of two models minus the first, by set."""
    if len(results) != 2:
        return {}
    first, second = results
    return {
        name: score_differences(score, second.scores[name]) for name, score in first.scores.items()
    }
