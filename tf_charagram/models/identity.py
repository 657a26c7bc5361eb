"""Which model a folder holds: its kind, its files and their checksum."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tf_charagram.files.writing import sha256_of
from tf_charagram.models.locations import FILES, model_folder, read_config

#: The kind of a model whose settings name none.
EMBEDDER = "embedder"


def model_files(path: str | Path) -> list[Path]:
    """Returns the files of a saved model that exist, given its folder or its run's."""
    folder = model_folder(path)
    return [folder / name for name in FILES if (folder / name).is_file()]


def model_sha256(path: str | Path) -> str:
    """Returns a checksum over the files of a model, given its folder or its run's.

    Raises:
        RunError: It is not a model folder.
    """
    read_config(path)
    checksums = "".join(map(sha256_of, model_files(path)))
    return hashlib.sha256(checksums.encode()).hexdigest()


def read_kind(path: str | Path) -> str:
    """Returns what kind of model a folder holds, such as `"embedder"`; errors as `load_model`."""
    return kind_of(read_config(path))


def kind_of(config: dict[str, Any]) -> str:
    """Returns the kind that the settings of a model say."""
    return str(config.get("kind", EMBEDDER))
