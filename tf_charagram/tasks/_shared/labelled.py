"""Tasks that learn from labelled examples, and scores of their saved models for `evaluate`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from rich.table import Table

from tf_charagram._files.json_files import read_json
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.scored import set_name
from tf_charagram.data.starter import STARTER, starter_file
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage.locations import read_config, read_kind
from tf_charagram.tasks import TASKS, settings_class, task_class
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.task import Scoring, Task


class LabelledSets:
    """The part of a task that reads and scores sets of labelled examples.

    Comes before `Task` among the bases of a class, which reads a file and scores a set.

    Attributes:
        starter: Name of its starter set, such as `"sentiment"`; or `None`.
        sets: The sets to score on.
    """

    starter: ClassVar[str | None] = None

    config: Any
    data_names: Callable[[Any], tuple[str, ...]]
    files_of: Callable[[str], tuple[Path, ...]]

    def find_sets(self) -> list[str]:
        """Returns the names of the sets to score on, after checking that all files exist."""
        names = self.data_names(self.config)
        self._scored_sets = _named_sets(self.config.eval_data, names)
        # A missing file must be an error before training, not after.
        for path in (*names, *(path for _, path, _ in self._scored_sets)):
            self.files_of(path)
        return [name for name, _, _ in self._scored_sets]

    def read(self) -> None:
        """Reads the examples to train on and the sets to score on."""
        names = self.data_names(self.config)
        self.take_examples([self._read_set(name, "train", name) for name in names])
        self._read_sets(self._scored_sets)

    def _read_sets(self, named: Sequence[tuple[str, str, str]]) -> None:
        """Reads the sets to score on, given the name, the file and the split of each."""
        self.sets = [self._read_set(path, split, name) for name, path, split in named]

    def _read_set(self, path: str, split: str, name: str) -> Any:
        """Reads examples.

        Args:
            path: A file, or `starter`.
            split: Split of the starter set, or of a file with several splits.
            name: Name of the set.

        Raises:
            DataError: The file is missing or bad.
            ConfigError: The task has no starter set.
        """
        files = self.files_of(path)
        if files:
            return self.read_file(files[0], split, name)
        if self.starter is None:
            raise ConfigError(f"The task '{self.config.task}' has no starter set. Give a file.")
        return self.read_file(starter_file(self.starter, split), split, f"{STARTER}.{split}")

    @abstractmethod
    def read_file(self, path: Path, split: str, name: str) -> Any:
        """Reads the examples of a split from a file; `name` is the name of the set."""

    @abstractmethod
    def take_examples(self, examples: Sequence[Any]) -> None:
        """Stores the examples to train on, one set per `--data`."""

    @abstractmethod
    def score_set(self, model: Any, examples: Any, scoring: Scoring) -> Any:
        """Scores a model on a set; the result goes to `value` and `tables`."""

    def score(self, model: Any, scoring: Scoring) -> dict[str, Any]:
        """Scores a model on the sets; returns name of the set -> score."""
        scores = {}
        for examples in self.sets:
            scoring.check()
            scores[examples.name] = self.score_set(model, examples, scoring)
        return scores


class _LabelledEvaluation(NamedTuple):
    """The scores of one model of a labelled task.

    Attributes:
        model: Its folder, as given.
        task: The task it was trained for.
        scores: Name of the set -> score.
    """

    model: str
    task: Task
    scores: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores for `--json`."""
        return {
            "model": self.model,
            "scores": {name: self.task.value(score) for name, score in self.scores.items()},
            "details": [{"name": name, **score.to_dict()} for name, score in self.scores.items()],
        }


def evaluate_labelled(
    model: str,
    eval_data: str | None,
    *,
    bad_lines: BadLines,
    num_resamples: int,
    seed: int,
    columns: Sequence[str] = (),
    header: bool = True,
) -> _LabelledEvaluation:
    """Scores a model in the way of the task it was trained for.

    Args:
        model: Run folder or model folder.
        eval_data: File to score on. Default: the starter set.
        bad_lines: Policy for bad lines.
        num_resamples: Bootstrap resamples for the intervals.
        seed: Seed of the resamples.
        columns: Columns of the file. Default: the columns the model was trained with.
        header: Whether the first line of a CSV or TSV file has the names of the columns.

    Raises:
        CharagramError: The model or the file cannot be used.
    """
    task = _saved_task(model, bad_lines, columns, header)
    task._read_sets(_named_sets((eval_data or STARTER,), ()))
    scores = task.score(task.load(model), Scoring(num_resamples, seed))
    return _LabelledEvaluation(model, task, scores)


def _saved_task(model: str, bad_lines: BadLines, columns: Sequence[str], header: bool) -> Any:
    """Returns the task of a saved model, with the settings of its run if it is in one."""
    path = Path(model)
    run = RunFolder(path if (path / "model").is_dir() else path.parent)
    settings: dict[str, Any] = {}
    # A model folder that was copied from its run has no history; then defaults hold.
    if run.history.is_file():
        try:
            settings = read_json(run.config)["settings"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{run.config} is damaged: {error!r}.") from error
    name = settings.get("task") or read_config(model).get("task")
    if name is None:
        # A model that was saved from Python: any task of its kind reads its sets.
        kind = read_kind(model)
        name = next(task for task, entry in TASKS.items() if entry.kind == kind)
    settings["task"] = name
    if columns:
        settings["columns"] = columns
    if not header:
        settings["header"] = False
    config = settings_class(name).from_dict(settings)
    task = task_class(name)(config, bad_lines)
    if not isinstance(task, LabelledSets):
        raise ConfigError(f"{model} was trained for the task '{name}', which has no labels.")
    task.restore(run)
    return task


def labelled_json(results: Sequence[_LabelledEvaluation]) -> dict[str, Any]:
    """Returns the result of one model, or several under `models`."""
    found = [result.to_dict() for result in results]
    return found[0] if len(found) == 1 else {"models": found}


def labelled_tables(results: Sequence[_LabelledEvaluation]) -> list[tuple[str, list[Table]]]:
    """Returns headings and tables of each model; a single model has an empty heading."""
    tables = []
    for result in results:
        heading = result.model if len(results) > 1 else ""
        tables.append((heading, result.task.tables(result.scores)))
    return tables


def _named_sets(eval_data: Sequence[str], data: Sequence[str]) -> list[tuple[str, str, str]]:
    """Returns the sets of labelled examples to score on: name, file or `starter`, and split.

    `starter` stands for the sets `starter.dev` and `starter.test`, which are also the default if
    only the starter set is trained on. A file is named by its name without suffix, or by its whole
    path if another file has the same name.

    Args:
        eval_data: The `--eval-data` values.
        data: The `--data` values.
    """
    if not eval_data and set(data) == {STARTER}:
        eval_data = (STARTER,)
    names = [set_name(path) for path in eval_data]
    named: list[tuple[str, str, str]] = []
    for path, name in zip(eval_data, names, strict=True):
        if path == STARTER:
            # The starter set comes in splits, a file is one set.
            named += [(f"{STARTER}.{split}", STARTER, split) for split in ("dev", "test")]
            continue
        is_unique = names.count(name) == 1
        named.append((name if is_unique else path, path, "test"))
    return named
