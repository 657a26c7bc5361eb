"""What a teacher is: something that embeds texts, and the models of sentence-transformers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tf_charagram.errors import ConfigError
from tf_charagram.extras import extra_module
from tf_charagram.files.writing import sha256_of

SENTENCE_TRANSFORMERS = "sentence-transformers:"
# What fits into the caches of a core: 1.4 times as fast as 256 for texts of 64 characters.
_CPU_BATCH = 32


class Teacher(Protocol):
    """Embeds texts.

    Attributes:
        name: Tells it from other teachers.
        dim: Width of its vectors.
    """

    name: str
    dim: int

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the vectors of texts, floating-point `(len(texts), dim)`."""


class SentenceTransformer:
    """A model of the package sentence-transformers, which the extra `teacher` installs.

    Args:
        name: A folder, or a name that the package knows how to get.

    Raises:
        ConfigError: The package is not installed, or there is no such model.
    """

    def __init__(self, name: str) -> None:
        self.name = SENTENCE_TRANSFORMERS + name
        path = Path(name)
        if (path.is_dir() or len(path.parts) > 2) and not (path / "modules.json").is_file():
            raise ConfigError(
                f"{name} is no folder of a model of sentence-transformers: it has no modules.json."
            )
        if path.is_dir():
            # Its vectors are kept by this name, and another model may take the folder.
            self.name += f" {_fingerprint(path)}"
        package = extra_module("sentence_transformers", "teacher")
        # Half the memory and twice the speed on machines that know it; the vectors differ in the
        # third digit.
        options: dict[str, Any] = {"model_kwargs": {"dtype": "bfloat16"}}
        try:
            self._model = package.SentenceTransformer(name, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"The teacher '{name}' cannot be loaded: {' '.join(str(error).split())}"
            ) from error
        # Version 6 has renamed it.
        width = getattr(self._model, "get_embedding_dimension", None)
        self.dim = int((width or self._model.get_sentence_embedding_dimension)())

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the vectors of texts, float32 `(len(texts), dim)`."""
        vectors = self._model.encode(
            list(texts),
            batch_size=_CPU_BATCH if self._model.device.type == "cpu" else len(texts),
            convert_to_tensor=True,
            show_progress_bar=False,
        )
        return vectors.float().cpu().numpy()


def _fingerprint(folder: Path) -> str:
    """Returns what changes with the files of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    about = [f"{path.relative_to(folder)} {sha256_of(path)}" for path in files]
    return hashlib.sha256("\n".join(about).encode("utf-8", "surrogateescape")).hexdigest()[:16]


@cache
def find_teacher(spec: str) -> Teacher:
    """Returns the teacher of a `--teacher` value that is no file.

    It stays in memory until `find_teacher.cache_clear()`.

    Raises:
        ConfigError: It is not of the form `sentence-transformers:NAME_OR_FOLDER`, or cannot be
            loaded.
    """
    name = spec.removeprefix(SENTENCE_TRANSFORMERS)
    if name == spec or not name:
        raise ConfigError(
            "`teacher` must be a file .npy or .parquet, or sentence-transformers:NAME_OR_FOLDER. "
            f"Received: {spec}"
        )
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    return SentenceTransformer(name)
