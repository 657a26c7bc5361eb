"""Trials of `charagram tune`: each is a training run in its own folder, and a row of a table."""

from __future__ import annotations

import csv
import gc
import shutil
import sys
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tensorflow as tf
from keras_tuner.engine.base_tuner import BaseTuner
from keras_tuner.engine.trial import Trial
from keras_tuner.errors import FailedTrialError, FatalError

from tf_charagram._common.reporting import is_quiet, number
from tf_charagram._files.json_files import read_json, write_json
from tf_charagram._files.writing import whole_file
from tf_charagram.errors import ConfigError, RunError, TrainingError
from tf_charagram.tasks import make_task
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.run import TrainingRun
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning._search.oracles import make_oracle
from tf_charagram.tuning._search.search import Search, SearchFolder
from tf_charagram.tuning._search.spaces import fields_of, label
from tf_charagram.tuning.models import TextHyperModel

COMPLETED = "completed"
FAILED = "failed"

_FILE = "result.json"
# Errors that the values of a trial can cause. Other errors end the search.
_FAILURES = (TrainingError, ConfigError, MemoryError, tf.errors.ResourceExhaustedError)


@dataclass(frozen=True)
class _TrialResult:
    """The result of a trial, a row of the tables.

    Attributes:
        values: Setting -> value.
        score: The best score on the set of `--select`; `None` if the trial failed.
        scores: Set -> score of the weights that were kept.
        seconds: Seconds of training, without evaluations.
        reason: Why it failed.
    """

    id: str
    status: str
    values: dict[str, Any]
    score: float | None = None
    scores: dict[str, float | None] = field(default_factory=dict)
    epochs: float = 0.0
    seconds: float = 0.0
    reason: str | None = None

    def describe(self, select: str) -> str:
        """Returns a line about the result; `select` is the set of its score."""
        values = " ".join(f"{name}={label(value)}" for name, value in self.values.items())
        score = number(self.score)
        end = f"{self.seconds:.0f} s"
        if self.reason is not None:
            # The message of an error can have several lines.
            end = " ".join(self.reason.split())
        return f"trial {self.id}  {self.status}  {select} {score}  {values}  {end}"


class TrialTuner(BaseTuner):
    """Runs the trials of a search, from the state in which it was stopped.

    Raises:
        RunError: The state of the search is damaged.
        ConfigError: scikit-learn is missing.
    """

    def __init__(self, search: Search, folder: SearchFolder) -> None:
        oracle = make_oracle(search)
        super().__init__(
            oracle,
            TextHyperModel(search.config, search.space),
            directory=str(folder.path),
            project_name=folder.oracle.name,
        )
        if Path(oracle._get_oracle_fname()).is_file():
            oracle.reload()
        self._search = search
        self._folder = folder

    def search(self) -> None:
        """Runs trials until there are no more.

        Raises:
            CharagramError: An error that does not depend on the values of a trial.
            KeyboardInterrupt: The running trial can be resumed.
        """
        try:
            super().search()
        except FatalError as error:
            raise error.__cause__ or error from None

    def run_trial(self, trial: Trial) -> dict[str, float]:
        """Runs or resumes a trial; returns set -> score."""
        path = self._folder.trials / trial.trial_id
        try:
            result = _read_result(path) or self._run(trial, path)
        except Exception as error:  # KerasTuner would count it as a failed trial.
            raise FatalError(str(error)) from error
        if not is_quiet():
            sys.stderr.write(f"{result.describe(self._search.config.select)}\n")
        if result.score is None:
            raise FailedTrialError(result.reason)
        return {self._search.config.select: result.score}

    def on_trial_end(self, trial: Trial) -> None:
        """Tells the oracle, and updates the tables and the models that are kept."""
        self.oracle.end_trial(trial)
        write_results(self._search, self._folder)

    def _run(self, trial: Trial, path: Path) -> _TrialResult:
        """Trains the model of a trial; returns and writes its result."""
        values = self.hypermodel.settings(trial.hyperparameters)
        # Hyperband decides the number of epochs.
        epochs = trial.hyperparameters.values.get("tuner/epochs", self._search.config.epochs)
        try:
            self._train(self._search.config.replace(**values, output=str(path), epochs=epochs))
            result = self._result(trial.trial_id, values)
        except _FAILURES as error:
            reason = str(error) or type(error).__name__
            result = _TrialResult(trial.trial_id, FAILED, values, reason=reason)
        write_json(path / _FILE, asdict(result))
        return result

    def _train(self, config: RunConfig) -> None:
        """Trains a run to its end; its messages go to `log.txt`."""
        folder = RunFolder(str(config.output))
        if folder.metrics.is_file():
            return
        # Keras models are in cycles: without this, the tables of two trials are in memory.
        gc.collect()
        folder.path.mkdir(parents=True, exist_ok=True)
        with open(folder.path / "log.txt", "a", encoding="utf-8") as log, redirect_stderr(log):
            run = TrainingRun(make_task(config), resume=True, overwrite=False)
            run.loop.checkpoint_at_end = False
            run.run(resume=True, export=False)

    def _result(self, trial_id: str, values: dict[str, Any]) -> _TrialResult:
        """Returns the result of a trial that was trained; its score is the best of its history."""
        folder = RunFolder(self._folder.trials / trial_id)
        select = self._search.config.select
        history = folder.read_history()
        scores = [record["scores"][select] for record in history]
        known = [score for score in scores if score is not None]
        if not known:
            raise TrainingError(f"no score on {select}: all pairs get the same cosine")
        return _TrialResult(
            id=trial_id,
            status=COMPLETED,
            values=values,
            score=max(known),
            scores=read_json(folder.metrics)["scores"],
            epochs=history[-1]["epoch"],
            seconds=history[-1]["seconds"],
        )


