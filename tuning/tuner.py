"""The tuner that asks an oracle for trials, runs them, and reports their scores."""

from __future__ import annotations

import time
from collections.abc import Callable

import keras_tuner
from keras_tuner.engine.base_tuner import BaseTuner
from keras_tuner.engine.trial import Trial, TrialStatus
from keras_tuner.errors import FailedTrialError

from tf_charagram.tuning.results import FAILED
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.trials import TrialRunner

_IDLE_S = 1.0


class TrialTuner(BaseTuner):
    """Runs trials until there are no more.

    In a process that has KerasTuner's variables of a worker, the trials come from the chief.

    Args:
        search: The search.
        oracle: Its oracle.
        folder: Where it lives.
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
        """Runs the trials.

        KerasTuner's own loop asks an idle oracle without a pause, and takes any exception for
        a failed trial, even that of a full disk or a bug.

        Raises:
            CharagramError: What concerns all trials; see `TrialRunner.run`.
            KeyboardInterrupt: The trial that was running can go on.
        """
        while True:
            trial = self.oracle.create_trial(self.tuner_id)
            if trial.status == TrialStatus.STOPPED:
                return
            if trial.status == TrialStatus.IDLE:
                time.sleep(_IDLE_S)
                continue
            try:
                self.oracle.update_trial(trial.trial_id, self.run_trial(trial))
                trial.status = TrialStatus.COMPLETED
            except FailedTrialError as error:
                trial.status, trial.message = TrialStatus.FAILED, str(error)
            self.oracle.end_trial(trial)
            self._on_progress()

    def run_trial(self, trial: Trial) -> dict[str, float]:
        """Runs one trial and returns its score.

        Raises:
            FailedTrialError: It failed, for a reason that concerns no other.
        """
        values = trial.hyperparameters.values
        epochs = values.get("tuner/epochs")
        result = self._runner.run(trial.trial_id, self._search.values(values), epochs)
        if result.status == FAILED:
            raise FailedTrialError(result.reason)
        return {self._search.config.select: float(result.score or 0.0)}
