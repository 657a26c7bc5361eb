"""Which lines a teacher finds similar: for each, some of the nearest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tf_charagram.tasks.distillation.teacher_lines import LineVectors, normalized

_CLUSTER_SIZE = 2_500
_SAMPLED_PER_CLUSTER = 40
_ROUNDS = 8
_CHUNK = 20_000
# Lines of a cluster that are compared with all of it at a time.
_ROWS = 2_000
_MAX_COSINES = 5_000_000


def nearest_lines(lines: LineVectors, number: int, *, seed: int = 0) -> np.ndarray:
    """Finds lines whose vectors have a large cosine with that of each line.

    They are searched in the cluster of the line alone, so they are near, but not always the
    nearest: to compare all lines with all takes an hour for a million. The clusters are those of
    spherical k-means on a sample, of about 2,500 lines each.

    Args:
        lines: The lines and their vectors.
        number: How many to find for each line.
        seed: Seed of the sample.

    Returns:
        Numbers of lines, the nearest first, int32 `(len(lines), number)`. A line is not its own
        neighbor; where its cluster has too few others, the rest is -1.
    """
    centers = _centers(lines, seed)
    parts = np.array_split(np.arange(len(lines)), -(-len(lines) // _CHUNK))
    clusters = np.concatenate([_nearest_centers(lines.vectors(part), centers) for part in parts])
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


def _centers(lines: LineVectors, seed: int) -> np.ndarray:
    """Returns the centers of the clusters, of unit length, float32 `(num_clusters, dim)`."""
    num_clusters = max(1, len(lines) // _CLUSTER_SIZE)
    random = np.random.default_rng(seed)
    size = min(len(lines), num_clusters * _SAMPLED_PER_CLUSTER)
    sample = lines.vectors(np.sort(random.choice(len(lines), size, replace=False)))
    centers = sample[random.choice(size, num_clusters, replace=False)]
    for _ in range(_ROUNDS):
        nearest = _nearest_centers(sample, centers)
        order = np.argsort(nearest, kind="stable")
        present, firsts = np.unique(nearest[order], return_index=True)
        centers[present] = normalized(np.add.reduceat(sample[order], firsts, axis=0))
    return centers


def _nearest_rows(vectors: np.ndarray, number: int) -> np.ndarray:
    """Returns the rows nearest to each row but itself, `(num_rows, min(number, num_rows - 1))`."""
    number = min(number, len(vectors) - 1)
    nearest = np.empty((len(vectors), number), np.int64)
    # Lines that are nearly the same are in one cluster, however many there are.
    num_rows = max(1, min(_ROWS, _MAX_COSINES // len(vectors)))
    for first in range(0, len(vectors), num_rows):
        cosines = vectors[first : first + num_rows] @ vectors.T
        rows = np.arange(len(cosines))
        cosines[rows, first + rows] = -np.inf
        chosen = np.argpartition(-cosines, number - 1, axis=1)[:, :number]
        order = np.argsort(-np.take_along_axis(cosines, chosen, axis=1), axis=1, kind="stable")
        nearest[first + rows] = np.take_along_axis(chosen, order, axis=1)
    return nearest
