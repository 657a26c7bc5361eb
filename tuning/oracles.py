"""KerasTuner's oracles with whole files, and a grid that can be resumed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import keras_tuner
from keras_tuner import oracles
from keras_tuner.engine.trial import Trial, TrialStatus

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.files.json_files import read_json, write_json
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import label

_ENDED = (TrialStatus.COMPLETED, TrialStatus.FAILED)
# Random draws that repeat earlier trials, after which the space counts as exhausted.
_MAX_COLLISIONS = 10_000
# Lower than any score.
_WORST = -1e9


class SafeOracle(keras_tuner.Oracle):
    """Writes whole files and recovers from a kill between two of them."""

    trials: dict[str, Trial]
    ongoing_trials: dict[str, Trial]

    def save(self) -> None:
        """Writes the state of the search."""
        write_json(self._get_oracle_fname(), self.get_state())

    def _save_trial(self, trial: Trial) -> None:
        write_json(Path(self._get_trial_dir(trial.trial_id)) / "trial.json", trial.get_state())

    def reload(self) -> None:
        """Reads the state of the search; unfinished trials are handed out first.

        Raises:
            RunError: A file is damaged.
        """
        folder = Path(self._project_dir)
        try:
            # KerasTuner would read brackets in the folder's name as a pattern.
            states = [read_json(path) for path in folder.glob("trial_*/trial.json")]
            self.trials = {state["trial_id"]: Trial.from_state(state) for state in states}
            self.set_state(read_json(self._get_oracle_fname()))
            # The file of a trial is written before the list of trials.
            self.trials = {trial_id: self.trials[trial_id] for trial_id in self.start_order}
        except (OSError, ValueError, LookupError, TypeError, RuntimeError) as error:
            raise RunError(f"{self._project_dir} is damaged: {error!r}.") from error
        ended = [name for name, trial in self.trials.items() if trial.status in _ENDED]
        self.end_order += [name for name in ended if name not in self.end_order]
        self.ongoing_trials = {}
        # Handed out from the end.
        self._retry_queue = [name for name in reversed(self.start_order) if name not in ended]


class GridOracle(SafeOracle):
    """Tries all combinations in order. KerasTuner's grid cannot be resumed (its issue 1055).

    Args:
        search: The search.
        **kwargs: Arguments of `keras_tuner.Oracle`.
    """

    def __init__(self, search: Search, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._search = search

    def populate_space(self, trial_id: str) -> dict[str, Any]:
        """Returns the next combination."""
        index = len(self.start_order)
        if index >= self._search.size:
            return {"status": TrialStatus.STOPPED}
        values = self._search.combination(index)
        space = self._search.space
        values = {name: _choices(space[name])[value] for name, value in values.items()}
        return {"status": TrialStatus.RUNNING, "values": values}


class RandomOracle(SafeOracle, oracles.RandomSearchOracle):
    """Tries random combinations, each once."""


class BayesianOracle(SafeOracle, oracles.BayesianOptimizationOracle):
    """Tries combinations that a Gaussian process expects to score best."""

    def populate_space(self, trial_id: str) -> dict[str, Any]:
        """Returns the next combination, a random one if the process repeats itself."""
        response = super().populate_space(trial_id)
        if response["values"] is not None and self._duplicate(response["values"]):
            return self._random_populate_space()
        return response


class HyperbandOracle(SafeOracle, oracles.HyperbandOracle):
    """Tries many combinations for a short time, and the best of them again for longer."""

    @property
    def num_drawn(self) -> int:
        """Number of random combinations."""
        return sum(self._get_size(bracket, 0) for bracket in range(self._get_num_brackets()))

    @keras_tuner.synchronized
    def end_trial(self, trial: Trial) -> None:
        """Ends a trial; a failed trial counts as the worst of its round.

        KerasTuner waits until enough trials of a round have completed.
        """
        if trial.status == TrialStatus.FAILED:
            self.update_trial(trial.trial_id, {self.objective.name: _WORST})
            trial.status = TrialStatus.COMPLETED
        super().end_trial(trial)


def make_oracle(search: Search) -> SafeOracle:
    """Returns a new oracle for a search.

    Raises:
        ConfigError: scikit-learn is missing, or the space is too small for Hyperband.
    """
    space = keras_tuner.HyperParameters()
    for name, choices in search.space.items():
        space.Choice(name, [*_choices(choices).values()])
    options = {
        "objective": keras_tuner.Objective(search.config.select, "max"),
        "hyperparameters": space,
        "allow_new_entries": False,
        # KerasTuner replaces a seed of 0.
        "seed": search.config.seed + 1,
        "max_consecutive_failed_trials": math.inf,
    }
    oracle: SafeOracle
    if search.tuner == "hyperband":
        oracle = hyperband = HyperbandOracle(max_epochs=int(search.config.epochs), **options)
        oracle.max_trials = search.num_trials
        if search.size < hyperband.num_drawn:
            raise ConfigError(
                f"Hyperband draws {hyperband.num_drawn} different combinations for trials of "
                f"{search.config.epochs:g} epochs, and the space has {search.size}. Use --tuner "
                "grid."
            )
    elif search.tuner == "bayesian":
        try:
            oracle = BayesianOracle(max_trials=search.num_trials, **options)
        except ImportError as error:
            raise ConfigError(
                "`tuner=bayesian` needs scikit-learn: pip install 'tf-charagram[bayesian]'"
            ) from error
    elif search.tuner == "random":
        oracle = RandomOracle(max_trials=search.num_trials, **options)
    else:
        oracle = GridOracle(search, max_trials=search.num_trials, **options)
    oracle._max_collisions = _MAX_COLLISIONS
    oracle.verbose = 0
    return oracle


def open_oracle(search: Search, folder: SearchFolder) -> SafeOracle:
    """Returns the oracle of a search in the state in which the search was stopped.

    Raises:
        RunError: Its files are damaged.
        ConfigError: As for `make_oracle`.
    """
    oracle = make_oracle(search)
    oracle._set_project_dir(str(folder.path), folder.oracle.name)
    if Path(oracle._get_oracle_fname()).is_file():
        oracle.reload()
    return oracle


def _choices(values: tuple[Any, ...]) -> dict[Any, Any]:
    """Returns value -> choice of KerasTuner: numbers as they are, other values as text."""
    is_number = all(type(value) is type(values[0]) for value in values)
    is_number &= isinstance(values[0], bool | int | float | str)
    return {value: value if is_number else label(value) for value in values}
