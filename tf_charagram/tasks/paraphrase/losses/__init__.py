"""Losses of paraphrase pairs, a file each, whose name is the value of `--loss`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from tf_charagram.errors import check_name

if TYPE_CHECKING:
    import tensorflow as tf


class PairBatch(NamedTuple):
    """A batch of B pairs as a loss takes it, lefts first, then rights.

    Attributes:
        embeddings: float32 `(2B, dim)`.
        text_ids: Equal for equal texts, int64 `(2B,)`.
        negatives: Index of the negative of each text, int64 `(2B,)`.
        exists: Whether the text has a negative, bool `(2B,)`.
        margin: The setting `margin`.
    """

    embeddings: tf.Tensor
    text_ids: tf.Tensor
    negatives: tf.Tensor
    exists: tf.Tensor
    margin: float


class PairLoss(ABC):
    """Base of the losses, dataclasses whose fields are settings of a run, made by `option`.

    Attributes:
        wide: Setting -> values that `charagram tune --space wide` tries.
        checks_itself: Whether it raises an error by itself if its gradient is not finite.
    """

    wide: ClassVar[dict[str, tuple[Any, ...]]] = {}
    checks_itself: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, batch: PairBatch) -> tf.Tensor:
        """Returns the loss of a batch, a scalar."""


#: Names of the losses; a new file is found without a line in a list.
LOSSES = tuple(sorted(module.name for module in iter_modules(__path__)))


def loss_class(name: str) -> type[PairLoss]:
    """Returns the class of a loss, `LOSS` in its file.

    Raises:
        ConfigError: There is no loss of that name.
    """
    check_name("loss", name, LOSSES)
    return import_module(f"{__name__}.{name}").LOSS
