"""What tasks on labelled examples share, whatever is labelled."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_charagram.data.pipeline.sources import labelled_file, named_sets
from tf_charagram.errors import ConfigError
from tf_charagram.training.run_folder import checksums
from tf_charagram.training.task import Scoring, Task


class LabelledTask(Task):
    """A task on labelled examples; a subclass says how a set is read and scored.

    Attributes:
        sets: What is scored on.
    """

    def find_sets(self) -> list[str]:
        """Returns the names of the sets; see `Task.find_sets`."""
        names = self.data_names(self.config)
        self._named_sets = named_sets(self.config.eval_data, names)
        for path in (*names, *(path for _, path, _ in self._named_sets)):
            self.files_of(path)
        return [name for name, _, _ in self._named_sets]

    def checksum_of_set(self, name: str) -> str:
        """Returns a checksum of the files of a set; see `Task.checksum_of_set`."""
        paths = [path for known, path, _ in self._named_sets if known == name]
        return " ".join(checksums(file for path in paths for file in self.files_of(path)).values())

    @staticmethod
    def files_of(name: str) -> tuple[Path, ...]:
        """Returns the files of a `--data` or `--eval-data`; see `Task.files_of`."""
        file = labelled_file(name)
        return () if file is None else (file,)

    def read(self) -> None:
        """Reads the examples and the sets; see `Task.read`."""
        names = self.data_names(self.config)
        self.take_examples([self.read_set(name, "train", name) for name in names])
        self.read_sets(self._named_sets)

    def read_sets(self, named: Sequence[tuple[str, str, str]]) -> None:
        """Reads what is scored on: names, files and splits, as `named_sets` returns them."""
        self.sets = [self.read_set(path, split, name) for name, path, split in named]

    def read_set(self, path: str, split: str, name: str) -> Any:
        """Reads examples.

        Args:
            path: A file, or `starter`.
            split: Which split of the starter set, or of a file that holds several.
            name: Name of the set.

        Raises:
            DataError: The file is missing or bad.
            ConfigError: The task has no starter set.
        """
        file = labelled_file(path)
        return self.starter_set(split) if file is None else self.read_file(file, split, name)

    @abstractmethod
    def read_file(self, path: Path, split: str, name: str) -> Any:
        """Reads examples from a file; see `read_set`."""

    def starter_set(self, split: str) -> Any:
        """Returns a split of the starter set, where the task has one."""
        raise ConfigError(f"The task '{self.config.task}' has no starter set. Give a file.")

    @abstractmethod
    def take_examples(self, examples: Sequence[Any]) -> None:
        """Takes what was read to train on, one set per `--data`."""

    @abstractmethod
    def score_set(self, model: Any, examples: Any, scoring: Scoring) -> Any:
        """Scores a model on a set; returns what `value` and `tables` understand."""

    def score(self, model: Any, scoring: Scoring) -> dict[str, Any]:
        """Scores a model on the sets; see `Task.score`."""
        scores = {}
        for examples in self.sets:
            scoring.check()
            scores[examples.name] = self.score_set(model, examples, scoring)
        return scores
