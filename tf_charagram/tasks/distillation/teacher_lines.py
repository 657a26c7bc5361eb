"""Texts and the vectors that a teacher gave them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.distillation.teacher import Teacher
from tf_charagram.tasks.distillation.teacher_cache import VectorCache
from tf_charagram.tasks.distillation.teacher_vectors import read_vectors

_CHUNK = 50_000
# Texts from which the principal directions are computed.
_NUM_SAMPLED = 100_000


class LineVectors(Protocol):
    """What says how similar lines are."""

    def __len__(self) -> int:
        """Returns the number of lines."""

    def vectors(self, numbers: np.ndarray) -> np.ndarray:
        """Returns the vectors of lines, of unit length, float32 `(len(numbers), dim)`.

        Args:
            numbers: Of the lines, an integer each.
        """


class MeanOfTeachers:
    """The vectors of several teachers side by side: their cosines are the means of the teachers'.

    Args:
        teachers: The same lines with the vectors of each.

    Raises:
        ConfigError: Some lines have a vector of one teacher alone.
    """

    def __init__(self, *teachers: TeacherLines) -> None:
        if any(teacher.texts != teachers[0].texts for teacher in teachers):
            raise ConfigError(
                "The teachers leave out different lines, of which they have no vector that can be "
                "learnt. Take these lines out of the data, and their vectors."
            )
        self._teachers = teachers

    def __len__(self) -> int:
        return len(self._teachers[0])

    def vectors(self, numbers: np.ndarray) -> np.ndarray:
        """Returns vectors of unit length; see `LineVectors`."""
        vectors = [teacher.vectors(numbers) for teacher in self._teachers]
        return np.concatenate(vectors, axis=1) / np.sqrt(np.float32(len(vectors)))


class TeacherLines:
    """Texts to learn the vectors of, in memory; the vectors stay on disk where they are there.

    Blank lines are left out, with their vectors.

    Args:
        paths: Files of texts, one per line.
        sources: Files of vectors, one for each of `paths`; or one teacher for all.
        cache_folder: Where vectors that a teacher computes are kept.
        bad_lines: What to do about vectors that are zero or not finite.
        show_progress: Whether to show a bar while a teacher computes.

    Attributes:
        texts: The texts.
        dim: Width of the vectors.

    Raises:
        DataError: A file cannot be read, has no text, or not as many lines as vectors; vectors of
            two files differ in width; a vector is zero or not finite.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        sources: Sequence[str | Path] | Teacher,
        *,
        cache_folder: str | Path,
        bad_lines: BadLines,
        show_progress: bool = False,
    ) -> None:
        files = [[line for _, line in read_lines(path)] for path in paths]
        lines = [line for file in files for line in file]
        is_visible = np.array([bool(line.strip()) for line in lines], bool)
        if not is_visible.any():
            raise DataError(paths[0], "no texts found: all lines are blank")
        if isinstance(sources, Sequence):
            self._parts = [
                _checked(read_vectors(source), len(file), source, path)
                for source, file, path in zip(sources, files, paths, strict=True)
            ]
            rows = np.arange(len(lines))
        else:
            visible = [line for line, keep in zip(lines, is_visible, strict=True) if keep]
            cache = VectorCache(cache_folder, sources, visible)
            vectors, found = cache.vectors(show_progress=show_progress)
            self._parts = [vectors]
            rows = np.zeros(len(lines), np.int64)
            rows[is_visible] = found
        self.dim = self._parts[0].shape[1]
        self._check_widths(paths)
        self._splits = np.cumsum([0, *map(len, self._parts)])
        kept = is_visible & self._are_sound(rows, is_visible, files, paths, bad_lines)
        self._rows = rows[kept]
        self.texts = [line for line, keep in zip(lines, kept, strict=True) if keep]
        if not self.texts:
            raise DataError(paths[0], "no line has a vector that can be learnt")

    def __len__(self) -> int:
        return len(self.texts)

    def vectors(self, numbers: np.ndarray) -> np.ndarray:
        """Returns vectors of unit length; see `LineVectors`."""
        return normalized(self._gather(self._rows[numbers]))

    def principal_directions(self, dim: int) -> np.ndarray:
        """Returns the directions in which the vectors have most of their length.

        Args:
            dim: How many.

        Returns:
            float32 `(self.dim, dim)`, orthonormal columns.

        Raises:
            ConfigError: The vectors are not so wide.
        """
        if dim > self.dim:
            raise ConfigError(
                f"`dim` must be at most the width of the teacher's vectors, {self.dim}. "
                f"Received: dim={dim}"
            )
        step = max(1, len(self) // _NUM_SAMPLED)
        product = np.zeros((self.dim, self.dim))
        numbers = np.arange(0, len(self), step)
        for chunk in np.array_split(numbers, -(-len(numbers) // _CHUNK)):
            vectors = self.vectors(chunk)
            product += vectors.T @ vectors
        _, directions = np.linalg.eigh(product)
        return directions[:, ::-1][:, :dim].astype(np.float32)

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        vectors = np.empty((len(rows), self.dim), np.float32)
        parts = np.searchsorted(self._splits, rows, side="right") - 1
        for number, part in enumerate(self._parts):
            chosen = np.flatnonzero(parts == number)
            vectors[chosen] = part[rows[chosen] - self._splits[number]]
        return vectors

    def _check_widths(self, paths: Sequence[str | Path]) -> None:
        for part, path in zip(self._parts, paths, strict=False):
            if part.shape[1] != self.dim:
                raise DataError(
                    path,
                    f"its vectors have {part.shape[1]} numbers, those of {paths[0]} {self.dim}",
                )

    def _are_sound(
        self,
        rows: np.ndarray,
        is_visible: np.ndarray,
        files: Sequence[Sequence[str]],
        paths: Sequence[str | Path],
        bad_lines: BadLines,
    ) -> np.ndarray:
        """Returns whether the vector of each line is finite and not zero."""
        sound = np.ones(len(rows), bool)
        for first in range(0, len(rows), _CHUNK):
            vectors = self._gather(rows[first : first + _CHUNK])
            lengths = np.einsum("ij,ij->i", vectors, vectors)
            sound[first : first + _CHUNK] = np.isfinite(lengths) & (lengths > 0)
        ends = np.cumsum([0, *map(len, files)])
        for line in np.flatnonzero(is_visible & ~sound).tolist():
            number = int(np.searchsorted(ends, line, side="right")) - 1
            message = "expected a vector of finite numbers that are not all zero"
            bad_lines.report(paths[number], line - int(ends[number]) + 1, message)
        return sound


def normalized(vectors: np.ndarray) -> np.ndarray:
    """Returns vectors with each row divided by its length; zero rows stay zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def _checked(
    vectors: np.ndarray, num_lines: int, source: str | Path, path: str | Path
) -> np.ndarray:
    if len(vectors) != num_lines:
        raise DataError(source, f"has {len(vectors):,} vectors, and {path} has {num_lines:,} lines")
    return vectors
