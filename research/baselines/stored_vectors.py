"""Vectors of texts from another program, read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from research.readers.text_vectors import read_text_vectors
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.models._answers.vectors import unit_rows

_NUM_SHOWN = 3
_MAX_SHOWN_CHARS = 60


class StoredVectors:
    """Looks up the vectors of texts, ignoring differences in white space.

    Args:
        texts: The texts; the first of equal texts counts.
        vectors: `(len(texts), dim)`.
        path: The file, for messages.

    Raises:
        ConfigError: The numbers of texts and vectors differ.
    """

    def __init__(
        self, texts: Sequence[str], vectors: NDArray[np.floating], path: str | Path = "vectors"
    ) -> None:
        if len(texts) != len(vectors):
            raise ConfigError(
                f"Number of texts ({len(texts)}) does not match number of vectors ({len(vectors)})."
            )
        self._vectors = vectors
        self._path = path
        self._rows: dict[str, int] = {}
        for row, text in enumerate(texts):
            self._rows.setdefault(_key(text), row)

    @classmethod
    def load(cls, path: str | Path, *, on_bad_line: str | BadLines = "error") -> Self:
        """Reads a file; formats, arguments and errors as for `read_text_vectors`."""
        return cls(*read_text_vectors(path, on_bad_line=on_bad_line), path)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the vectors of texts, divided by their lengths; see `encode`."""
        return unit_rows(self.encode(texts))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns the vectors of texts, float32 `(num_texts, dim)`.

        Raises:
            DataError: Some texts have no vector; the message names the first three.
        """
        rows = [self._rows.get(_key(text)) for text in texts]
        missing = [text for text, row in zip(texts, rows, strict=True) if row is None]
        if missing:
            shown = ", ".join(repr(text[:_MAX_SHOWN_CHARS]) for text in missing[:_NUM_SHOWN])
            raise DataError(
                self._path,
                f"lacks the vectors of {len(missing):,} of {len(texts):,} texts: {shown}. "
                "--save-pairs of another model writes all texts that are scored.",
            )
        return np.asarray(self._vectors[np.array(rows, np.intp)], np.float32)


def _key(text: str) -> str:
    return " ".join(text.split())