def _read_result(folder: Path) -> _TrialResult | None:
    path = folder / _FILE
    try:
        return _TrialResult(**read_json(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path} is damaged: {error!r}.") from error


def read_results(folder: SearchFolder) -> list[_TrialResult]:
    """Returns the results of all trials that have ended, in order.

    Raises:
        RunError: A file is damaged.
    """
    names = [path.parent.name for path in folder.trials.glob(f"*/{_FILE}")]
    ids = [name for name in names if name.isdecimal()]
    results = []
    for trial_id in sorted(ids, key=int):
        result = _read_result(folder.trials / trial_id)
        if result is not None:
            results.append(result)
    return results


def best_first(results: list[_TrialResult]) -> list[_TrialResult]:
    """Returns results from best to worst, failed ones last."""

    def key(result: _TrialResult) -> tuple[bool, float]:
        return result.status == FAILED, -(result.score or 0.0)

    return sorted(results, key=key)


def write_results(search: Search, folder: SearchFolder) -> None:
    """Writes `results.csv`, in the order of the trials.

    Deletes the checkpoints of trials that have ended, and the models of all but the best.

    Raises:
        RunError: A file cannot be written.
    """
    results = read_results(folder)
    _write_table(search, folder.path / "results.csv", results)
    for rank, result in enumerate(best_first(results)):
        run = RunFolder(folder.trials / result.id)
        shutil.rmtree(run.checkpoints, ignore_errors=True)
        if rank >= search.settings.keep or result.status == FAILED:
            shutil.rmtree(run.model, ignore_errors=True)


def _write_table(search: Search, path: Path, results: list[_TrialResult]) -> None:
    """Writes a row per result; a setting and a set have a column each."""
    columns = ["id", "status"]
    for name in search.space:
        columns += fields_of(name)
    columns.append("score")
    for result in results:
        for name in result.scores:
            # Trials that failed have no scores, so their sets are not known.
            if f"score.{name}" not in columns:
                columns.append(f"score.{name}")
    columns += ["epochs", "seconds", "reason"]
    with whole_file(path, "w") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for result in results:
            row = asdict(result)
            for name, value in result.values.items():
                row[name] = label(value)
            for name, score in result.scores.items():
                row[f"score.{name}"] = score
            writer.writerow(row)
