"""Settings of a training run with labels: `similarity`, `entailment`, `sentiment`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tf_charagram.checks import check_at_least
from tf_charagram.errors import ConfigError
from tf_charagram.settings import option
from tf_charagram.training.settings import LabelledConfig


@dataclass(frozen=True)
class SupervisedConfig(LabelledConfig):
    """Settings of a training run with labels (Universal, section 4.4).

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = option("similarity", "what to train")
    data: tuple[str, ...] = option(
        (),
        "labeled texts: SICK, SST, columns of a table, or starter; repeatable [starter]",
        is_repeatable=True,
    )
    batch_size: int | None = option(25, "examples per batch")
    hidden_dim: int = option(50, "width of the sigmoid layer before the output", "model")
    num_classes: int = option(5, "similarity: highest score; the lowest is 1", "model")
    class_weights: Literal["none", "balanced"] = option(
        "none", "weights of the labels; balanced: equal weight in total", "objective"
    )
    freeze: bool = option(
        False, "train the head only, on vectors computed once; needs --init", "optimization"
    )
    pull_back: bool = option(
        False, "let --l2-composition pull to the weights of --init instead of 0", "objective"
    )
    columns: tuple[str, ...] = option(
        (),
        "columns of a table: the text or two texts, then the label or score; names, or numbers "
        "from 1 [well-known names]",
        "data",
    )
    fine_labels: bool = option(False, "SST: five labels, not positive and negative", "data")
    phrases: bool = option(False, "SST trees: train on all phrases, not on sentences only", "data")

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_at_least(self, {"hidden_dim": 1, "num_classes": 2})
        for name in ("freeze", "pull_back"):
            if getattr(self, name) and self.init is None:
                raise ConfigError(f"`{name}` needs `init`, the run to take the encoder from.")
