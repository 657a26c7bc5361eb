"""Weights that a run writes: checkpoints to resume from, and the model that is kept."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf

from tf_charagram._files.writing import partial_folder, remove, tensorflow_writing, writing
from tf_charagram.errors import RunError
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.settings import LAST

logger = logging.getLogger(__name__)

_PREFIX = "ckpt-"
# Which of these TensorFlow raises for a truncated file depends on where it ends.
_UNREADABLE = (tf.errors.OpError, AssertionError, LookupError, ValueError, OSError, RuntimeError)


class Checkpoints:
    """Keeps the last two checkpoints of some variables in a folder.

    Batches and draws are functions of the step, so weights, optimizer state and step are enough to
    resume exactly.

    Args:
        folder: The folder.
        variables: Everything that training changes, in a fixed order.
    """

    def __init__(self, folder: Path, variables: Sequence[tf.Variable]) -> None:
        self._checkpoint = tf.train.Checkpoint(variables=list(variables))
        self._folder = folder

    def save(self, step: int) -> None:
        """Writes a checkpoint.

        Raises:
            RunError: It cannot be written; earlier checkpoints are untouched.
        """
        name = f"{_PREFIX}{step}"
        path = self._folder / name
        with tensorflow_writing(path), writing(path):
            # Not a `CheckpointManager`, which keeps all checkpoints if the clock was set back. And
            # TensorFlow opens the index under its name before it has any content.
            with partial_folder(path) as partial:
                self._checkpoint.write(str(partial / name))
                # A checkpoint exists if its index does. One of the same step is replaced.
                (self._folder / f"{name}.index").unlink(missing_ok=True)
                for file in sorted(partial.glob(f"{name}.*")):
                    os.replace(file, self._folder / file.name)
            self._delete_all_but(step)

    def restore_latest(self) -> str | None:
        """Restores the newest readable checkpoint; returns its path, or `None` without any.

        Raises:
            RunError: There are checkpoints, but none can be read.
        """
        steps = self._steps()
        # The newest one may be truncated, if the machine lost power.
        for step in steps:
            path = str(self._folder / f"{_PREFIX}{step}")
            try:
                self._checkpoint.read(path).assert_existing_objects_matched()
            except _UNREADABLE as error:
                reason = str(error).split("\n", 1)[0][:200]
                logger.warning("checkpoint %s cannot be read (%s); trying an older", path, reason)
                continue
            # Damaged checkpoints stay for the user to look at.
            if step == steps[0]:
                self._delete_all_but(step)
            return path
        if steps:
            raise RunError(
                f"None of the {len(steps)} checkpoints in {self._folder} can be read. "
                "Start again with --overwrite."
            )
        return None

    def _steps(self) -> list[int]:
        """Returns the steps of the checkpoints in the folder, the last first."""
        steps = []
        for file in self._folder.glob(f"{_PREFIX}*.index"):
            number = file.stem.removeprefix(_PREFIX)
            if number.isdigit():
                steps.append(int(number))
        return sorted(steps, reverse=True)

    def _delete_all_but(self, step: int) -> None:
        """Deletes all but the checkpoint of a step and the one before, also partial files."""
        earlier = [each for each in self._steps() if each <= step]
        kept = {f"{_PREFIX}{each}" for each in earlier[:2]}
        for path in self._folder.iterdir():
            # A partial file begins with a dot.
            name = path.name.removeprefix(".")
            if name.startswith(_PREFIX) and name.split(".")[0] not in kept:
                remove(path)


@dataclass
class KeptModel:
    """Writes the weights with the best score, or the last weights.

    Attributes:
        product: The model to save.
        folder: The run folder.
        select: Set whose score decides, or `"last"`.
    """

    product: Any
    folder: RunFolder
    select: str

    def update(self, scores: dict[str, float | None], is_last: bool) -> None:
        """Saves the model if it is the last, or the best so far, whichever is wanted.

        Args:
            scores: Scores of its weights, which the history does not have yet.
            is_last: Whether no other evaluation follows.
        """
        if self.select == LAST:
            if is_last:
                self.product.save(self.folder.model)
            return
        # From the file, so that a resumed run knows the best score of the run before.
        history = [record["scores"][self.select] for record in self.folder.read_history()]
        best = max((old for old in history if old is not None), default=None)
        score = scores[self.select]
        is_best = best is None or (score is not None and score > best)
        if is_best or not self.folder.model.is_dir():
            self.product.save(self.folder.model)
        if is_last and score is None and best is None:
            logger.warning("`%s` never had a score; the last weights are kept", self.select)

    def end_early(self) -> None:
        """Saves the last weights of a run that ends between two evaluations."""
        if self.select == LAST or not self.folder.model.is_dir():
            self.product.save(self.folder.model)
