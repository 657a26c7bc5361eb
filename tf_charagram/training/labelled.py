"""What training runs on labelled examples share, whatever the labels are of."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import keras
from rich.table import Table

from tf_charagram.config import RunConfig
from tf_charagram.data.pipeline.stream import Stream
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.files import write_json
from tf_charagram.models.base import HeadedModel
from tf_charagram.optimizers import make_optimizer
from tf_charagram.trainers.base import StepModel
from tf_charagram.training.building import check_options
from tf_charagram.training.inputs import input_files
from tf_charagram.training.loop import LAST, Scores, TrainingLoop
from tf_charagram.training.metrics import loop_metrics
from tf_charagram.training.run_folder import RunFolder, run_config
from tf_charagram.training.schedule import set_decay
from tf_charagram.training.transfer import as_saved, check_init


class LabelledTask(Protocol):
    """What is read and how it is scored."""

    def read(self, place: str, split: str, name: str) -> Any:
        """Reads a set: from a file, or a split of the starter set."""

    def score(self, model: Any, one: Any, *, num_resamples: int, seed: int = 0) -> Any:
        """Scores a model on a set."""

    def value(self, score: Any) -> float | None:
        """Returns the number of a score that counts, larger is better."""

    def tables(self, scores: Sequence[tuple[str, Any]]) -> list[Table]:
        """Returns tables of the scores of some sets."""


class LabelledRun(ABC):
    """One training run on labelled examples; a task says what is read, built and scored.

    Args:
        config: Its settings.
        resume: Go on with the run in `config.out`.
        overwrite: Replace the run in `config.out`.

    Attributes:
        task: What is read and how it is scored.
        product: What is trained.
        sets: What it is scored on.

    Raises:
        CharagramError: Settings, data or folder cannot be used; the message says why.
    """

    task: LabelledTask

    def __init__(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        config = as_saved(config)
        check_options(config)
        self.config = config
        self.bad_lines = BadLines(config.on_bad_line)
        optimizer = make_optimizer(config.optimizer, config.learning_rate, config.momentum)
        if config.init is not None:
            check_init(config.init, config.out)
        self.sets: Sequence[Any] = self.read()
        names = [LAST, *(one.name for one in self.sets)]
        if config.select not in names:
            raise ConfigError(unknown_name("set to select by", config.select, names))
        self.folder = RunFolder.open(
            config.out, f"{config.task}-{config.encoder}", resume=resume, overwrite=overwrite
        )
        settings = run_config(config.to_dict(), input_files(config))
        self.folder.check_config(settings)
        self.product: HeadedModel = self.build()
        self.stream = self.make_stream()
        model = self.make_model(optimizer)
        set_decay(optimizer, config, self.stream.steps_per_epoch)
        # Nothing is written, and no old run deleted, before settings and files were found right.
        self.folder.begin(settings)
        self.loop = TrainingLoop.from_config(
            config, self.product, model, self.stream, self._quick_scores, self.folder
        )

    @abstractmethod
    def read(self) -> Sequence[Any]:
        """Reads what is trained on, and returns what is scored on."""

    @abstractmethod
    def build(self) -> HeadedModel:
        """Builds what is trained."""

    @abstractmethod
    def make_stream(self) -> Stream:
        """Returns the batches."""

    @abstractmethod
    def make_model(self, optimizer: keras.optimizers.Optimizer) -> StepModel:
        """Returns the compiled model that trains `product`."""

    @abstractmethod
    def describe(self) -> str:
        """Says in a line what is trained on."""

    def tables(self) -> list[Table]:
        """Returns tables of the final scores."""
        return self.task.tables(list(self.scores.items())) if self.scores else []

    def _quick_scores(self, check: Callable[[], None]) -> Scores:
        scores: Scores = {}
        for one in self.sets:
            check()
            score = self.task.score(self.product, one, num_resamples=0)
            scores[one.name] = self.task.value(score)
        return scores

    def run(
        self, *, resume: bool, num_resamples: int = 1000, export: bool = True
    ) -> dict[str, Any]:
        """Trains, exports, and returns the results that `metrics.json` holds.

        Args:
            resume: Go on from the newest checkpoint.
            num_resamples: Of the bootstrap of the intervals.
            export: Whether to leave a SavedModel; without it a short run costs less.
        """
        start = time.perf_counter()
        if resume:
            self.loop.resume()
        self.loop.run()
        self.loop.release()
        self.product = type(self.product).load(self.folder.model)
        if export:
            self.product.export(self.folder.saved_model)
        self.scores = {
            one.name: self.task.score(self.product, one, num_resamples=num_resamples)
            for one in self.sets
        }
        details = [{"name": name, **score.to_dict()} for name, score in self.scores.items()]
        names = ("model", "saved_model", "history", "metrics", "tensorboard")
        kept = [name for name in names if export or name != "saved_model"]
        metrics = {
            "task": self.config.task,
            "encoder": self.config.encoder,
            "scores": {name: self.task.value(score) for name, score in self.scores.items()},
            "details": details,
            "num_rows": self.product.vectorizer.num_rows,
            "num_parameters": self.product.parts.num_parameters,
            "bad_lines_skipped": self.bad_lines.count,
            **loop_metrics(self.loop, start),
            "paths": {"run": str(self.folder.path)}
            | {name: str(getattr(self.folder, name)) for name in kept},
        }  # fmt: skip
        write_json(self.folder.metrics, metrics)
        return metrics
