"""Texts with the vectors of their teachers, and the nearest neighbors of each text."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.cluster.vq import kmeans2

from tf_charagram.data._tables.lines import read_lines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.distillation._teachers.vectors import read_vectors

_CHUNK = 50_000
# Vectors from which the principal directions are computed.
_NUM_SAMPLED = 100_000
# For the search of neighbors.
_CLUSTER_SIZE = 2_500
_SAMPLED_PER_CLUSTER = 40
_NUM_ROUNDS = 8
_CLUSTER_CHUNK = 20_000
# Lines of a cluster that are compared with the whole cluster at a time.
_MAX_ROWS = 2_000
_MAX_COSINES = 5_000_000


class MeanOfTeachers:
    """The vectors of several teachers side by side, so that cosines are means over the teachers.

    Args:
        teachers: The same lines with the vectors of each teacher.
    """

    def __init__(self, *teachers: TeacherLines) -> None:
        self._teachers = teachers

    def __len__(self) -> int:
        return len(self._teachers[0])

    def vectors(self, numbers: np.ndarray) -> np.ndarray:
        """Returns vectors of unit length; float32 `(len(numbers), dim)`."""
        vectors = [teacher.vectors(numbers) for teacher in self._teachers]
        # k unit vectors side by side have the length sqrt(k).
        return np.concatenate(vectors, axis=1) / np.sqrt(np.float32(len(vectors)))


class TeacherLines:
    """Texts in memory and their vectors on disk.

    Blank lines are skipped, along with their vectors.

    Args:
        paths: Files of texts, one per line.
        sources: Files of vectors, one per file of texts.

    Attributes:
        texts: The texts.
        dim: Width of the vectors.

    Raises:
        ConfigError: A file is Parquet, and pyarrow is not installed.
        DataError: A file cannot be read, a vector is zero or not finite, or there are no texts.
    """

    def __init__(self, paths: Sequence[str | Path], sources: Sequence[str | Path]) -> None:
        lines: list[str] = []
        num_lines: list[int] = []
        for path in paths:
            first = len(lines)
            lines += [line for _, line in read_lines(path)]
            num_lines.append(len(lines) - first)
        visible = np.flatnonzero([bool(line.strip()) for line in lines])
        if not len(visible):
            raise DataError(paths[0], "no texts found: all lines are blank")
        self.texts = [lines[number] for number in visible.tolist()]
        # The vectors lie in parts, one after the other; `_rows` are positions in all of them.
        self._parts = _read_parts(sources, paths, num_lines)
        self._rows = visible
        self.dim = self._parts[0].shape[1]
        self._splits = np.cumsum([0, *map(len, self._parts)])
        bad = np.flatnonzero(~self._are_good(self._rows))
        if len(bad):
            line = visible[bad[0]]
            ends = np.cumsum(num_lines)
            file_number = int(np.searchsorted(ends, line, side="right"))
            first_line = ends[file_number] - num_lines[file_number]
            message = "expected a vector of finite numbers that are not all zero"
            raise DataError(paths[file_number], message, int(line - first_line) + 1)

    def __len__(self) -> int:
        return len(self.texts)

    def vectors(self, numbers: np.ndarray) -> np.ndarray:
        """Returns vectors of unit length; float32 `(len(numbers), dim)`."""
        return normalized(self._gather(self._rows[numbers]))

    def principal_directions(self, dim: int) -> np.ndarray:
        """Returns the principal directions of the vectors.

        Args:
            dim: Number of directions.

        Returns:
            float32 `(self.dim, dim)`, orthonormal columns.

        Raises:
            ConfigError: `dim` is larger than the width of the vectors.
        """
        if dim > self.dim:
            raise ConfigError(
                f"`dim` must be at most the width of the teacher's vectors, {self.dim}. "
                f"Received: dim={dim}"
            )
        step = max(1, len(self) // _NUM_SAMPLED)
        numbers = np.arange(0, len(self), step)
        # Without subtracting the mean, because cosines are angles at the origin.
        product = np.zeros((self.dim, self.dim))
        for chunk in np.array_split(numbers, math.ceil(len(numbers) / _CHUNK)):
            vectors = self.vectors(chunk)
            product += vectors.T @ vectors
        # `eigh` returns the directions with the smallest eigenvalues first.
        _, directions = np.linalg.eigh(product)
        largest_first = directions[:, ::-1]
        return largest_first[:, :dim].astype(np.float32)

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        """Returns rows of all parts, float32 `(len(rows), dim)`."""
        vectors = np.empty((len(rows), self.dim), np.float32)
        part_numbers = np.searchsorted(self._splits, rows, side="right") - 1
        for number, part in enumerate(self._parts):
            chosen = np.flatnonzero(part_numbers == number)
            vectors[chosen] = part[rows[chosen] - self._splits[number]]
        return vectors

    def _are_good(self, rows: np.ndarray) -> np.ndarray:
        """Returns whether each vector is finite and not zero."""
        good = np.ones(len(rows), bool)
        # In chunks, because the vectors on disk may not fit into memory.
        for first in range(0, len(rows), _CHUNK):
            vectors = self._gather(rows[first : first + _CHUNK])
            squares = np.einsum("ij,ij->i", vectors, vectors)
            good[first : first + _CHUNK] = np.isfinite(squares) & (squares > 0)
        return good


def _read_parts(
    sources: Sequence[str | Path], paths: Sequence[str | Path], num_lines: Sequence[int]
) -> list[np.ndarray]:
    """Opens files of vectors, one vector per line of the corresponding file of texts.

    Raises:
        DataError: A file cannot be read, its vectors and lines differ in number, or its vectors
            have another width.
    """
    parts = [read_vectors(source) for source in sources]
    dim = parts[0].shape[1]
    for part, source, path, expected in zip(parts, sources, paths, num_lines, strict=True):
        if len(part) != expected:
            raise DataError(source, f"has {len(part):,} vectors, and {path} has {expected:,} lines")
        if part.shape[1] != dim:
            raise DataError(
                source,
                f"its vectors have {part.shape[1]} numbers, those of {sources[0]} {dim}",
            )
    return parts


def normalized(vectors: np.ndarray) -> np.ndarray:
    """Divides each row by its length; zero rows stay zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def nearest_lines(
    lines: TeacherLines | MeanOfTeachers, number: int, *, seed: int = 0
) -> np.ndarray:
    """Finds lines whose vectors have a large cosine with the vector of each line.

    Only the cluster of a line is searched, so the lines are near, but not always the nearest:
    comparing all lines with all takes an hour for a million. K-means on a sample gives
    the clusters, of about 2,500 lines each.

    Args:
        lines: The lines and their vectors.
        number: Neighbors to find for each line.
        seed: Seed of the sample.

    Returns:
        Numbers of lines, the nearest first, int32 `(len(lines), number)`. A line is not its own
        neighbor. If its cluster has too few other lines, the rest is -1.
    """
    centers = _centers(lines, seed)
    chunks = np.array_split(np.arange(len(lines)), math.ceil(len(lines) / _CLUSTER_CHUNK))
    clusters = np.concatenate([_nearest_centers(lines.vectors(chunk), centers) for chunk in chunks])
    # Sorted by cluster, the members of each cluster lie between two bounds.
    order = np.argsort(clusters, kind="stable")
    bounds = np.searchsorted(clusters[order], np.arange(len(centers) + 1))
    nearest = np.full((len(lines), number), -1, np.int32)
    for first, last in pairwise(bounds):
        members = order[first:last]
        if len(members) > 1:
            chosen = members[_nearest_rows(lines.vectors(members), number)]
            nearest[members, : chosen.shape[1]] = chosen
    return nearest


