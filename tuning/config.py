"""Settings of a search: one frozen dataclass, beside those of the training runs it consists of."""

from __future__ import annotations

from dataclasses import dataclass

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import option
from tf_charagram.tuning.spaces import SPACES

TUNERS = ("grid", "random", "bayesian", "hyperband")
OBJECTIVES = ("max", "final")

_AT_LEAST = {
    "max_trials": 1, "trial_epochs": 1e-6, "trial_examples": 2, "stop_hopeless": 0, "workers": 1,
    "keep": 0, "finish": 1e-6,
}  # fmt: skip


@dataclass(frozen=True)
class TuneConfig:
    """How to search; the flags of `tune` are made from it and from those of the task.

    Raises:
        ConfigError: A name is unknown, or a number out of range.
    """

    space: str = option(
        "paper",
        f"what to search: {', '.join(SPACES)}",
        "search",
    )
    tuner: str = option("grid", f"how to search: {', '.join(TUNERS)}", "search")
    max_trials: int | None = option(
        None,
        "maximum number of trials [grid: all; hyperband: all it needs; others: 20]",
        "search",
    )
    trial_epochs: float | None = option(
        None,
        "epochs of a trial [words: 1; sentences, pos: 5; else 10; or those of --preset paper]",
        "search",
    )
    trial_examples: int | None = option(
        None,
        "words, sentences: pairs that a trial trains on, about, chosen at random [all]",
        "search",
    )
    objective: str = option(
        "max",
        "a trial's score on the set of --select: max over its evaluations, or the final one",
        "search",
    )
    stop_hopeless: float | None = option(
        None,
        "stop a trial that is this many points below the median of finished ones",
        "search",
    )
    workers: int = option(1, "processes that run trials", "search")
    keep: int = option(3, "keep the models of this many best trials", "search")
    finish: float | None = option(
        None, "then train the winner for this many epochs, on all data", "search"
    )

    def __post_init__(self) -> None:
        """Checks every value."""
        for kind, names in (("space", SPACES), ("tuner", TUNERS), ("objective", OBJECTIVES)):
            if getattr(self, kind) not in names:
                raise ConfigError(unknown_name(kind, getattr(self, kind), names))
        for name, least in _AT_LEAST.items():
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ConfigError(f"`{name}` must be at least {least:g}. Received: {name}={value}")
