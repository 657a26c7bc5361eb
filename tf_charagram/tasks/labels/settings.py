"""Settings of a training run with labels: `similarity`, `entailment`, `sentiment`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tf_charagram._common.checks import check_at_least
from tf_charagram.errors import ConfigError, check_name
from tf_charagram.settings import option
from tf_charagram.training.settings import LabelledConfig, TableConfig

_SST = ("phrases", "fine")


@dataclass(frozen=True)
class SupervisedConfig(TableConfig, LabelledConfig):
    """Settings of a training run with labels (Universal, section 4.4).

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    can_freeze_encoder = True
    task: str = option("similarity", "what to train")
    data: tuple[str, ...] = option(
        (),
        "labeled texts: SICK, SST, columns of a table, or starter; repeatable [starter]",
        is_repeatable=True,
    )
    hidden_dim: int = option(50, "width of the sigmoid layer before the output", "model")
    num_classes: int = option(
        5, "similarity: highest score; the lowest is 1", "model", is_file_only=True
    )
    class_weights: Literal["none", "balanced"] = option(
        "none", "weights of the labels; balanced: equal weight in total", "objective"
    )
    pull_back: bool = option(
        False, "let --l2-composition pull to the weights of --init instead of 0", "objective"
    )
    sst: tuple[str, ...] = option(
        (),
        "of the trees of SST: phrases, to train on all of them, not on sentences only; fine, for "
        "five labels, not positive and negative; or phrases,fine",
        "data",
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_at_least(self, {"hidden_dim": 1, "num_classes": 2})
        for part in self.sst:
            check_name("part of `sst`", part, _SST)
        needing = {"freeze": self.freeze == "encoder", "pull_back": self.pull_back}
        for name, is_chosen in needing.items():
            if is_chosen and self.init is None:
                raise ConfigError(f"`{name}` needs `init`, the run to take the encoder from.")
