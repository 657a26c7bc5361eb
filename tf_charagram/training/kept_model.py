"""The model that a run leaves: which of its weights are written to the run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tf_charagram.training.run_folder import RunFolder

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

    def end_early(self) -> None:
        """Writes the last weights of a run that ends where no evaluation was due."""
        if self.select == LAST or not self.folder.model.is_dir():
            self.product.save(self.folder.model)

    def _is_best(self, score: float | None) -> bool:
        """Returns whether a score is above those before, or there is no model yet."""
        if not self.folder.model.is_dir():
            return True
        before = [record["scores"][self.select] for record in self.folder.read_history()]
        best = max((value for value in before if value is not None), default=-np.inf)
        return score is not None and score > best
