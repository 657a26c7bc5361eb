"""Settings of a training run on paraphrase pairs: the tasks `words` and `sentences`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tf_charagram._common.checks import check_at_least, check_margin, check_weights
from tf_charagram.settings import option, typed, types_of
from tf_charagram.tasks.paraphrase.losses import LOSSES, loss_class
from tf_charagram.training.settings import RunConfig, TableConfig


@dataclass(frozen=True)
class EmbedderConfig(TableConfig, RunConfig):
    """Settings of a training run of an embedder: evaluation and margin loss.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    eval_data: str | None = option(
        None,
        "folder or file to score on [the starter set and downloaded sets]",
        "data",
    )
    data_weights: tuple[float, ...] = option(
        (),
        "weight of each file of pairs, for instance 1,0.5,2: of --data, or --pairs for distill [1]",
        "data",
    )
    negatives: Literal["max", "mix", "random"] = option(
        "max", "how negatives are chosen", "objective"
    )
    mask_duplicates: bool = option(
        True,
        "never take a text that equals one of the pair as a negative",
        "objective",
        is_file_only=True,
    )
    margin: float = option(0.4, "margin m of the loss of pairs", "objective")

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_margin(self.margin)


@dataclass(frozen=True)
class ParaphraseConfig(EmbedderConfig):
    """Settings of a training run on paraphrase pairs.

    Attributes:
        loss_options: The loss, a `PairLoss`. It can be given as a mapping of some of its options;
            the others have their defaults.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    data: tuple[str, ...] = option(
        (),
        "training pairs: a file, two aligned ones as A::B, `starter`, or a name to download; "
        "repeatable [words: starter]",
        is_repeatable=True,
    )
    typos: float = option(0.0, "share of the pairs to add again with typos in one side", "data")
    order: Literal["by_length", "random", "file_first"] = option(
        "by_length",
        "order of the pairs; by_length: batches of similar length where the encoder pads, which is "
        "faster and gives harder negatives; random; file_first: random after a first epoch in the "
        "order of the file",
        "objective",
        is_file_only=True,
    )
    loss: str = option("margin", f"loss of pairs: {', '.join(LOSSES)}", "objective")
    loss_options: Any = None

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        hint = "; the negatives of a pair come from the other pairs of its batch"
        check_at_least(self, {"batch_size": 2}, hint)
        check_weights("data_weights", self.data_weights, "--data", self.data)

    @classmethod
    def option_classes(cls, settings: Mapping[str, Any]) -> dict[str, type]:
        """Returns the classes of the options of the encoder and of the loss."""
        loss = loss_class(settings.get("loss", cls.loss))
        return {**super().option_classes(settings), "loss": loss}

    def _fill_in(self) -> None:
        super()._fill_in()
        loss = loss_class(self.loss)
        if type(self.loss_options) is not loss:
            types = types_of(loss)
            given = self.loss_options or {}
            values = {name: typed(name, value, types[name]) for name, value in given.items()}
            self._set(loss_options=loss(**values))

    def default_batch_size(self) -> int:
        """Returns more pairs for sentences (Charagram, sections 4.1.3 and 4.1.4)."""
        return 100 if self.task == "sentences" else super().default_batch_size()

    def default_options(self) -> dict[str, Any]:
        """Returns tanh for the sentences of `charagram` (Charagram, section 4.1.4)."""
        is_charagram = (self.task, self.encoder) == ("sentences", "charagram")
        return {"activation": "tanh"} if is_charagram else {}
