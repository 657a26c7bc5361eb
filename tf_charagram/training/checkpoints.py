"""Checkpoints that a killed run resumes from, to the same weights."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.files.writing import partial_folder, remove, tensorflow_writing, writing

logger = logging.getLogger(__name__)

_PREFIX = "ckpt-"
# What TensorFlow kept beside the checkpoints of earlier versions.
_OLD_LIST = "checkpoint"
# What TensorFlow raises for a file that was cut short depends on where it was cut.
_UNREADABLE = (tf.errors.OpError, AssertionError, LookupError, ValueError, OSError, RuntimeError)


class Checkpoints:
    """Keeps the last checkpoints of some variables in a folder.

    Batches and draws are functions of the step, so weights, optimizer state and step are all there
    is to keep.

    Args:
        folder: Where they are kept.
        variables: Everything that training changes, in a fixed order.
        keep: How many to keep; older ones are deleted.
    """

    def __init__(self, folder: Path, variables: Sequence[tf.Variable], keep: int = 2) -> None:
        self._checkpoint = tf.train.Checkpoint(variables=list(variables))
        self._folder = folder
        self._keep = keep

    def save(self, step: int) -> None:
        """Writes a checkpoint.

        Raises:
            RunError: It cannot be written; the ones before are untouched.
        """
        name = f"{_PREFIX}{step}"
        path = self._folder / name
        with tensorflow_writing(path), writing(path):
            # Not a `CheckpointManager`: if the clock was set back, that keeps all there are. And
            # TensorFlow opens the index under its name before there is anything in it.
            with partial_folder(path) as partial:
                self._checkpoint.write(str(partial / name))
                # A checkpoint is there if its index is. One of the same step is replaced.
                (self._folder / f"{name}.index").unlink(missing_ok=True)
                for file in sorted(partial.glob(f"{name}.*")):
                    os.replace(file, self._folder / file.name)
            self._delete_all_but(step)

    def restore_latest(self) -> str | None:
        """Restores the newest checkpoint that can be read.

        Returns:
            Its path, or `None` if there is none.

        Raises:
            RunError: There are checkpoints, but none can be read.
        """
        paths = self._newest_first()
        for path in paths:
            try:
                self._checkpoint.read(path).assert_existing_objects_matched()
            except _UNREADABLE as error:
                reason = str(error).split("\n", 1)[0][:200]
                logger.warning("checkpoint %s cannot be read (%s); trying an older", path, reason)
                continue
            if path == paths[0]:
                self._delete_all_but(self._steps()[0])
            return path
        if paths:
            raise RunError(
                f"None of the {len(paths)} checkpoints in {self._folder} can be read. "
                "Start again with --overwrite."
            )
        return None

    def _newest_first(self) -> list[str]:
        """Returns the paths of the checkpoints in the folder, as TensorFlow names them."""
        return [str(self._folder / f"{_PREFIX}{step}") for step in self._steps()]

    def _steps(self) -> list[int]:
        """Returns the steps of the checkpoints in the folder, the last first."""
        names = (file.stem for file in self._folder.glob(f"{_PREFIX}*.index"))
        numbers = (name.removeprefix(_PREFIX) for name in names)
        return sorted((int(number) for number in numbers if number.isdigit()), reverse=True)

    def _delete_all_but(self, step: int) -> None:
        """Deletes all but the checkpoint of a step and those before it that are kept.

        What is newer could not be read. Of others there may be parts that a killed process left.
        """
        steps = [earlier for earlier in self._steps() if earlier <= step][: self._keep]
        kept = {f"{_PREFIX}{earlier}" for earlier in steps}
        for path in self._folder.iterdir():
            name = path.name.removeprefix(".")
            is_ours = name.startswith(_PREFIX) or name == _OLD_LIST
            if not is_ours or name.split(".")[0] in kept:
                continue
            remove(path)
