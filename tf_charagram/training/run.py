"""One training run: a task in, a run folder with a trained model out."""

from __future__ import annotations

import logging
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import keras
from rich.table import Table

from tf_charagram._files.json_files import write_json
from tf_charagram.errors import TrainingError, check_name
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.training._loop.building import check_options
from tf_charagram.training._loop.loop import Scores, TrainingLoop, total_steps
from tf_charagram.training._loop.replicas import make_strategy
from tf_charagram.training._loop.run_folder import RunFolder, run_config
from tf_charagram.training._loop.stream import Stream
from tf_charagram.training.settings import LAST, RunConfig
from tf_charagram.training.task import Scoring, Task

logger = logging.getLogger(__name__)

_PATHS = ("model", "saved_model", "history", "metrics", "tensorboard")


class TrainingRun:
    """One training run of a task.

    Args:
        task: The task to train, with the settings of the run, as `tasks.make_task` returns it.
        resume: Go on with the run in `config.output`.
        overwrite: Replace the run in `config.output`.

    Attributes:
        config: Settings of the run, completed from the model of `init`.
        task: The task.
        folder: The run folder.
        model: The model that is trained.
        stream: The batches.
        strategy: Trains on all GPUs of this machine.
        loop: The training loop.

    Raises:
        CharagramError: Settings, data or folder cannot be used; the message says why.
    """

    def __init__(self, task: Task, *, resume: bool, overwrite: bool) -> None:
        self.task = task
        self.strategy = make_strategy()
        #: Called when a run is resumed, with whether there was a checkpoint.
        self.on_resume: Callable[[bool], object] = lambda has_checkpoint: None
        self.config = config = task.config = task.prepared(task.config)
        check_options(config)
        with self.strategy.scope():
            optimizer = make_optimizer(config.optimizer, config.learning_rate)
        identity = self._claim_folder(resume=resume, overwrite=overwrite)
        self._build(optimizer)
        # Nothing is written or deleted before settings and files are checked.
        self.folder.begin(identity)
        self.loop = TrainingLoop(
            config,
            self.model,
            self._trainer,
            self.stream,
            self._run_segment,
            self._quick_scores,
            self.folder,
        )

    def _claim_folder(self, *, resume: bool, overwrite: bool) -> dict[str, Any]:
        """Opens the folder, if it is free or holds this run; returns the identity of the run."""
        config = self.config
        task = self.task
        set_names = [LAST, *task.find_sets()]
        check_name("set to select by", config.select, set_names)
        name = f"{config.task}-{config.encoder}"
        self.folder = RunFolder.open(config.output, name, resume=resume, overwrite=overwrite)
        identity = run_config(config.to_dict(), task.input_files(config))
        self.folder.check_config(identity)
        return identity

    def _build(self, optimizer: keras.optimizers.Optimizer) -> None:
        """Reads the data; builds the model, its batches and its trainer."""
        task = self.task
        task.read()
        with self.strategy.scope():
            self.model = task.build()
        self.model.task = self.config.task
        self.stream = task.make_stream(self.model, self.folder)
        if task.bad_lines.count:
            logger.warning("%s", task.bad_lines.summary())
        with self.strategy.scope():
            self._trainer = task.make_trainer(self.model, optimizer)
        self._run_segment = task.make_steps(self._trainer, self.stream)
        set_decay(optimizer, self.config, self.stream)

    def _quick_scores(self, check: Callable[[], None]) -> Scores:
        return self._values(self.task.score(self.model, Scoring(check=check)))

    def _values(self, scores: dict[str, Any]) -> Scores:
        return {name: self.task.value(score) for name, score in scores.items()}

    def describe(self) -> str:
        """Returns a one-line summary of model and data."""
        return self.task.describe(self.model)

    def tables(self) -> list[Table]:
        """Returns tables of the final scores; to be called after `run`."""
        return self.task.tables(self.scores) if self.scores else []

    def run(
        self, *, resume: bool, num_resamples: int | None = None, export: bool = True
    ) -> dict[str, Any]:
        """Trains and exports; returns the content of `metrics.json`.

        Args:
            resume: Go on from the newest checkpoint.
            num_resamples: Bootstrap resamples of the intervals. Default: the task's number.
            export: Whether to write a SavedModel and the files of other commands, which may take
                longer than a short run.
        """
        start = time.perf_counter()
        with self.folder.lock:
            has_checkpoint = resume and self.loop.resume()
            if resume:
                self.on_resume(has_checkpoint)
            self.folder.problem.unlink(missing_ok=True)
            if self.loop.step < self.loop.total_steps:
                # The run continues after --max-minutes, so its old metrics are stale.
                self.folder.metrics.unlink(missing_ok=True)
            self.stream.open()
            try:
                self.loop.run()
            except TrainingError as error:
                self.folder.note_problem(error)
                raise
            return self._finish(start, num_resamples, export=export)

    def _finish(self, start: float, num_resamples: int | None, *, export: bool) -> dict[str, Any]:
        """Exports, scores and writes `metrics.json`; returns its content."""
        self.loop.release()
        # With `select`, the model in memory is not the one that was kept.
        self.model = self.task.load(self.folder.model)
        written = [name for name in _PATHS if export or name != "saved_model"]
        if export:
            self.model.export(self.folder.saved_model)
            written += self.task.write_extras(self.folder)
        if num_resamples is None:
            num_resamples = self.task.num_resamples
        self.scores = self.task.score(self.model, Scoring(num_resamples))
        last = self.folder.read_history()[-1]
        speed = last["examples"] / max(last["seconds"], 1e-9)
        paths = {"run": str(self.folder.path)}
        paths |= {name: str(getattr(self.folder, name)) for name in written}
        metrics = {
            "task": self.config.task,
            "encoder": self.config.encoder,
            "scores": self._values(self.scores),
            "details": [{"name": name, **score.to_dict()} for name, score in self.scores.items()],
            **self.task.facts(),
            "num_rows": self.model.vectorizer.num_rows,
            "num_parameters": self.model.count_params(),
            "bad_lines_skipped": self.task.bad_lines.count,
            "steps": self.loop.step,
            f"{self.stream.unit}_per_second": round(speed, 1),
            "training_seconds": last["seconds"],
            "seconds": round(time.perf_counter() - start, 2),
            "peak_memory_mb": _peak_memory_mb(),
            "paths": paths,
        }
        write_json(self.folder.metrics, metrics)
        return metrics


def set_decay(optimizer: keras.optimizers.Optimizer, config: RunConfig, stream: Stream) -> None:
    """Lets the learning rate of a run decay, if its settings say so."""
    if config.decay == "linear":
        steps = total_steps(stream, config.epochs)
        optimizer.learning_rate = keras.optimizers.schedules.PolynomialDecay(
            config.learning_rate, steps, end_learning_rate=0.0
        )


def _peak_memory_mb() -> float:
    """Returns the peak resident size of this process, in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # In bytes on macOS, in KiB on Linux.
    unit = 1 if sys.platform == "darwin" else 1024
    return round(peak * unit / 1e6, 1)
