"""One training run: settings in, a run folder with a trained model out, whatever the task."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import keras
from rich.table import Table

from tf_charagram.bad_lines import BadLines
from tf_charagram.config import RunConfig
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.files import write_json
from tf_charagram.optimizers import make_optimizer
from tf_charagram.training.building import check_options
from tf_charagram.training.loop import LAST, Scores, TrainingLoop
from tf_charagram.training.metrics import loop_metrics
from tf_charagram.training.run_folder import RunFolder, run_config
from tf_charagram.training.tasks import canonical_settings, settings_class, task_class
from tf_charagram.training.tasks.base import Scoring, Task
from tf_charagram.training.transfer import check_init

_LEFT_BY_ALL = ("model", "saved_model", "history", "metrics", "tensorboard")


class TrainingRun:
    """One training run; `config.task` names the task that it asks what to read, build and score.

    Args:
        config: Its settings.
        resume: Go on with the run in `config.out`.
        overwrite: Replace the run in `config.out`.
        previous: The task of another run; what it has read is shared where that fits.

    Attributes:
        config: Its settings, what was left open filled in.
        task: What is read, built and scored.
        folder: Where everything is written.
        model: What is trained.
        stream: The batches.
        loop: What trains.

    Raises:
        CharagramError: Settings, data or folder cannot be used; the message says why.
    """

    def __init__(
        self,
        config: RunConfig,
        *,
        resume: bool,
        overwrite: bool,
        previous: Task | None = None,
    ) -> None:
        make_task = task_class(config.task)
        if not isinstance(config, settings_class(config.task)):
            raise ConfigError(
                f"The task '{config.task}' needs a {settings_class(config.task).__name__}. "
                f"Received: {type(config).__name__}"
            )
        config = make_task.prepared(config)
        if config.init is not None:
            check_init(config.init, config.out)
        check_options(config)
        self.config = config
        self.task = task = make_task(config, BadLines(config.on_bad_line))
        if previous is not None:
            task.reuse(previous)
        optimizer = make_optimizer(
            config.optimizer, config.learning_rate, config.momentum, config.initial_accumulator,
            rounding_seed=config.seed,
        )  # fmt: skip
        set_names = [LAST, *task.find_sets()]
        if config.select not in set_names:
            raise ConfigError(unknown_name("set to select by", config.select, set_names))
        self.folder = RunFolder.open(
            config.out, f"{config.task}-{config.encoder}", resume=resume, overwrite=overwrite
        )
        settings = run_config(config.to_dict(), task.input_files(config))
        self.folder.check_config(settings, canonical_settings)
        task.read()
        self.model = task.build()
        self.model.task = config.task
        self.stream = task.make_stream(self.model, self.folder)
        trainer = task.make_trainer(self.model, optimizer)
        self._set_decay(optimizer)
        # Nothing is written, and no old run deleted, before settings and files were found right.
        self.folder.begin(settings)
        self.loop = TrainingLoop.from_config(
            config, self.model, trainer, self.stream, self._quick_scores, self.folder
        )

    def _set_decay(self, optimizer: keras.optimizers.Optimizer) -> None:
        """Lets the learning rate fall as the settings say."""
        if self.config.decay == "linear":
            steps = max(1, round(self.config.epochs * self.stream.updates_per_epoch))
            optimizer.learning_rate = keras.optimizers.schedules.PolynomialDecay(
                self.config.learning_rate, steps, end_learning_rate=0.0
            )

    def _quick_scores(self, check: Callable[[], None]) -> Scores:
        """Scores the weights as they are now."""
        return self._values(self.task.score(self.model, Scoring(check=check)))

    def _values(self, scores: dict[str, Any]) -> Scores:
        return {name: self.task.value(score) for name, score in scores.items()}

    def describe(self) -> str:
        """Says in a line what is trained on."""
        return self.task.describe(self.model)

    def tables(self) -> list[Table]:
        """Returns tables of the final scores, and of what the model does; for after `run`."""
        scored = self.task.tables(self.scores) if self.scores else []
        return [*scored, *self.task.sample_tables(self.model)]

    def run(
        self, *, resume: bool, num_resamples: int | None = None, export: bool = True
    ) -> dict[str, Any]:
        """Trains, exports, and returns the results that `metrics.json` holds.

        Args:
            resume: Go on from the newest checkpoint.
            num_resamples: Resamples of the bootstrap of the intervals. Default: as the task has it.
            export: Whether to leave a SavedModel and what other commands read; without these a
                short run costs less.
        """
        start = time.perf_counter()
        if resume:
            self.loop.resume()
        self.stream.open()
        try:
            self.loop.run()
        finally:
            self.stream.close()
        self.loop.release()
        self.model = self.task.load(self.folder.model)
        written = [name for name in _LEFT_BY_ALL if export or name != "saved_model"]
        if export:
            self.model.export(self.folder.saved_model)
            written += self.task.write_extras(self.model, self.folder)
        if num_resamples is None:
            num_resamples = self.task.num_resamples
        self.scores = self.task.score(self.model, Scoring(num_resamples))
        metrics = {
            "task": self.config.task,
            "encoder": self.config.encoder,
            "scores": self._values(self.scores),
            "details": [{"name": name, **score.to_dict()} for name, score in self.scores.items()],
            **self.task.facts(),
            "num_rows": self.model.vectorizer.num_rows,
            "num_parameters": self.model.parts.num_parameters,
            "bad_lines_skipped": self.task.bad_lines.count,
            **loop_metrics(self.loop, start),
            "paths": {"run": str(self.folder.path)}
            | {name: str(getattr(self.folder, name)) for name in written},
        }  # fmt: skip
        write_json(self.folder.metrics, metrics)
        return metrics
