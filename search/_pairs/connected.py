"""Rows that pairs connect, and the other pairs among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from tf_charagram.search._pairs.flat_arrays import (
    NO_PAIRS,
    Ids,
    keys_of_pairs,
    lengths_of,
    paired,
    pairs_of_keys,
    stable_order,
)
from tf_charagram.text._algorithm.arrays import splits_of
from tf_charagram.text._algorithm.flat import Rows

# Pairs inside of groups that are looked at in addition to the candidates: so many per row, within
# limits. Chains of rows grow faster than a list.
_INNER_OF_ROW = 4
_INNER_LIMITS = (4_000_000, 20_000_000)
#: All pairs of a group of so many rows take 64 MB. Larger groups are cut before they are joined.
MAX_CONNECTED = 4_000


def components(num_rows: int, pairs: Ids) -> Ids:
    """Returns the number of the group of each row: rows that pairs connect, `(num_rows,)`."""
    ones = np.ones(len(pairs), bool)
    graph = sparse.coo_array((ones, pairs.T), (num_rows, num_rows))
    _, numbers = csgraph.connected_components(graph, directed=False)
    return numbers.astype(np.int64)


def bounded_components(
    num_rows: int, pairs: Ids, scores: NDArray[np.floating], threshold: float
) -> Ids:
    """Returns the numbers of connected rows; large groups are cut at their weakest pairs."""
    is_kept = scores >= threshold
    while True:
        numbers = components(num_rows, pairs[is_kept])
        sizes = np.bincount(numbers, minlength=1)
        number_of_pair = numbers[pairs[:, 0]]
        num_kept = is_kept.sum()
        for number in np.flatnonzero(sizes > MAX_CONNECTED).tolist():
            own = np.flatnonzero(is_kept & (number_of_pair == number))
            own_scores = scores[own]
            weakest = own_scores.min()
            # The stronger half stays, or all pairs but the weakest if most are equal.
            limit = max(np.median(own_scores), np.nextafter(weakest, np.inf))
            if weakest < own_scores.max():
                is_kept[own] = own_scores >= limit
        if is_kept.sum() == num_kept:
            return numbers


def with_inner_pairs(
    num_rows: int,
    pairs: Ids,
    scores: NDArray[np.floating],
    threshold: float,
    scores_of: Callable[[Ids], NDArray[np.floating]],
) -> tuple[Ids, NDArray[np.floating]]:
    """Adds the other pairs of rows that a chain of pairs connects.

    A row of a large group has more partners than it has candidates.

    Args:
        num_rows: Number of rows.
        pairs: Pairs of rows, `(num_pairs, 2)`, sorted, the smaller row of each first.
        scores: Their scores.
        threshold: Minimum score of the pairs of a chain.
        scores_of: Returns the scores of other pairs.

    Returns:
        Pairs, sorted, and their scores.
    """
    added = missing_pairs(num_rows, pairs, scores, threshold)
    all_pairs = np.concatenate([pairs, added])
    order = stable_order(keys_of_pairs(all_pairs, num_rows))
    all_scores = np.append(scores, scores_of(added))
    return all_pairs[order], all_scores[order]


def missing_pairs(
    num_rows: int,
    pairs: Ids,
    scores: NDArray[np.floating],
    threshold: float,
) -> Ids:
    """Returns the other pairs of rows that a chain of pairs connects, `(num_missing, 2)`.

    Args:
        num_rows: Number of rows.
        pairs: Pairs of rows, `(num_pairs, 2)`, the smaller row of each first.
        scores: Their scores.
        threshold: Minimum score of the pairs of a chain.
    """
    groups = bounded_components(num_rows, pairs, scores, threshold)
    max_pairs = int(np.clip(_INNER_OF_ROW * num_rows, *_INNER_LIMITS))
    keys = keys_of_pairs(inner_pairs(groups, max_pairs), num_rows)
    known = keys_of_pairs(pairs, num_rows)
    is_missing = ~np.isin(keys, known, assume_unique=True)
    return pairs_of_keys(keys[is_missing], num_rows)


def members(groups: Ids) -> Rows:
    """Returns the rows of each group of at least two rows, ascending."""
    sizes = np.bincount(groups)
    order = stable_order(groups)
    is_member = sizes[groups[order]] > 1
    return Rows(order[is_member], splits_of(sizes[sizes > 1]))


def inner_pairs(groups: Ids, max_pairs: int) -> Ids:
    """Returns all pairs of rows of the same group, `(num_pairs, 2)`, small groups first.

    Args:
        groups: The number of the group of each row.
        max_pairs: Groups are left out from the one on that goes beyond so many pairs.
    """
    rows, splits = members(groups)
    sizes = lengths_of(splits)
    order = stable_order(sizes)
    num_pairs = sizes * (sizes - 1) // 2
    chosen = order[np.cumsum(num_pairs[order]) <= max_pairs]
    found = [NO_PAIRS]
    for size in np.unique(sizes[chosen]).tolist():
        starts = splits[chosen[sizes[chosen] == size]]
        own = rows[starts[:, np.newaxis] + np.arange(size)]
        left, right = np.triu_indices(size, 1)
        inner = paired(own[:, left].ravel(), own[:, right].ravel())
        found.append(inner)
    return np.concatenate(found)
