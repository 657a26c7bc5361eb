"""An exported version on disk, as its checks need it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tf_charagram.errors import DataError, RunError

T = TypeVar("T")

_SAVED_MODEL = "saved_model.pb"


def version_folder(path: str | Path) -> Path:
    """Returns the folder of a SavedModel.

    Args:
        path: A version; or the folder of the versions or a run folder, for the last version.

    Raises:
        RunError: There is no SavedModel.
    """
    path = Path(path)
    if (path / _SAVED_MODEL).is_file():
        return path
    files = [*path.glob(f"*/{_SAVED_MODEL}"), *path.glob(f"saved_model/*/{_SAVED_MODEL}")]
    versions = [file.parent for file in files if file.parent.name.isdecimal()]
    if not versions:
        raise RunError(f"{path} has no {_SAVED_MODEL}. Give a version, such as models/NAME/1.")
    return max(versions, key=lambda version: int(version.name))


def read_card(folder: Path) -> dict[str, Any] | None:
    """Returns the model's card, or `None` if there is none.

    Raises:
        DataError: It cannot be read.
    """
    from tf_charagram.serialization.model_card import CARD

    path = folder / CARD
    if not path.is_file():
        return None
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise DataError(path, f"is damaged ({error}). Export the model again.") from error


def read_golden_vectors(folder: Path) -> tuple[list[bytes], np.ndarray] | None:
    """Returns texts and their vectors, float32 `(num_texts, dim)`; `None` if there are none.

    Raises:
        DataError: They cannot be read.
    """
    from tf_charagram.export.serving.golden import read_golden

    def read(path: Path) -> tuple[list[bytes], np.ndarray]:
        texts, rows = read_golden(path)
        return texts, np.array(rows, np.float32).reshape(len(texts), len(rows[0]))

    return _read(folder, read)


def read_golden_calls(folder: Path) -> list[dict[str, Any]]:
    """Returns what `write_golden_answers` wrote; an empty list if there is nothing.

    Raises:
        DataError: They cannot be read.
    """
    from tf_charagram.export.serving.golden import read_golden_answers

    return _read(folder, read_golden_answers) or []


def _read(folder: Path, read: Callable[[Path], T]) -> T | None:
    """Reads the golden file of a version, if there is one."""
    from tf_charagram.export.serving.golden import GOLDEN
    from tf_charagram.export.serving.version import EXTRA

    path = folder / EXTRA / GOLDEN
    if not path.is_file():
        return None
    try:
        return read(path.parent)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(path, f"is damaged ({error!r}). Export the model again.") from error
