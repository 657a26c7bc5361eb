"""Scores models of the labelled tasks on files, alone or side by side."""

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
        task: What it was trained for.
        scores: Set -> score.
    """

    model: str
    task: LabelledTask
    scores: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        return {
            "model": self.model,
            "scores": {name: self.task.value(score) for name, score in self.scores.items()},
            "details": [{"name": name, **score.to_dict()} for name, score in self.scores.items()],
        }

    def tables(self) -> list[Table]:
        """Returns tables of the scores."""
        return self.task.tables(self.scores)


def evaluate_labelled(
    model: str, eval_data: str | None, *, bad_lines: BadLines, num_resamples: int, seed: int
) -> LabelledEvaluation:
    """Scores a model as the task scores it that the model was trained for.

    Args:
        model: Run folder or model folder.
        eval_data: File to score on; default: the starter set.
        bad_lines: What to do about bad lines.
        num_resamples: Resamples of the bootstrap of the intervals.
        seed: Seed of the resamples.

    Raises:
        CharagramError: Model or file cannot be used; the message says why.
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
    """Returns the task of a model whose folder does not say it: the only one for its kind."""
    kind = read_kind(model)
    names = [name for name in TASKS if task_class(name).model_class.kind == kind]
    if len(names) != 1:
        reason = f"may be of the tasks {', '.join(names)}" if names else "is of no task there is"
        raise ConfigError(
            f"{model} does not say what it was trained for, and a model of the kind '{kind}' "
            f"{reason}. Give the folder of its run."
        )
    return names[0]


def labelled_json(results: Sequence[LabelledEvaluation]) -> dict[str, Any]:
    """Returns the results of one model; those of several under `models`, with differences of two.

    The differences are the second model's scores less the first's.
    """
    if len(results) == 1:
        return results[0].to_dict()
    result: dict[str, Any] = {"models": [result.to_dict() for result in results]}
    changes = _differences(results)
    if changes:
        result["differences"] = {
            name: [change.to_dict() for change in changes_of_set]
            for name, changes_of_set in changes.items()
        }
    return result


def labelled_tables(results: Sequence[LabelledEvaluation]) -> list[tuple[str, list[Table]]]:
    """Returns tables with what stands above them: those of each model, then the differences."""
    tables = [(result.model if len(results) > 1 else "", result.tables()) for result in results]
    changes = _differences(results)
    return [*tables, ("", [difference_table(name, change) for name, change in changes.items()])]


def _differences(results: Sequence[LabelledEvaluation]) -> dict[str, list[Difference]]:
    """Returns the second model's scores less the first's, set by set, paired by resample."""
    if len(results) != 2:
        return {}
    first, second = results
    return {
        name: score_differences(score, second.scores[name]) for name, score in first.scores.items()
    }
