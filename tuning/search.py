"""A search: the settings that its trials share, the space they vary over, and its folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf_charagram.errors import ConfigError, RunError, unknown_name
from tf_charagram.files.json_files import read_json
from tf_charagram.settings import option
from tf_charagram.tasks import make_task, settings_class, task_class
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import LAST, RunConfig
from tf_charagram.tuning.grids import Space
from tf_charagram.tuning.spaces import (
    SPACES,
    combination,
    label,
    num_combinations,
    settings_of,
    without,
)

TUNERS = ("grid", "random", "bayesian", "hyperband")
OBJECTIVES = ("max", "final")

_DEFAULT_TRIALS = 20
_HYPERBAND_EPOCHS = 3
_SPACE = "space."
_SEARCH_SETTINGS = ("tuner", "objective", "stop_hopeless", "share")
_MINIMA = {
    "max_trials": 1, "trial_epochs": 1e-6, "trial_examples": 2, "stop_hopeless": 0, "workers": 1,
    "keep": 0, "finish": 1e-6,
}  # fmt: skip


@dataclass(frozen=True)
class TuneConfig:
    """Settings of a search besides those of its training runs; flags of `charagram tune`.

    Raises:
        ConfigError: A name is unknown, or a number out of range.
    """

    space: str = option("paper", f"what to search: {', '.join(SPACES)}", "search")
    tuner: str = option("grid", f"how to search: {', '.join(TUNERS)}", "search")
    max_trials: int | None = option(
        None, "maximum number of trials [grid: all; hyperband: as needed; others: 20]", "search"
    )
    trial_epochs: float | None = option(
        None, "epochs of a trial [words: 1; sentences, pos: 5; others: 10]", "search"
    )
    trial_examples: int | None = option(
        None, "words, sentences: number of random pairs that a trial trains on [all]", "search"
    )
    objective: str = option(
        "max", "score of a trial on the set of --select: max of its evaluations, or final", "search"
    )
    stop_hopeless: float | None = option(
        None, "stop a trial this many points below the median of finished ones", "search"
    )
    workers: int = option(1, "processes that run trials", "search")
    keep: int = option(3, "number of best trials whose models are kept", "search")
    finish: float | None = option(
        None, "train the best trial again, for this many epochs on all data", "search"
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        for kind, names in (("space", SPACES), ("tuner", TUNERS), ("objective", OBJECTIVES)):
            if getattr(self, kind) not in names:
                raise ConfigError(unknown_name(kind, getattr(self, kind), names))
        for name, minimum in _MINIMA.items():
            value = getattr(self, name)
            if value is not None and not value >= minimum:
                raise ConfigError(
                    f"`{name}` must be at least {minimum:g}. Received: {name}={value}"
                )


@dataclass(frozen=True)
class Search:
    """The settings that determine the trials of a search.

    Args:
        config: Settings that the trials share; `select` is the set they are compared on, `epochs`
            the length of a trial.
        space: Fields that they vary, and their values.
        tuner: One of `TUNERS`.
        objective: One of `OBJECTIVES`.
        stop_hopeless: See `TuneConfig`.
        share: Share of the pairs that trials train on.
        max_trials: See `TuneConfig`; may change when a search is resumed.

    Raises:
        ConfigError: The space is empty, or the trials are too short for Hyperband.
    """

    config: RunConfig
    space: Space
    tuner: str = "grid"
    objective: str = "max"
    stop_hopeless: float | None = None
    share: float = 1.0
    max_trials: int | None = None

    def __post_init__(self) -> None:
        """Checks the combination of settings."""
        if not self.space:
            raise ConfigError(
                "There is nothing to search: every field is fixed by a flag or by --init."
            )
        epochs = self.config.epochs
        if self.tuner == "hyperband" and (epochs < _HYPERBAND_EPOCHS or epochs % 1):
            raise ConfigError(
                "Hyperband stops trials after whole epochs: `trial_epochs` must be a whole number "
                f"of at least {_HYPERBAND_EPOCHS}. Received: trial_epochs={epochs:g}"
            )

    @property
    def size(self) -> int:
        """Number of combinations in the space."""
        return num_combinations(self.space)

    @property
    def num_trials(self) -> int | None:
        """Number of trials; `None` if Hyperband decides."""
        if self.tuner == "hyperband":
            return self.max_trials
        default = self.size if self.tuner == "grid" else _DEFAULT_TRIALS
        return min(self.size, self.max_trials or default)

    def values(self, labels: dict[str, Any]) -> dict[str, Any]:
        """Returns the values with these labels, which may contain other names."""
        return {
            name: next(value for value in choices if label(value) == label(labels[name]))
            for name, choices in self.space.items()
        }

    def combination(self, index: int) -> dict[str, Any]:
        """Returns a point of the grid; see `spaces.combination`."""
        return combination(self.space, index)

    def trial_config(
        self, values: dict[str, Any], out: Path, *, epochs: float | None = None
    ) -> RunConfig:
        """Returns the settings of a trial.

        Args:
            values: Field -> value.
            out: Run folder of the trial.
            epochs: Its length. Default: that of all trials.

        Raises:
            ConfigError: The values do not fit the shared settings.
        """
        config = task_class(self.config.task).with_share(self.config, self.share)
        return config.replace(
            **settings_of(values),
            out=str(out),
            epochs=config.epochs if epochs is None else epochs,
            select=config.select if self.objective == "max" else LAST,
        )

    def final_config(self, values: dict[str, Any], out: Path, epochs: float) -> RunConfig:
        """Returns the settings of the final run, on all data and without a time limit."""
        return self.config.replace(
            **settings_of(values), out=str(out), epochs=epochs, max_minutes=None
        )

    def settings(self) -> dict[str, Any]:
        """Returns the settings that a resumed search must share, as plain values."""
        space = {f"{_SPACE}{name}": list(choices) for name, choices in self.space.items()}
        search_settings = {f"search.{name}": getattr(self, name) for name in _SEARCH_SETTINGS}
        return {**self.config.to_dict(), **search_settings, **space}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Search:
        """Returns the search with these settings, without `max_trials`."""
        space = {
            name.removeprefix(_SPACE): tuple(
                tuple(value) if isinstance(value, list) else value for value in choices
            )
            for name, choices in settings.items()
            if name.startswith(_SPACE)
        }
        search_settings = {name: settings[f"search.{name}"] for name in _SEARCH_SETTINGS}
        shared = {name: value for name, value in settings.items() if "." not in name}
        return cls(settings_class(settings["task"]).from_dict(shared), space, **search_settings)


class SearchFolder(RunFolder):
    """The folder of a search, under the rules of a run folder.

    Args:
        path: The folder.

    Attributes:
        config: Settings of the search.
        trials: Run folders of the trials, by id.
        oracle: State of KerasTuner.
        winner: Run folder of `--finish`.
    """

    own_names = (
        "search.json", "trials", "oracle", "winner", "results.csv", "results.json", "workers",
    )  # fmt: skip

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self.config = self.path / "search.json"
        self.trials = self.path / "trials"
        self.oracle = self.path / "oracle"
        self.winner = self.path / "winner"

    def read_search(self) -> Search:
        """Returns the search of this folder.

        Raises:
            RunError: The folder has no search, or a damaged one.
        """
        try:
            saved = read_json(self.config)
            return Search.from_settings(saved["settings"])
        except FileNotFoundError as error:
            raise RunError(f"{self.path} has no search.") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{self.config} is damaged: {error!r}.") from error


def make_search(settings: TuneConfig, config: RunConfig, fixed: set[str]) -> Search:
    """Returns a search after checking everything that can be checked before it runs.

    Args:
        settings: Settings of the search.
        config: Settings that the trials share.
        fixed: Names of settings that were given and are not searched.

    Raises:
        ConfigError: The set to select by is unknown or missing, or there is nothing to search.
        DataError: Pairs or sets are missing or cannot be read.
        RunError: There is no model in `config.init`.
    """
    config = task_class(config.task).prepared(config)
    space = SPACES[settings.space](
        config.task,
        config.encoder,
        has_vectors=config.word_vectors is not None,
        has_init=config.init is not None,
        freeze=getattr(config, "freeze", False),
    )
    task = make_task(config)
    names = task.find_sets()
    if not names:
        raise ConfigError("A search needs --eval-data and a set of it as --select.")
    if config.select == LAST:
        raise ConfigError(
            "A search needs --select, the set on which trials are compared. Available: "
            f"{', '.join(names)}."
        )
    if config.select not in names:
        raise ConfigError(unknown_name("set for --select", config.select, names))
    examples = settings.trial_examples
    share = 1.0 if examples is None else task.share_of(examples)
    epochs = settings.trial_epochs or task.trial_epochs
    return Search(
        dataclasses.replace(config, out=None, epochs=epochs, data=task.data_names(config)),
        without(space, {*fixed, *_without_effect(config, fixed)}),
        tuner=settings.tuner,
        objective=settings.objective,
        stop_hopeless=settings.stop_hopeless,
        share=share,
        max_trials=settings.max_trials,
    )


def _without_effect(config: RunConfig, fixed: set[str]) -> Iterator[str]:
    """Yields fields without effect given the settings that are fixed."""
    if config.freeze_words:
        yield "l2_words"
    if fixed & {"min_count", "max_per_order"}:
        yield "hash_buckets"
    if isinstance(config, DistillConfig) and not config.pairs:
        yield from ("pair_batch_size", "pairs_weight", "margin")
