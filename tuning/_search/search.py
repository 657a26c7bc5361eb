"""A search of `charagram tune`: its settings, what its trials share and vary, and its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tf_charagram._common.checks import check_at_least, check_values
from tf_charagram.errors import ConfigError, check_name
from tf_charagram.settings import option
from tf_charagram.tasks import make_task, task_class
from tf_charagram.training._loop.run_folder import RunFolder, run_config
from tf_charagram.training.settings import LAST, RunConfig
from tf_charagram.tuning._search.grids import Space
from tf_charagram.tuning._search.spaces import num_combinations, search_space

_DEFAULT_TRIALS = 20
_HYPERBAND_EPOCHS = 3


@dataclass(frozen=True)
class TuneConfig:
    """Settings of a search besides those of its training runs; flags of `charagram tune`.

    Raises:
        ConfigError: A name is unknown, or a number out of range.
    """

    space: Literal["paper", "wide"] = option(
        "paper", "what to search: the grid of the papers, or more settings", "search"
    )
    tuner: Literal["grid", "random", "bayesian", "hyperband"] = option(
        "grid", "how to search", "search"
    )
    max_trials: int | None = option(
        None, "maximum number of trials [grid: all; hyperband: as needed; others: 20]", "search"
    )
    keep: int = option(3, "number of best trials whose models are kept", "search")
    finish: float | None = option(None, "train the best trial again, for so many epochs", "search")

    def __post_init__(self) -> None:
        """Checks the values."""
        check_values(self)
        check_at_least(self, {"max_trials": 1, "keep": 0, "finish": 1e-6})


@dataclass(frozen=True)
class Search:
    """A search for settings.

    Args:
        config: Settings that the trials share; `select` is the set they are compared on, `epochs`
            the length of a trial.
        space: Settings that they vary, and their values.
        settings: Settings of the search itself.
    """

    config: RunConfig
    space: Space
    settings: TuneConfig

    @property
    def size(self) -> int:
        """Number of combinations in the space."""
        return num_combinations(self.space)

    @property
    def num_trials(self) -> int | None:
        """Number of trials; `None` if Hyperband decides."""
        settings = self.settings
        if settings.tuner == "hyperband":
            return settings.max_trials
        default = self.size if settings.tuner == "grid" else _DEFAULT_TRIALS
        return min(self.size, settings.max_trials or default)

    def identity(self) -> dict[str, Any]:
        """Returns the facts that a resumed search must share: settings, space, data checksums."""
        space = {f"space.{name}": list(choices) for name, choices in self.space.items()}
        shared = {**self.config.to_dict(), "search.tuner": self.settings.tuner, **space}
        return run_config(shared, make_task(self.config).input_files(self.config))


class SearchFolder(RunFolder):
    """The folder of a search, under the rules of a run folder.

    Attributes:
        config: Settings of the search.
        trials: Run folders of the trials, by id.
        oracle: State of KerasTuner.
        winner: Run folder of `--finish`.
    """

    own_names = ("search.json", "trials", "oracle", "winner", "results.csv")

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self.config = self.path / "search.json"
        self.trials = self.path / "trials"
        self.oracle = self.path / "oracle"
        self.winner = self.path / "winner"


def make_search(settings: TuneConfig, config: RunConfig, fixed: set[str]) -> Search:
    """Returns a search after checking everything that can be checked before it runs.

    Args:
        settings: Settings of the search.
        config: Settings that the trials share.
        fixed: Names of settings that were given and are not searched.

    Raises:
        ConfigError: The set to select by is unknown or missing, there is nothing to search, or
            trials are too short for Hyperband.
        DataError: Pairs or sets are missing or cannot be read.
        RunError: There is no model in `config.init`.
    """
    config = task_class(config.task).prepared(config)
    task = make_task(config)
    space = search_space(settings.space, config, fixed)
    names = task.find_sets()
    if config.select == LAST:
        raise ConfigError(
            "A search needs --select, the set on which trials are compared. Available: "
            f"{', '.join(names) or 'none without --eval-data'}."
        )
    check_name("set for --select", config.select, names)
    # Trials are short, unless the user says how long.
    epochs = config.epochs if "epochs" in fixed else task.trial_epochs
    if settings.tuner == "hyperband" and (epochs < _HYPERBAND_EPOCHS or epochs % 1):
        raise ConfigError(
            "Hyperband stops trials after whole epochs: `epochs` must be a whole number of "
            f"at least {_HYPERBAND_EPOCHS}. Received: epochs={epochs:g}"
        )
    config = config.replace(output=None, epochs=epochs, data=task.data_names(config))
    return Search(config, space, settings)
