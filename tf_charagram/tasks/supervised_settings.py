"""Settings of a training run with labels: `similarity`, `entailment`, `sentiment`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tf_charagram.checks import changed, check_at_least, check_penalty
from tf_charagram.errors import ConfigError
from tf_charagram.settings import option
from tf_charagram.training.settings import RunConfig

# Settings that apply to one task only.
_OF_ONE_TASK = {"num_classes": "similarity", "fine_labels": "sentiment", "phrases": "sentiment"}
# Settings of rows and their initial vectors, which a frozen encoder has already.
_OF_NEW_TEXTS = (
    "dictionary", "min_count", "max_per_order", "word_vectors", "freeze_words",
)  # fmt: skip


@dataclass(frozen=True)
class LabelledConfig(RunConfig):
    """Settings of a training run on labelled examples, also of words.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    eval_data: tuple[str, ...] = option(
        (),
        "data to score on, like --data; repeatable [with the starter set: its other sentences]",
        "data",
        is_repeatable=True,
    )
    evaluations_per_epoch: int = option(1, "evaluations per epoch")
    l2_head: float = option(
        0.0, "lambda_s: L2 penalty on all weights above the encoder", "objective"
    )
    batches_by_length: bool = option(
        True, "batches of similar length where padding matters: faster", "objective"
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_penalty("l2_head", self.l2_head)


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
    text_columns: tuple[str, ...] = option(
        (), "columns of the texts in a table, by name or number from 0, comma-separated", "data"
    )
    label_column: str | None = option(None, "column of the label or score in a table", "data")
    fine_labels: bool = option(False, "SST: five labels, not positive and negative", "data")
    phrases: bool = option(False, "SST trees: train on all phrases, not on sentences only", "data")

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_at_least(self, {"hidden_dim": 1, "num_classes": 2})
        if self.class_weights != "none" and self.task == "similarity":
            raise ConfigError("`class_weights` is for labels, and similarity has scores.")
        for name in changed(self, _OF_ONE_TASK):
            if self.task != _OF_ONE_TASK[name]:
                raise ConfigError(
                    f"`{name}` is for the task '{_OF_ONE_TASK[name]}'. Leave it out. "
                    f"Received: {name}={getattr(self, name)} for {self.task}"
                )
        for name in ("freeze", "pull_back"):
            if getattr(self, name) and self.init is None:
                raise ConfigError(f"`{name}` needs `init`, the run to take the encoder from.")
        if self.freeze and (self.pull_back or self.l2 or self.l2_words or self.l2_composition):
            raise ConfigError("`freeze` leaves the encoder as it is: no penalty acts on it.")
        if self.freeze and self.precision != "float32":
            raise ConfigError(
                "`precision` applies to trained tables, and `freeze` trains none. Leave out one of "
                f"them. Received: precision={self.precision}"
            )
        if self.freeze and (given := changed(self, _OF_NEW_TEXTS)):
            raise ConfigError(
                "`freeze` reads texts as the model of `init` does. Leave out "
                f"{', '.join(f'`{name}`' for name in given)}."
            )
        if self.pull_back and not (self.l2_composition or self.l2_words):
            raise ConfigError(
                "`pull_back` needs its strength: `l2_composition` (lambda_c), and `l2_words` "
                "(lambda_w) where the encoder has word vectors."
            )
