"""Checkpoints that a killed run resumes from, to the same weights."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.files import write_problem

logger = logging.getLogger(__name__)

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
        self._manager = tf.train.CheckpointManager(self._checkpoint, str(folder), max_to_keep=keep)

    def save(self, step: int) -> None:
        """Writes a checkpoint.

        Raises:
            RunError: It cannot be written; the ones before are untouched.
        """
        try:
            self._manager.save(checkpoint_number=step)
        except OSError as error:
            raise RunError(f"Cannot save a checkpoint: {write_problem(error)}") from error
        except tf.errors.OpError as error:
            raise RunError(
                f"Cannot save a checkpoint at step {step}: {error.message}. Is the disk full? The "
                "checkpoint before is intact; make room and go on with --resume."
            ) from error

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
                self._checkpoint.restore(path).assert_existing_objects_matched()
            except _UNREADABLE as error:
                reason = str(error).split("\n", 1)[0][:200]
                logger.warning("checkpoint %s cannot be read (%s); trying an older", path, reason)
                continue
            return path
        if paths:
            raise RunError(
                f"None of the {len(paths)} checkpoints in {self._manager.directory} can be read. "
                "Start again with --overwrite."
            )
        return None

    def _newest_first(self) -> list[str]:
        """Returns the checkpoints in the folder, also if the list that TensorFlow keeps is lost."""
        files = Path(self._manager.directory).glob("ckpt-*.index")
        numbers = (file.stem.removeprefix("ckpt-") for file in files)
        steps = sorted((int(number) for number in numbers if number.isdigit()), reverse=True)
        return [str(Path(self._manager.directory) / f"ckpt-{number}") for number in steps]
