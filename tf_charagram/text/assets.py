"""A vocabulary as an asset of a Keras archive: written plainly, and read without trusting it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.files.arrays import read_arrays

#: The name that the vocabulary has in a model folder too.
VOCABULARY = "vocabulary.npz"
#: What reading a damaged vocabulary raises, and making tables of it.
DAMAGES = (KeyError, OSError, TypeError, ValueError, OverflowError, tf.errors.OpError)


def checksum(arrays: dict[str, np.ndarray]) -> str:
    """Returns the SHA-256 of named arrays, whatever their order, as hex digits."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def write_vocabulary(folder: str | Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes a vocabulary into a folder, as a model folder has it."""
    with open(Path(folder) / VOCABULARY, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read_vocabulary(folder: str | Path) -> dict[str, np.ndarray]:
    """Reads what `write_vocabulary` wrote.

    Args:
        folder: Where the file is.

    Raises:
        RunError: The file is missing or damaged, or an array in it cannot be part of a vocabulary.
    """
    try:
        return read_arrays(Path(folder) / VOCABULARY, "iu")
    except DAMAGES as problem:
        raise damaged(problem) from problem


def damaged(problem: Exception) -> RunError:
    """Returns the error for a vocabulary that cannot be read or used."""
    return RunError(f"{VOCABULARY} is damaged: {problem}. Save the model again, or copy it again.")