def _nearest_centers(vectors: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return (vectors @ centers.T).argmax(axis=1)


def _centers(lines: TeacherLines | MeanOfTeachers, seed: int) -> np.ndarray:
    """Returns the centers of the clusters, of unit length, float32 `(num_clusters, dim)`."""
    num_clusters = max(1, len(lines) // _CLUSTER_SIZE)
    random = np.random.default_rng(seed)
    size = min(len(lines), num_clusters * _SAMPLED_PER_CLUSTER)
    # Sorted, so that vectors on disk are read in order.
    numbers = np.sort(random.choice(len(lines), size, replace=False))
    sample = lines.vectors(numbers)
    first_centers = sample[random.choice(size, num_clusters, replace=False)]
    with warnings.catch_warnings():
        # Equal lines leave clusters empty, which does no harm.
        warnings.simplefilter("ignore", UserWarning)
        centers, _ = kmeans2(sample, first_centers, iter=_NUM_ROUNDS, minit="matrix")
    return normalized(centers)


def _nearest_rows(vectors: np.ndarray, number: int) -> np.ndarray:
    """Returns the rows nearest to each row but itself, `(num_rows, min(number, num_rows - 1))`."""
    number = min(number, len(vectors) - 1)
    nearest = np.empty((len(vectors), number), np.int64)
    # Clusters may be large, because nearly equal lines share one.
    num_rows = max(1, min(_MAX_ROWS, _MAX_COSINES // len(vectors)))
    for first in range(0, len(vectors), num_rows):
        cosines = vectors[first : first + num_rows] @ vectors.T
        rows = np.arange(len(cosines))
        # A line is not its own neighbor.
        cosines[rows, first + rows] = -np.inf
        # Partition, then sort: much faster than sorting whole rows.
        chosen = np.argpartition(-cosines, number - 1, axis=1)[:, :number]
        chosen_cosines = np.take_along_axis(cosines, chosen, axis=1)
        order = np.argsort(-chosen_cosines, axis=1, kind="stable")
        nearest[first + rows] = np.take_along_axis(chosen, order, axis=1)
    return nearest
