"""Makes groups of rows from pairs that probably match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph


class WeakLink(NamedTuple):
    """A pair without which its group would fall into two groups.

    Attributes:
        left: Row.
        right: Row.
        probability: Probability of the pair.
        size: Number of rows of the group.
    """

    left: int
    right: int
    probability: float
    size: int


def _graph(
    num_rows: int, pairs: NDArray[np.int64], values: NDArray[np.floating]
) -> sparse.csr_array:
    """Returns the pairs in both directions as a matrix."""
    rows = np.concatenate([pairs[:, 0], pairs[:, 1]])
    columns = np.concatenate([pairs[:, 1], pairs[:, 0]])
    return sparse.csr_array(
        (np.concatenate([values, values]), (rows, columns)), (num_rows, num_rows)
    )


def components(num_rows: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the number of the group of each row: rows that pairs connect, `(num_rows,)`."""
    graph = _graph(num_rows, pairs, np.ones(len(pairs)))
    return csgraph.connected_components(graph, directed=False)[1].astype(np.int64)


def stars(
    num_rows: int, pairs: NDArray[np.int64], probabilities: NDArray[np.floating]
) -> NDArray[np.int64]:
    """Returns the number of the group of each row: a center and rows that match it, `(num_rows,)`.

    The row with the most partners comes first (Aslam, Pelekhov and Rus, *The Star Clustering
    Algorithm*, 2004). A row that matches several centers goes to the first.
    """
    graph = _graph(num_rows, pairs, probabilities)
    degrees = np.diff(graph.indptr)
    groups = np.full(num_rows, -1, np.int64)
    num_groups = 0
    for center in np.argsort(-degrees, kind="stable").tolist():
        if groups[center] >= 0:
            continue
        partners = graph.indices[graph.indptr[center] : graph.indptr[center + 1]]
        groups[center] = num_groups
        groups[partners[groups[partners] < 0]] = num_groups
        num_groups += 1
    return groups


def members(groups: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Yields the rows of each group of at least two rows."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        if len(rows) > 1:
            yield rows


def inner_pairs(groups: NDArray[np.int64], max_pairs: int) -> NDArray[np.int64]:
    """Returns all pairs of rows of the same group, `(num_pairs, 2)`, small groups first.

    Args:
        groups: The number of the group of each row.
        max_pairs: Groups are left out from the one on that goes beyond so many pairs.
    """
    found = [np.zeros((0, 2), np.int64)]
    num_pairs = 0
    for rows in sorted(members(groups), key=len):
        num_pairs += len(rows) * (len(rows) - 1) // 2
        if num_pairs > max_pairs:
            break
        left, right = np.triu_indices(len(rows), 1)
        found.append(np.stack([rows[left], rows[right]], axis=1))
    return np.concatenate(found)


def weak_links(
    num_rows: int, pairs: NDArray[np.int64], probabilities: NDArray[np.floating], below: float
) -> list[WeakLink]:
    """Finds the bridges of groups that are less probable than `below`, the largest groups first.

    A bridge is a pair without which its group would fall apart. Only groups with at least two rows
    on both sides count: a single row may well have one partner.
    """
    groups = components(num_rows, pairs)
    sizes = np.bincount(groups, minlength=1)
    strong = pairs[probabilities >= below]
    parts = components(num_rows, strong)
    part_sizes = np.bincount(parts, minlength=1)
    weak = np.flatnonzero(probabilities < below)
    left, right = parts[pairs[weak, 0]], parts[pairs[weak, 1]]
    lower, upper = np.minimum(left, right), np.maximum(left, right)
    keys, first, counts = np.unique(lower * num_rows + upper, return_index=True, return_counts=True)
    found = []
    for key, place, count in zip(keys.tolist(), first.tolist(), counts.tolist(), strict=True):
        one, other = divmod(key, num_rows)
        is_bridge = one != other and count == 1 and min(part_sizes[one], part_sizes[other]) > 1
        if is_bridge:
            pair = weak[place]
            row, partner = pairs[pair].tolist()
            size = int(sizes[groups[row]])
            found.append(WeakLink(row, partner, float(probabilities[pair]), size))
    return sorted(found, key=lambda link: (-link.size, link.probability))
