"""One training run: settings in, a run folder with a trained model out, whatever the task."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from typing import Any

import keras
from rich.table import Table

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import ConfigError, TrainingError, unknown_name
from tf_charagram.files.json_files import write_json
from tf_charagram.layers.cut_table import CutTable, summed_tables
from tf_charagram.layers.embedding_table import tables_on
from tf_charagram.optimizers import make_optimizer
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.tasks import canonical_settings, settings_class, task_class
from tf_charagram.training.building import check_options
from tf_charagram.training.comparable import comparable
from tf_charagram.training.devices import HOST, table_devices
from tf_charagram.training.inherited_settings import check_init
from tf_charagram.training.kept_model import LAST
from tf_charagram.training.loop import Scores, TrainingLoop, total_steps
from tf_charagram.training.metrics import loop_metrics
from tf_charagram.training.run_folder import RunFolder, run_config
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.task import Scoring, Task
from tf_charagram.training.workers.agreement import failing_together

logger = logging.getLogger(__name__)

_LEFT_BY_ALL = ("model", "saved_model", "history", "metrics", "tensorboard")


class TrainingRun:
    """One training run; `config.task` names the task that it asks what to read, build and score.

    Args:
        config: Its settings.
        resume: Go on with the run in `config.out`.
        overwrite: Replace the run in `config.out`.
        previous: The task of another run; what it has read is shared where that fits.
        exchange: The other workers that train the same; the chief alone evaluates and writes.

    Attributes:
        config: Its settings, with what was left open filled in.
        task: What is read, built and scored.
        folder: Where everything is written.
        model: What is trained.
        stream: The batches.
        loop: The training loop.

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
        exchange: Exchange = ALONE,
    ) -> None:
        self.exchange = exchange
        #: Called when a run is resumed, with whether there was a checkpoint.
        self.on_resume: Callable[[bool], object] = lambda has_checkpoint: None
        with failing_together(exchange) as facts:
            settings = self._prepare(config, previous, resume=resume, overwrite=overwrite)
            files = self.task.input_files(self.config)
            facts |= {**comparable(settings, files), "num_examples": self.stream.size}
        # Nothing is written, and no old run deleted, before settings and files were found right,
        # by all.
        self.folder.begin(settings)
        self.loop = TrainingLoop.from_config(
            self.config, self.model, self._trainer, self.stream, self._quick_scores, self.folder,
            exchange,
        )  # fmt: skip

    def _prepare(
        self, config: RunConfig, previous: Task | None, *, resume: bool, overwrite: bool
    ) -> dict[str, Any]:
        """Reads and builds everything; returns what identifies the run."""
        self.config = config = _prepared(config)
        # Before TensorFlow begins to work, after which it takes no more devices.
        is_cut = config.table_devices > 1
        devices = table_devices(config.table_devices) if is_cut else [HOST]
        self._host = HOST if is_cut else None
        check_options(config)
        if not self.exchange.is_alone and getattr(config, "freeze", False):
            raise ConfigError(
                "`workers` share the work of an encoder that is trained, not of `freeze`. Leave "
                "out one of the two."
            )
        self.task = task_class(config.task)(config, BadLines(config.on_bad_line))
        self.task.exchange = self.exchange
        if previous is not None:
            self.task.reuse(previous)
        optimizer = make_optimizer(
            config.optimizer, config.learning_rate, config.momentum, config.initial_accumulator,
            rounding_seed=config.seed,
        )  # fmt: skip
        settings = self._claim_folder(resume=resume, overwrite=overwrite)
        self._build(devices, optimizer)
        return settings

    def _claim_folder(self, *, resume: bool, overwrite: bool) -> dict[str, Any]:
        """Opens the folder, if it is free or holds this run; returns what identifies the run."""
        config, task = self.config, self.task
        set_names = [LAST, *task.find_sets()]
        if config.select not in set_names:
            raise ConfigError(unknown_name("set to select by", config.select, set_names))
        self.folder = self._open_folder(resume=resume, overwrite=overwrite)
        selecting = None if config.select == LAST else task.checksum_of_set(config.select)
        settings = run_config(config.to_dict(), task.input_files(config), selecting)
        self.folder.check_config(settings, canonical_settings)
        return settings

    def _build(self, devices: list[str], optimizer: keras.optimizers.Optimizer) -> None:
        """Reads what is trained on, and builds the model, its batches and what trains it."""
        task = self.task
        task.read()
        with tables_on(self._host):
            self.model = task.build()
        self.model.task = self.config.task
        self._cut_tables(devices)
        self.stream = task.make_stream(self.model, self.folder)
        if task.bad_lines.count:
            logger.warning("%s", task.bad_lines.summary())
        self._trainer = task.make_trainer(self.model, optimizer)
        self._trainer.exchange = self.exchange
        self._set_decay(optimizer)
        if self.stream.size < self.exchange.size:
            raise ConfigError(
                f"`workers` must be at most the number of examples, {self.stream.size}. "
                f"Received: {self.exchange.size} workers"
            )

    def _cut_tables(self, devices: list[str]) -> None:
        """Cuts the tables that are summed, one part for each device of each worker."""
        number = len(devices)
        if number * self.exchange.size == 1 or getattr(self.model.encoder, "word_dropout", False):
            return
        layers = summed_tables(self.model.encoder)
        for layer in [layer for layer in layers if layer.table.trainable]:
            CutTable(
                layer,
                devices,
                num_parts=number * self.exchange.size,
                first_part=number * self.exchange.rank,
                exchange=self.exchange,
            )

    def _open_folder(self, *, resume: bool, overwrite: bool) -> RunFolder:
        """Returns the folder of the run; for workers other than the chief, a temporary one."""
        if not self.exchange.is_chief:
            self._temporary = tempfile.TemporaryDirectory(prefix="charagram-worker-")
            return RunFolder(self._temporary.name)
        name = f"{self.config.task}-{self.config.encoder}"
        return RunFolder.open(self.config.out, name, resume=resume, overwrite=overwrite)

    def _set_decay(self, optimizer: keras.optimizers.Optimizer) -> None:
        """Lets the learning rate fall as the settings say."""
        if self.config.decay == "linear":
            steps = self.stream.num_updates(total_steps(self.stream, self.config.epochs))
            optimizer.learning_rate = keras.optimizers.schedules.PolynomialDecay(
                self.config.learning_rate, steps, end_learning_rate=0.0
            )

    def _quick_scores(self, check: Callable[[], None]) -> Scores:
        """Scores the weights as they are now."""
        return self._values(self.task.score(self.model, Scoring(check=check)))

    def _values(self, scores: dict[str, Any]) -> Scores:
        return {name: self.task.value(score) for name, score in scores.items()}

    def describe(self) -> str:
        """Says in a line what is trained, and on what."""
        return self.task.describe(self.model)

    def tables(self) -> list[Table]:
        """Returns tables of the final scores, and of what the model does; known after `run`."""
        scored = self.task.tables(self.scores) if self.scores else []
        return [*scored, *self.task.sample_tables(self.model)]

    def run(
        self, *, resume: bool, num_resamples: int | None = None, export: bool = True
    ) -> dict[str, Any]:
        """Trains, exports, and returns what `metrics.json` holds; for the chief alone, else `{}`.

        Args:
            resume: Go on from the newest checkpoint.
            num_resamples: Resamples of the bootstrap of the intervals. Default: those of the task.
            export: Whether to leave a SavedModel and what other commands read; without these a
                short run costs less.
        """
        start = time.perf_counter()
        with self.folder.lock:
            if resume:
                self.on_resume(self.loop.resume())
            self.folder.problem.unlink(missing_ok=True)
            if self.loop.step < self.loop.total_steps:
                # Of an earlier end, after --max-minutes: no longer those of the weights.
                self.folder.metrics.unlink(missing_ok=True)
            self.stream.open()
            try:
                self.loop.run()
            except TrainingError as error:
                self.folder.note_problem(error)
                raise
            finally:
                self.stream.close()
            if not self.exchange.is_chief:
                self.exchange.wait()
                return {}
            metrics = self._finish(start, num_resamples, export=export)
        self.exchange.wait()
        return metrics

    def _finish(self, start: float, num_resamples: int | None, *, export: bool) -> dict[str, Any]:
        """Exports, scores, and writes `metrics.json`; returns what it holds."""
        self.loop.release()
        with tables_on(self._host):
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
            "num_workers": self.exchange.size,
            **loop_metrics(self.loop, start),
            "paths": {"run": str(self.folder.path)}
            | {name: str(getattr(self.folder, name)) for name in written},
        }  # fmt: skip
        write_json(self.folder.metrics, metrics)
        return metrics


def _prepared(config: RunConfig) -> RunConfig:
    """Returns the settings, what was left open filled in from the model of `config.init`."""
    settings = settings_class(config.task)
    if not isinstance(config, settings):
        raise ConfigError(
            f"The task '{config.task}' needs a {settings.__name__}. "
            f"Received: {type(config).__name__}"
        )
    config = task_class(config.task).prepared(config)
    if config.init is not None:
        check_init(config.init, config.out)
    return config
