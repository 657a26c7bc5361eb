"""Makes groups of rows from pairs that match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from tf_charagram.errors import ConfigError, unknown_name

#: How pairs make groups.
GROUPS = ("stars", "components")


class Group(NamedTuple):
    """Texts or rows that are the same thing.

    Attributes:
        rows: The rows; the first row is kept.
        scores: Score of each row with the first row.
    """

    rows: list[int]
    scores: list[float]


class WeakLink(NamedTuple):
    """A weak pair that alone connects two parts of a group, which stronger pairs hold together.

    Attributes:
        left: Row.
        right: Row.
        probability: Probability or score of the pair.
        size: Number of rows of the group.
    """

    left: int
    right: int
    probability: float
    size: int


def check_groups(kind: str) -> None:
    """Raises a `ConfigError` if there are no groups of a kind."""
    if kind not in GROUPS:
        raise ConfigError(unknown_name("kind of groups", kind, GROUPS))


def _graph(num_rows: int, pairs: NDArray[np.int64]) -> sparse.csr_array:
    """Returns a matrix with ones for the pairs in both directions."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return sparse.csr_array((np.ones(len(both), bool), both.T), (num_rows, num_rows))


def chosen_one_to_one(pairs: NDArray[np.int64], scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """Chooses pairs of two tables so that each row is in at most one; largest scores come first.

    Args:
        pairs: Rows of both tables, `(num_pairs, 2)`.
        scores: Their scores; of equal scores, the first pair comes first.

    Returns:
        The indices of the chosen pairs, ascending.
    """
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    chosen = []
    for pair in np.argsort(-scores, kind="stable").tolist():
        left, right = pairs[pair].tolist()
        if left not in taken_left and right not in taken_right:
            chosen.append(pair)
            taken_left.add(left)
            taken_right.add(right)
    return np.sort(np.array(chosen, np.intp))


def components(num_rows: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the number of the group of each row: rows that pairs connect, `(num_rows,)`."""
    graph = _graph(num_rows, pairs)
    return csgraph.connected_components(graph, directed=False)[1].astype(np.int64)


def degrees_of(pairs: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the size of each row and its partners together, `(num_rows,)`.

    Args:
        pairs: Pairs of rows, `(num_pairs, 2)`, each once.
        sizes: Size of each row: 1, or the number of texts that are equal to it.
    """
    left, right = pairs.T
    num_rows = len(sizes)
    of_right = np.bincount(left, sizes[right], num_rows)
    of_left = np.bincount(right, sizes[left], num_rows)
    return (sizes + of_right + of_left).astype(np.int64)


def stars(pairs: NDArray[np.int64], degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the number of the group of each row: a center and rows that match it, `(num_rows,)`.

    The row with the largest degree comes first (Aslam, Pelekhov and Rus, *The Star Clustering
    Algorithm*, 2004). A row that matches several centers goes to the first.
    """
    num_rows = len(degrees)
    graph = _graph(num_rows, pairs)
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


def group_numbers(
    kind: str, pairs: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns the number of the group of each row, `(num_rows,)`.

    Args:
        kind: `stars` or `components`.
        pairs: Pairs of rows that match, `(num_pairs, 2)`, each once.
        sizes: Size of each row.
    """
    if kind == "stars":
        return stars(pairs, degrees_of(pairs, sizes))
    return components(len(sizes), pairs)


def make_groups(
    numbers: NDArray[np.int64],
    degrees: NDArray[np.int64],
    scores_of: Callable[[NDArray[np.int64]], NDArray[np.floating]],
) -> list[Group]:
    """Makes groups of at least two rows, by their smallest rows.

    Args:
        numbers: Number of the group of each row.
        degrees: Degree of each row; the row with the largest degree is the first of its group.
        scores_of: Returns the scores of pairs of rows, `(num_pairs, 2)`, the smaller row first.
    """
    all_rows = []
    pairs = []
    for rows in members(numbers):
        first = rows[np.argmax(degrees[rows])]
        others = rows[rows != first]
        all_rows.append([int(first), *others.tolist()])
        pairs.append(np.stack([np.full(len(others), first), others], axis=1))
    if not all_rows:
        return []
    scores = scores_of(np.sort(np.concatenate(pairs), axis=1)).tolist()
    found = []
    start = 0
    for group_rows in all_rows:
        stop = start + len(group_rows) - 1
        found.append(Group(group_rows, [1.0, *scores[start:stop]]))
        start = stop
    return sorted(found, key=lambda group: min(group.rows))


def kept_rows(groups: Iterable[Group], num_rows: int) -> list[int]:
    """Returns the rows that are left if each group keeps its first row, ascending."""
    dropped = {row for group in groups for row in group.rows[1:]}
    return [row for row in range(num_rows) if row not in dropped]


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
    pairs: NDArray[np.int64],
    scores: NDArray[np.floating],
    sizes: NDArray[np.int64],
    below: float,
) -> list[WeakLink]:
    """Finds the weak pairs that alone connect two parts of a component, the largest groups first.

    Only groups with at least two rows on both sides count: a single row may well have one partner.

    Args:
        pairs: Pairs of rows that match, `(num_pairs, 2)`, each once.
        scores: Their probabilities or scores, `(num_pairs,)`.
        sizes: Size of each row.
        below: Pairs with lower scores are weak.
    """
    num_rows = len(sizes)
    groups = components(num_rows, pairs)
    group_sizes = np.bincount(groups, sizes, 1)
    parts = components(num_rows, pairs[scores >= below])
    part_sizes = np.bincount(parts, sizes, 1)
    weak = np.flatnonzero(scores < below)
    ends = np.sort(parts[pairs[weak]], axis=1)
    distinct_ends, first, counts = np.unique(ends, axis=0, return_index=True, return_counts=True)
    is_link = counts == 1
    is_link &= distinct_ends[:, 0] != distinct_ends[:, 1]
    is_link &= part_sizes[distinct_ends].min(axis=1) > 1
    found = []
    for pair in weak[first[is_link]].tolist():
        left, right = pairs[pair].tolist()
        size = int(group_sizes[groups[left]])
        found.append(WeakLink(left, right, float(scores[pair]), size))
    return sorted(found, key=lambda link: (-link.size, link.probability))
