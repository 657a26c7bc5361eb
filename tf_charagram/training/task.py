"""The base class of the tasks: data, model, training step and scores of a run."""

# ruff: noqa: B027  (most tasks have nothing to do in some of the steps)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import keras
from rich.table import Table

from tf_charagram._files.json_files import to_json_lines
from tf_charagram._files.writing import check_is_file, whole_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.starter import STARTER
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.locations import model_files
from tf_charagram.training._loop.building import grow_from, load_pretrained, make_encoder
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training._loop.steps import RunSegment, choose_steps
from tf_charagram.training._loop.stream import Stream
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.step_model import StepModel

ConfigT = TypeVar("ConfigT", bound=RunConfig)


@dataclass(frozen=True)
class Scoring:
    """Options of scoring a model.

    Attributes:
        num_resamples: Bootstrap resamples of the intervals; 0 for no intervals.
        seed: Seed of the resamples.
        check: Called often; raises an error to end the scoring.
    """

    num_resamples: int = 0
    seed: int = 0
    check: Callable[[], None] = lambda: None


class Task(ABC):
    """Base of the tasks: data, model, training step and scores of a `TrainingRun`.

    A run calls `find_sets`, `read`, `build`, `make_stream` and `make_trainer`, in this order, and
    after training `load` and `score`. A saved model is scored by `score` after `find_sets`.

    Args:
        config: Settings of the run.
        bad_lines: Handles bad lines.

    Attributes:
        model_class: Class of the model that is trained.
        default_data: Default of `--data`; empty if it must be given.
        data_help: Description of `--data`, if there is no default.
        trial_epochs: Default length of a trial of a search.
        num_resamples: Bootstrap resamples of the intervals of the final scores.
        example_columns: Columns of an example from Python; empty if examples must be in files.
        num_words_found: Number of words found in the file of `--word-vectors`, if there is one.
    """

    model_class: ClassVar[Any]
    default_data: ClassVar[tuple[str, ...]] = (STARTER,)
    data_help: ClassVar[str] = "files to train on"
    trial_epochs: ClassVar[float] = 10.0
    num_resamples: ClassVar[int] = 1000
    example_columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: Any, bad_lines: BadLines) -> None:
        self.config = config
        self.bad_lines = bad_lines
        self.num_words_found: int | None = None

    # Data.

    @classmethod
    def prepared(cls, config: ConfigT) -> ConfigT:
        """Fills in the settings that depend on the data; returns all settings."""
        return config

    @classmethod
    def data_names(cls, config: RunConfig) -> tuple[str, ...]:
        """Returns the `--data` values, or the default of the task.

        Raises:
            ConfigError: There is neither.
        """
        if not (config.data or cls.default_data):
            raise ConfigError(f"The task '{config.task}' needs --data: {cls.data_help}.")
        return config.data or cls.default_data

    @classmethod
    def input_files(cls, config: RunConfig) -> list[Path]:
        """Returns all files that the weights depend on.

        Raises:
            ConfigError: A name is unknown.
            DataError: A file is missing, or a download failed.
        """
        files = [path for name in cls.data_names(config) for path in cls.files_of(name)]
        return [*files, *cls.model_inputs(config)]

    @staticmethod
    def files_of(name: str) -> tuple[Path, ...]:
        """Returns the file of a `--data` or `--eval-data` value; no file for the starter set.

        Raises:
            DataError: The file is missing.
        """
        if name == STARTER:
            return ()
        check_is_file(name)
        return (Path(name),)

    @classmethod
    def write_examples(cls, examples: Sequence[Any], path: Path) -> None:
        """Writes examples from Python to a file that the task reads.

        Raises:
            ConfigError: Examples of this task must be in files, or one is not as expected.
        """
        if not cls.example_columns:
            raise ConfigError("Examples of this task must be in files: give their paths.")
        rows = []
        for example in examples:
            if isinstance(example, str) or len(example) > len(cls.example_columns):
                raise ConfigError(
                    f"An example must be ({', '.join(cls.example_columns)}). Received: {example!r}"
                )
            rows.append(dict(zip(cls.example_columns, example, strict=False)))
        with whole_file(path, "w") as file:
            file.write(to_json_lines(rows))

    @staticmethod
    def model_inputs(config: RunConfig) -> list[Path]:
        """Returns the files the model starts from: word vectors, word lists, files of `--init`."""
        names = (config.word_vectors, *config.dictionary)
        files = [Path(name) for name in names if name]
        return files if config.init is None else [*files, *model_files(config.init)]

    @abstractmethod
    def find_sets(self) -> list[str]:
        """Returns the names of the sets to score on, without reading the training data.

        Raises:
            DataError: A file is missing, or a set cannot be read.
        """

    @abstractmethod
    def read(self) -> None:
        """Reads the training data and the sets to score on.

        Raises:
            DataError: A file is missing or bad.
            ConfigError: There is too little to train on.
        """

    # Model and training step.

    @abstractmethod
    def build(self) -> Any:
        """Builds the model to train, a `model_class`."""

    @abstractmethod
    def make_stream(self, model: Any, folder: RunFolder) -> Stream:
        """Returns the batches; nothing is written to the folder before they are opened."""

    @abstractmethod
    def make_trainer(self, model: Any, optimizer: keras.optimizers.Optimizer) -> StepModel:
        """Returns the compiled model whose `train_step` trains the weights of `model`."""

    def make_steps(self, trainer: StepModel, stream: Stream) -> RunSegment:
        """Returns a function that trains for a segment of the stream."""
        return choose_steps(trainer, stream)

    def encoder_on(
        self, vectorizer: keras.layers.Layer
    ) -> tuple[keras.layers.Layer, keras.layers.Layer]:
        """Returns a vectorizer and its encoder: new, or from `--init` and grown by new units.

        Args:
            vectorizer: A vectorizer made from the training texts.
        """
        if self.config.init is not None:
            return grow_from(self.config.init, vectorizer, self._new_encoder)
        return vectorizer, self._new_encoder(vectorizer)

    def _new_encoder(self, vectorizer: keras.layers.Layer) -> keras.layers.Layer:
        encoder = make_encoder(self.config, vectorizer.num_rows)
        if self.config.word_vectors is not None:
            self.num_words_found = load_pretrained(self.config, vectorizer, encoder, self.bad_lines)
        return encoder

    # Descriptions, scores and files.

    def describe(self, model: Any) -> str:
        """Returns a one-line summary of data and model."""
        vectorizer = model.vectorizer
        parts = [self.describe_data(), f"{vectorizer.num_rows:,} rows"]
        if vectorizer.dictionary is not None:
            parts.append(f"{len(vectorizer.dictionary):,} known words")
        if self.num_words_found is not None:
            parts.append(f"{self.num_words_found:,} with vectors of {self.config.word_vectors}")
        return ", ".join(parts)

    @abstractmethod
    def describe_data(self) -> str:
        """Returns a short description of the training data."""

    def load(self, path: str | Path) -> Any:
        """Loads the model of a run, to score and to export it."""
        return self.model_class.load(path)

    def restore(self, folder: RunFolder) -> None:
        """Reads the files that `score` needs from the folder of a finished run, if any."""

    @abstractmethod
    def score(self, model: Any, scoring: Scoring) -> dict[str, Any]:
        """Scores a model on all sets.

        Args:
            model: A `model_class`.
            scoring: Options.

        Returns:
            Name of the set -> its score, which has `to_dict`.
        """

    @abstractmethod
    def value(self, score: Any) -> float | None:
        """Returns the number by which scores are compared; larger is better."""

    @abstractmethod
    def tables(self, scores: Mapping[str, Any]) -> list[Table]:
        """Returns tables of scores."""

    def facts(self) -> dict[str, Any]:
        """Returns facts about the data for `metrics.json`."""
        return {}

    def write_extras(self, folder: RunFolder) -> list[str]:
        """Writes further files for other commands; returns their names in the folder."""
        return []
