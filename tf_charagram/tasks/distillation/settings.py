"""Settings of a training run that learns from the vectors of a teacher: the task `distill`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tf_charagram._common.checks import check_at_least, check_weights
from tf_charagram.data.typos import KINDS
from tf_charagram.errors import ConfigError, check_name
from tf_charagram.settings import option
from tf_charagram.tasks.paraphrase.settings import EmbedderConfig

_WEIGHTS = ("similarity_weight", "neighbors_weight", "pairs_weight")


@dataclass(frozen=True)
class DistillConfig(EmbedderConfig):
    """Settings of a training run on the vectors of a teacher.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = option("distill", "what to train")
    data: tuple[str, ...] = option(
        (), "texts, one per line, plain or gzip; repeatable", is_repeatable=True
    )
    teacher: tuple[str, ...] = option(
        (),
        "vectors of the lines, .npy or .parquet, one file for each --data; repeatable",
        "data",
        is_repeatable=True,
    )
    second_teacher: tuple[str, ...] = option(
        (),
        "vectors of another teacher, of any width: nearest lines and their cosines are then "
        "the mean of both; repeatable",
        "data",
        is_repeatable=True,
    )
    pairs: tuple[str, ...] = option(
        (),
        "paraphrase pairs to learn from in the same steps, like --data of --task words; repeatable",
        "data",
        is_repeatable=True,
    )
    learning_rate: float = option(0.002, "step size")
    decay: Literal["none", "linear"] = option(
        "linear", "decay of the learning rate: linear goes to 0 over --epochs"
    )
    dim: int | None = option(None, "width of the embedding [that of the teacher]")
    similarity_weight: float = option(
        0.3,
        "weight of the cross-entropy of similarities within the batch; the cosine distance to the "
        "teacher's vector has weight 1",
        "objective",
    )
    temperature: float = option(0.07, "temperature of those similarities", "objective")
    neighbor_batch_size: int = option(
        0, "lines per batch that come with one of their 32 nearest lines", "optimization"
    )
    neighbors_weight: float = option(
        1.0,
        "weight of the correlation of cosines of nearest lines with the teacher's",
        "objective",
    )
    pairs_weight: float = option(1.0, "weight of the margin loss of --pairs", "objective")
    typos: float = option(0.5, "share of the texts that get 1 to 3 typos", "data")
    misspellings: str | None = option(
        None,
        "file of wrong and right forms of words, for half of the typos",
        "data",
    )
    error_kinds: tuple[str, ...] = option(
        (), f"errors as frequent as typos, each: {','.join(KINDS)}", "data"
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        # A batch of pairs needs two: the negatives of one come from the other.
        check_at_least(self, {"batch_size": 2 if self.pairs else 1, "neighbor_batch_size": 0})
        for name in _WEIGHTS:
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ConfigError(
                    f"`{name}` must be finite and not negative. "
                    f"Received: {name}={getattr(self, name)}"
                )
        if not 0.0 < self.temperature < math.inf:
            raise ConfigError(
                f"`temperature` must be above 0 and finite. Received: {self.temperature}"
            )
        if not 0.0 <= self.typos <= 1.0:
            raise ConfigError(f"`typos` must be in [0, 1]. Received: typos={self.typos}")
        for kind in self.error_kinds:
            check_name("kind of error", kind, KINDS)
        check_weights("data_weights", self.data_weights, "--pairs", self.pairs)

    def default_batch_size(self) -> int:
        """Returns the lines of a batch, which also has as many of `pairs`."""
        return 500
