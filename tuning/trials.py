"""Runs trials: each is a training run in a folder of its own."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import keras_tuner
import tensorflow as tf
from keras_tuner.engine.base_tuner import BaseTuner
from keras_tuner.engine.trial import Trial
from keras_tuner.errors import FailedTrialError, FatalError

from tf_charagram.errors import ConfigError, TrainingError
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import writing
from tf_charagram.tasks import make_task
from tf_charagram.training.run import TrainingRun
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning.results import (
    COMPLETED,
    FAILED,
    STOPPED,
    Result,
    read_result,
    read_results,
)
from tf_charagram.tuning.search import Search, SearchFolder

# Errors that the values of a trial can cause. Other errors end the search.
_FAILURES = (TrainingError, ConfigError, MemoryError, tf.errors.ResourceExhaustedError)
# Minimum number of completed trials for a median.
_MIN_TRIALS = 3


class TrialTuner(BaseTuner):
    """Runs the trials of an oracle.

    In a process with KerasTuner's variables of a worker, the trials come from the chief.

    Args:
        search: The search.
        oracle: Its oracle.
        folder: Its folder.
        on_progress: Called after each evaluation and each trial.
    """

    def __init__(
        self,
        search: Search,
        oracle: keras_tuner.Oracle,
        folder: SearchFolder,
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(oracle, directory=str(folder.path), project_name=folder.oracle.name)
        self._search = search
        self._runner = TrialRunner(search, folder, on_progress)
        self._on_progress = on_progress

    def search(self) -> None:
        """Runs trials until there are no more.

        Raises:
            CharagramError: An error that does not depend on the values of a trial.
            KeyboardInterrupt: The running trial can be resumed.
        """
        try:
            super().search()
        except _SearchError as error:
            raise error.__cause__ or error from None

    def run_trial(self, trial: Trial) -> dict[str, float]:
        """Runs a trial; returns set -> score."""
        values = trial.hyperparameters.values
        epochs = values.get("tuner/epochs")
        try:
            result = self._runner.run(trial.trial_id, self._search.values(values), epochs)
        except Exception as error:  # KerasTuner would count it as a failed trial.
            raise _SearchError(str(error)) from error
        if result.status == FAILED:
            raise FailedTrialError(result.reason)
        return {self._search.config.select: float(result.score or 0.0)}

    def on_trial_end(self, trial: Trial) -> None:
        """Tells the oracle."""
        self.oracle.end_trial(trial)
        self._on_progress()


class _SearchError(FatalError):
    """An error that ends a search; KerasTuner counts others as failed trials."""


class TrialPruned(Exception):
    """A trial was stopped because it is far below the others."""


class WatchedFolder(RunFolder):
    """A run folder that passes each line of its history to a function.

    Args:
        path: The folder.
        watch: Called with each line after it is written; an exception ends the run.
    """

    def __init__(self, path: str | Path, watch: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(path)
        self._watch = watch

    def append_history(self, record: dict[str, Any]) -> None:
        """Appends a line to the history."""
        super().append_history(record)
        self._watch(record)


class TrialRunner:
    """Runs the trials of a search in this process.

    Args:
        search: The search.
        folder: Its folder.
        on_evaluation: Called after each evaluation of a trial.
    """

    def __init__(
        self, search: Search, folder: SearchFolder, on_evaluation: Callable[[], None] | None = None
    ) -> None:
        self._search = search
        self._folder = folder
        self._on_evaluation = on_evaluation

    def run(self, trial_id: str, values: dict[str, Any], epochs: float | None = None) -> Result:
        """Runs or resumes a trial; returns its result.

        Args:
            trial_id: Its id.
            values: Field -> value.
            epochs: Its length. Default: that of all trials.

        Raises:
            CharagramError: An error that does not depend on the values.
            KeyboardInterrupt: A checkpoint was written.
        """
        path = self._folder.trials / trial_id
        if (earlier := read_result(path)) is not None:
            return earlier
        status, reason = COMPLETED, None
        try:
            self._train(self._search.trial_config(values, path, epochs=epochs))
        except TrialPruned as error:
            status, reason = STOPPED, str(error)
        except _FAILURES as error:
            status, reason = FAILED, str(error) or type(error).__name__
        result = self._result(trial_id, values, status, reason)
        result.write(path)
        return result

    def _train(self, config: RunConfig) -> None:
        """Trains a run to its end; its messages go to `log.txt`."""
        folder = RunFolder(str(config.out))
        if folder.metrics.is_file():
            return
        gc.collect()
        with writing(folder.path):
            folder.path.mkdir(parents=True, exist_ok=True)
            log = open(folder.path / "log.txt", "a", encoding="utf-8")
        with log, redirect_stderr(log):
            run = TrainingRun(make_task(config), resume=True, overwrite=False)
            run.loop.checkpoint_at_end = False
            run.loop.folder = WatchedFolder(
                folder.path,
                lambda record: self._look(config, record, record["step"] >= run.loop.total_steps),
            )
            run.run(resume=True, export=False)

    def _look(self, config: RunConfig, record: dict[str, Any], is_last: bool) -> None:
        """Checks an evaluation.

        Raises:
            TrialPruned: The score is far below the median of completed trials.
        """
        if self._on_evaluation is not None:
            self._on_evaluation()
        margin, name = self._search.stop_hopeless, self._search.config.select
        score = record["scores"][name]
        if margin is None or score is None or is_last:
            return
        number = len(RunFolder(str(config.out)).read_history())
        completed = [score for score in self._scores_at(number) if score is not None]
        if len(completed) < _MIN_TRIALS:
            return
        median = statistics.median(completed)
        if score < median - margin:
            raise TrialPruned(
                f"{score:.2f} on {name} after {record['epoch']:g} epochs; the median is "
                f"{median:.2f}"
            )

    def _scores_at(self, number: int) -> list[float | None]:
        """Returns the scores of completed trials at their n-th evaluation."""
        histories = [
            RunFolder(self._folder.trials / result.id).read_history()
            for result in read_results(self._folder)
            if result.status == COMPLETED
        ]
        return [
            history[number - 1]["scores"][self._search.config.select]
            for history in histories
            if len(history) >= number
        ]

    def _result(
        self, trial_id: str, values: dict[str, Any], status: str, reason: str | None
    ) -> Result:
        """Returns the result of a trial from its folder."""
        folder = RunFolder(self._folder.trials / trial_id)
        history = folder.read_history()
        nothing: dict[str, Any] = {"scores": {}, "epoch": 0.0, "seconds": 0.0}
        last = history[-1] if history else nothing
        scores = read_json(folder.metrics)["scores"] if status == COMPLETED else last["scores"]
        score = None
        if status != FAILED:
            records = history if self._search.objective == "max" else history[-1:]
            selected = [record["scores"][self._search.config.select] for record in records]
            score = max((value for value in selected if value is not None), default=None)
            if score is None:
                status = FAILED
                reason = f"no score on {self._search.config.select}: all pairs get the same cosine"
        return Result(
            trial_id, status, values, score, scores, last["epoch"], last["seconds"], reason
        )
