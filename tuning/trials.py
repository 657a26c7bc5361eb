"""A trial: one training run in its own folder, and the result it leaves there."""

from __future__ import annotations

import gc
import shutil
import statistics
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import tensorflow as tf

from tf_charagram.errors import ConfigError, TrainingError
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import writing
from tf_charagram.tasks import make_task
from tf_charagram.training.run import TrainingRun
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.task import Task
from tf_charagram.tuning.results import (
    COMPLETED,
    FAILED,
    STOPPED,
    Result,
    ranked,
    read_result,
    read_results,
)
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.tensorboard import write_hparams

#: Errors that the values of a trial may cause. Others concern all trials and end the search: a
#: full disk, a file that was changed, a bug.
_FAILURES = (TrainingError, ConfigError, MemoryError, tf.errors.ResourceExhaustedError)
#: Fewest completed trials whose median counts.
_LEAST_TRIALS = 3

Watch = Callable[[dict[str, Any]], None]


class TrialPruned(Exception):
    """A trial is not worth going on with."""


class WatchedFolder(RunFolder):
    """A run folder that shows each line of its history to a function.

    Args:
        path: The folder.
        watch: Called with the line once it is written; what it raises ends the run.
    """

    def __init__(self, path: str | Path, watch: Watch) -> None:
        super().__init__(path)
        self._watch = watch

    def append_history(self, record: dict[str, Any]) -> None:
        """Adds one line to the history; errors as for `RunFolder` and of the function."""
        super().append_history(record)
        self._watch(record)


class TrialRunner:
    """Runs the trials of a search, one after the other.

    What is trained on is read, and ids are computed, once for trials in a row that need the same.

    Args:
        search: The search.
        folder: Where it lives.
        on_evaluation: Called after each evaluation of a trial.
    """

    def __init__(
        self, search: Search, folder: SearchFolder, on_evaluation: Callable[[], None] | None = None
    ) -> None:
        self._search = search
        self._folder = folder
        self._on_evaluation = on_evaluation
        self._previous: Task | None = None

    def run(self, trial_id: str, values: dict[str, Any], epochs: float | None = None) -> Result:
        """Runs a trial to its end, or goes on with it; one that has ended is not run again.

        Args:
            trial_id: Its name.
            values: What it varies, field -> value.
            epochs: Its length, if not that of all.

        Raises:
            CharagramError: What ends the search: the folder cannot be written, the pairs cannot
                be read.
            KeyboardInterrupt: After a checkpoint was written.
        """
        path = self._folder.trials / trial_id
        earlier = read_result(path)
        if earlier is not None:
            return earlier
        status, reason = COMPLETED, None
        try:
            self._train(self._search.trial_config(values, path, epochs=epochs))
        except TrialPruned as error:
            status, reason = STOPPED, str(error)
        except _FAILURES as error:
            status, reason = FAILED, str(error) or type(error).__name__
        result = self._result(trial_id, values, status, reason)
        write_hparams(self._folder.tensorboard / trial_id, self._search, result)
        result.write(path)
        return result

    def _train(self, config: RunConfig) -> None:
        """Trains one run to its end; what it says goes into a file."""
        folder = RunFolder(str(config.out))
        if folder.metrics.is_file():
            return
        if self._previous is not None and not self._previous.fits(config):
            self._previous = None
        gc.collect()
        with writing(folder.path):
            folder.path.mkdir(parents=True, exist_ok=True)
            log = open(folder.path / "log.txt", "a", encoding="utf-8")
        with log, redirect_stderr(log):
            run = TrainingRun(
                make_task(config), resume=True, overwrite=False, previous=self._previous
            )
            self._previous = run.task if run.task.shares_examples else None
            run.loop.checkpoint_at_end = False
            run.loop.folder = WatchedFolder(
                folder.path,
                lambda record: self._look(config, record, record["step"] >= run.loop.total_steps),
            )
            run.run(resume=True, export=False)

    def _look(self, config: RunConfig, record: dict[str, Any], is_last: bool) -> None:
        """Looks at an evaluation; the last one stops nothing.

        Raises:
            TrialPruned: The trial is far below the others.
        """
        if self._on_evaluation is not None:
            self._on_evaluation()
        margin, name = self._search.stop_hopeless, self._search.config.select
        score = record["scores"][name]
        if margin is None or score is None or is_last:
            return
        number = len(RunFolder(str(config.out)).read_history())
        completed = [score for score in self._scores_at(number) if score is not None]
        if len(completed) < _LEAST_TRIALS:
            return
        median = statistics.median(completed)
        if score < median - margin:
            raise TrialPruned(
                f"{score:.2f} on {name} after {record['epoch']:g} epochs; the median there is "
                f"{median:.2f}"
            )

    def _scores_at(self, number: int) -> list[float | None]:
        """Returns the scores that completed trials had at their n-th evaluation."""
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
        """Returns what the folder of a trial says."""
        folder = RunFolder(self._folder.trials / trial_id)
        history = folder.read_history()
        nothing: dict[str, Any] = {"scores": {}, "epoch": 0.0, "seconds": 0.0}
        last = history[-1] if history else nothing
        scores = last["scores"]
        score = None
        if status == COMPLETED:
            scores = read_json(folder.metrics)["scores"]
        if status != FAILED:
            records = history if self._search.objective == "max" else history[-1:]
            selected = [record["scores"][self._search.config.select] for record in records]
            score = max((value for value in selected if value is not None), default=None)
            if score is None:
                status = FAILED
                reason = f"no score on {self._search.config.select}: all its pairs get the same"
        return Result(
            trial_id, status, values, score, scores, last["epoch"], last["seconds"], reason
        )


def prune(folder: SearchFolder, results: list[Result], keep: int) -> None:
    """Deletes the models and checkpoints of all but the best trials.

    Args:
        folder: Where the search lives.
        results: Those of all trials that have ended; others are left alone.
        keep: How many completed trials keep their model. No trial keeps its checkpoints.
    """
    for rank, result in enumerate(ranked(results)):
        run = RunFolder(folder.trials / result.id)
        shutil.rmtree(run.checkpoints, ignore_errors=True)
        if rank >= keep or result.status != COMPLETED:
            shutil.rmtree(run.model, ignore_errors=True)
