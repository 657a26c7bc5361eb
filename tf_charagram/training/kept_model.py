"""The model that a run leaves: which of its weights are written to the run folder."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Protocol

from tf_charagram.training.run_folder import RunFolder

logger = logging.getLogger(__name__)

LAST = "last"


class Savable(Protocol):
    """What is trained, as a user will hold it."""

    def save(self, path: Any) -> None:
        """Writes its folder."""


@dataclass
class KeptModel:
    """Writes the weights with the best score, or the last ones.

    Attributes:
        product: What is trained, as it is saved.
        folder: Where it is written, and the history with the scores before.
        select: Set whose score decides, or `"last"`.
    """

    product: Savable
    folder: RunFolder
    select: str

    def update(self, record: dict[str, Any], is_last: bool) -> None:
        """Writes the model if its weights are to be kept as things stand.

        Args:
            record: The evaluation of the weights, which the history does not have yet.
            is_last: Whether no other evaluation follows.
        """
        if is_last if self.select == LAST else self._is_best(record["scores"][self.select]):
            self.product.save(self.folder.model)
        if is_last and self.select != LAST and self._best(record) is None:
            logger.warning("`%s` never had a score; the last weights are kept", self.select)

    def end_early(self) -> None:
        """Writes the last weights of a run that ends where no evaluation was due."""
        if self.select == LAST or not self.folder.model.is_dir():
            self.product.save(self.folder.model)

    def _is_best(self, score: float | None) -> bool:
        """Returns whether a score is above those before, or none has been found to compare with."""
        best = self._best()
        if best is None or not self.folder.model.is_dir():
            return True
        return score is not None and score > best

    def _best(self, *more: dict[str, Any]) -> float | None:
        """Returns the best score of the history and of more records; `None` if none has one."""
        scores = [record["scores"][self.select] for record in (*self.folder.read_history(), *more)]
        return max((score for score in scores if score is not None), default=None)
