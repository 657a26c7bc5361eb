"""A search: what its trials share, what they vary, and the folder it lives in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.files.json_files import read_json
from tf_charagram.tasks import settings_class, task_class
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import LAST, RunConfig
from tf_charagram.tuning.grids import Space
from tf_charagram.tuning.spaces import combination, label, num_combinations, settings_of

_DEFAULT_TRIALS = 20
_HYPERBAND_EPOCHS = 3
_SPACE = "space."
_SEARCH_SETTINGS = ("tuner", "objective", "stop_hopeless", "share")


@dataclass(frozen=True)
class Search:
    """Everything that decides which trials are run and how.

    Args:
        config: What trials share: `select` names the set they are scored on, `epochs` is the
            length of a trial, and `data` has the names of all data.
        space: What they vary.
        tuner: One of `config.TUNERS`.
        objective: One of `config.OBJECTIVES`.
        stop_hopeless: See `TuneConfig`.
        share: Share of the pairs that trials are trained on; labelled examples are all used.
        max_trials: See `TuneConfig`; may change when a search is resumed.

    Raises:
        ConfigError: Every field was fixed, or the trials are too short for Hyperband.
    """

    config: RunConfig
    space: Space
    tuner: str = "grid"
    objective: str = "max"
    stop_hopeless: float | None = None
    share: float = 1.0
    max_trials: int | None = None

    def __post_init__(self) -> None:
        """Checks what no part checks alone."""
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
        """How many trials are run; `None` where Hyperband decides."""
        if self.tuner == "hyperband":
            return self.max_trials
        default = self.size if self.tuner == "grid" else _DEFAULT_TRIALS
        return min(self.size, self.max_trials or default)

    def values(self, labels: dict[str, Any]) -> dict[str, Any]:
        """Returns the values that labels, of which there may be more, stand for."""
        return {
            name: next(value for value in choices if label(value) == labels[name])
            for name, choices in self.space.items()
        }

    def combination(self, index: int) -> dict[str, Any]:
        """Returns a point of the grid; see `spaces.combination`."""
        return combination(self.space, index)

    def trial_config(
        self, values: dict[str, Any], out: Path, *, epochs: float | None = None
    ) -> RunConfig:
        """Returns the settings of one trial.

        Args:
            values: What it varies, field -> value.
            out: Its run folder.
            epochs: Its length, if not that of all.

        Raises:
            ConfigError: The values do not go together with the settings that are shared.
        """
        config = task_class(self.config.task).with_share(self.config, self.share)
        return config.replace(
            **settings_of(values),
            out=str(out),
            epochs=config.epochs if epochs is None else epochs,
            select=config.select if self.objective == "max" else LAST,
        )

    def final_config(self, values: dict[str, Any], out: Path, epochs: float) -> RunConfig:
        """Returns the settings of the final run, which trains a combination on all data.

        `max_minutes` is a limit of trials: this run has all of its epochs.
        """
        return self.config.replace(
            **settings_of(values), out=str(out), epochs=epochs, max_minutes=None
        )

    def settings(self) -> dict[str, Any]:
        """Returns what must not change when the search is resumed, as plain values."""
        space = {f"{_SPACE}{name}": list(choices) for name, choices in self.space.items()}
        search_settings = {f"search.{name}": getattr(self, name) for name in _SEARCH_SETTINGS}
        return {**self.config.to_dict(), **search_settings, **space}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Search:
        """Returns the search that has these settings; `max_trials` is not among them."""
        space = {
            name.removeprefix(_SPACE): tuple(
                tuple(value) if isinstance(value, list) else value for value in choices
            )
            for name, choices in settings.items()
            if name.startswith(_SPACE)
        }
        search_settings = {name: settings[f"search.{name}"] for name in _SEARCH_SETTINGS}
        run = {name: value for name, value in settings.items() if "." not in name}
        return cls(settings_class(run["task"]).from_dict(run), space, **search_settings)


class SearchFolder(RunFolder):
    """The files of a search, in a folder under the rules of a run folder.

    Args:
        path: The folder.

    Attributes:
        config: What is searched.
        trials: The run folders of the trials, by id.
        oracle: What KerasTuner knows.
        winner: The run folder of `--finish`.
    """

    own_names = (
        "search.json", "trials", "oracle", "winner", "results.csv", "results.json", "results.md",
        "plots", "workers", "tensorboard",
    )  # fmt: skip

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self.config = self.path / "search.json"
        self.trials = self.path / "trials"
        self.oracle = self.path / "oracle"
        self.winner = self.path / "winner"

    def read_search(self) -> Search:
        """Returns the search that was started here.

        Raises:
            RunError: There is none, or its file is damaged.
        """
        try:
            saved = read_json(self.config)
            return Search.from_settings(saved["settings"])
        except FileNotFoundError as error:
            raise RunError(f"{self.path} holds no search.") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{self.config} is damaged: {error!r}.") from error
