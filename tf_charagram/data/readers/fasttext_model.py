"""Models of fastText, `FILE.bin`, by its own package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tf_charagram.errors import DataError
from tf_charagram.extras import extra_module

_MAGIC = (793712314).to_bytes(4, "little")


def is_fasttext_model(start: bytes) -> bool:
    """Returns whether the first bytes of a file are those of a model of fastText."""
    return start.startswith(_MAGIC)


def load_fasttext(path: str | Path) -> Any:
    """Loads a model of fastText.

    Raises:
        ConfigError: fastText is not installed.
        DataError: The file cannot be read.
    """
    fasttext = extra_module("fasttext", "fasttext")
    try:
        return fasttext.load_model(str(path))
    except ValueError as error:
        raise DataError(path, f"cannot be read as a model of fastText: {error}") from error
