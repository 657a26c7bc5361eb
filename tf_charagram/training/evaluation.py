"""Scores models of the labelled tasks on files, alone or side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from tf_charagram.config import CONFIGS
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation.comparison import Difference, score_differences
from tf_charagram.evaluation.sets import STARTER
from tf_charagram.serialization.model_folder import read_kind
from tf_charagram.training.inputs import named_sets
from tf_charagram.training.labelled import LabelledTask
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.supervised_tasks import SUPERVISED
from tf_charagram.training.tagging import TaggingTask

_TASKS: dict[str, Any] = {"pos": TaggingTask, **SUPERVISED}


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
        return self.task.tables(list(self.scores.items()))


def evaluate_labelled(
    model: str, eval_data: str | None, *, bad_lines: BadLines, num_resamples: int, seed: int
) -> LabelledEvaluation:
    """Scores a model; what to read is said by the settings of its run, if it is in one.

    Args:
        model: Run folder or model folder.
        eval_data: File to score on; default: the starter set.
        bad_lines: What to do about bad lines.
        num_resamples: Of the bootstrap of the intervals.
        seed: Seed of the resamples.

    Raises:
        CharagramError: Model or file cannot be used; the message says why.
    """
    kind = read_kind(model)
    names = [name for name, task in _TASKS.items() if task.model_class.kind == kind]
    if not names:
        raise ConfigError(f"There is no evaluation of a model of the kind '{kind}'. {model}")
    path = Path(model)
    run = RunFolder(path if (path / "model").is_dir() else path.parent)
    config: Any = CONFIGS[names[0]](task=names[0])
    if run.history.is_file():
        saved = json.loads(run.config.read_text(encoding="utf-8"))["settings"]
        config = CONFIGS[names[0]].from_dict(saved)
    task = _TASKS[names[0]](config, bad_lines)
    if run.texts.is_file() and isinstance(task, TaggingTask):
        task.known = frozenset(run.texts.read_text(encoding="utf-8").split("\n"))
    product = task.model_class.load(model)
    sets = [
        task.read(place, split, name)
        for name, place, split in named_sets((eval_data or STARTER,), ())
    ]
    scores = {
        one.name: task.score(product, one, num_resamples=num_resamples, seed=seed) for one in sets
    }
    return LabelledEvaluation(model, task, scores)


def labelled_differences(
    first: LabelledEvaluation, second: LabelledEvaluation
) -> dict[str, list[Difference]]:
    """Returns the second model's scores less the first's, set by set, paired by resample."""
    return {
        name: score_differences(score, second.scores[name]) for name, score in first.scores.items()
    }
