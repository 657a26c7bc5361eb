"""Files that TensorFlow writes, which raises errors of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.files.writing import MAKE_ROOM


@contextmanager
def tensorflow_writing(path: str | Path) -> Iterator[None]:
    """Says what cannot be written, and why, where TensorFlow fails to write it.

    Raises:
        RunError: The disk is full or `path` cannot be written.
    """
    try:
        yield
    except tf.errors.OpError as error:
        reason = " ".join(error.message.split())
        raise RunError(f"Cannot write {path}: {reason}. Is the disk full? {MAKE_ROOM}") from error
