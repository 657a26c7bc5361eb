"""Base of the tasks that learn from labelled examples: tags, labels or scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tf_charagram.data.pipeline.sources import labelled_file, named_sets
from tf_charagram.data.starter import STARTER, starter_file
from tf_charagram.errors import ConfigError
from tf_charagram.training.run_folder import checksums
from tf_charagram.training.task import Scoring, Task


class LabelledTask(Task):
    """A task on labelled examples; a subclass reads and scores a set.

    Attributes:
        starter: Name of its starter set, see `starter_file`; or `None`.
        sets: The sets to score on.
    """

    starter: ClassVar[str | None] = None

    def find_sets(self) -> list[str]:
        """Returns the names of the sets to score on; see `Task.find_sets`."""
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
        """Returns the file of a `--data` or `--eval-data` value; see `Task.files_of`."""
        file = labelled_file(name)
        return () if file is None else (file,)

    def read(self) -> None:
        """Reads the examples and the sets; see `Task.read`."""
        names = self.data_names(self.config)
        self.take_examples([self.read_set(name, "train", name) for name in names])
        self.read_sets(self._named_sets)

    def read_sets(self, named: Sequence[tuple[str, str, str]]) -> None:
        """Reads the sets to score on, given their names, files and splits; see `named_sets`."""
        self.sets = [self.read_set(path, split, name) for name, path, split in named]

    def read_set(self, path: str, split: str, name: str) -> Any:
        """Reads examples.

        Args:
            path: A file, or `starter`.
            split: Split of the starter set, or of a file with several splits.
            name: Name of the set.

        Raises:
            DataError: The file is missing or bad.
            ConfigError: The task has no starter set.
        """
        file = labelled_file(path)
        if file is not None:
            return self.read_file(file, split, name)
        if self.starter is None:
            raise ConfigError(f"The task '{self.config.task}' has no starter set. Give a file.")
        return self.read_file(starter_file(self.starter, split), split, f"{STARTER}.{split}")

    @abstractmethod
    def read_file(self, path: Path, split: str, name: str) -> Any:
        """Reads examples from a file; see `read_set`."""

    @abstractmethod
    def take_examples(self, examples: Sequence[Any]) -> None:
        """Stores the examples to train on, one set per `--data`."""

    @abstractmethod
    def score_set(self, model: Any, examples: Any, scoring: Scoring) -> Any:
        """Scores a model on a set; the result goes to `value` and `tables`."""

    def score(self, model: Any, scoring: Scoring) -> dict[str, Any]:
        """Scores a model on the sets; see `Task.score`."""
        scores = {}
        for examples in self.sets:
            scoring.check()
            scores[examples.name] = self.score_set(model, examples, scoring)
        return scores
