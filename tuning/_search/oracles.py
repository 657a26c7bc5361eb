"""KerasTuner's oracles, which choose the next trial, made safe against a kill at any time.

KerasTuner's own oracles write files in place, so a kill can leave half a file, and its grid forgets
the order of trials when it is reloaded (its issue 1055).
"""

from __future__ import annotations

import math
from itertools import islice, product
from pathlib import Path
from typing import Any

import keras_tuner
from keras_tuner import oracles
from keras_tuner.engine.trial import Trial, TrialStatus

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.json_files import read_json, write_json
from tf_charagram.errors import RunError
from tf_charagram.tuning._search.search import Search

# Random draws that repeat earlier trials, after which the space counts as exhausted.
_MAX_COLLISIONS = 10_000


class _SafeOracle(keras_tuner.Oracle):
    """Writes whole files, and recovers from a kill between two of them."""

    ongoing_trials: dict[str, Trial]

    def save(self) -> None:
        """Writes the state of the search."""
        write_json(self._get_oracle_fname(), self.get_state())

    def _save_trial(self, trial: Trial) -> None:
        write_json(Path(self._get_trial_dir(trial.trial_id)) / "trial.json", trial.get_state())

    def reload(self) -> None:
        """Reads the state of the search; trials that were running are handed out first.

        Raises:
            RunError: A file is damaged.
        """
        folder = Path(self._project_dir)
        try:
            state = read_json(self._get_oracle_fname())
            # The file of a trial is written before the list of trials.
            self.trials = {
                name: Trial.from_state(read_json(folder / f"trial_{name}" / "trial.json"))
                for name in state["start_order"]
            }
            self.set_state(state)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise RunError(f"{folder} is damaged: {error!r}.") from error
        # A trial that has just ended still counts as running.
        running = {trial.trial_id for trial in self.ongoing_trials.values()}
        self._retry_queue += sorted(running - set(self.end_order))
        self.ongoing_trials = {}


class _GridOracle(_SafeOracle):
    """Tries all combinations in order, the last setting fastest.

    KerasTuner's own grid cannot be resumed.
    """

    def populate_space(self, trial_id: str) -> dict[str, Any]:
        """Returns the next combination."""
        choices = [setting.values for setting in self.hyperparameters.space]
        number = len(self.start_order)
        if number >= math.prod(map(len, choices)):
            return {"status": TrialStatus.STOPPED}
        names = [setting.name for setting in self.hyperparameters.space]
        combination = next(islice(product(*choices), number, None))
        return {
            "status": TrialStatus.RUNNING,
            "values": dict(zip(names, combination, strict=True)),
        }


class _RandomOracle(_SafeOracle, oracles.RandomSearchOracle):
    """Tries random combinations, each once."""


class _BayesianOracle(_SafeOracle, oracles.BayesianOptimizationOracle):
    """Tries combinations that a Gaussian process expects to score best."""


class _HyperbandOracle(_SafeOracle, oracles.HyperbandOracle):
    """Tries many combinations for a short time, and the best of them again for longer."""


_ORACLES = {
    "grid": _GridOracle,
    "random": _RandomOracle,
    "bayesian": _BayesianOracle,
    "hyperband": _HyperbandOracle,
}


def make_oracle(search: Search) -> _SafeOracle:
    """Returns a new oracle for a search.

    Raises:
        ConfigError: scikit-learn is missing.
    """
    tuner = search.settings.tuner
    if tuner == "bayesian":
        extra_module("sklearn", "bayesian")
    arguments: dict[str, Any] = {}
    if tuner == "hyperband":
        arguments["max_epochs"] = int(search.config.epochs)
    oracle = _ORACLES[tuner](
        objective=keras_tuner.Objective(search.config.select, "max"),
        # KerasTuner replaces a seed of 0.
        seed=search.config.seed + 1,
        max_consecutive_failed_trials=math.inf,
        **arguments,
    )
    oracle.max_trials = search.num_trials
    oracle._max_collisions = _MAX_COLLISIONS
    oracle.verbose = 0
    return oracle
