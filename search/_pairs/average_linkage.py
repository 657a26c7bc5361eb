"""Average linkage of rows of which few pairs match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial import distance

from tf_charagram.search._pairs.connected import MAX_CONNECTED, bounded_components, components
from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Ids,
    numbered,
    paired,
    pairs_of_keys,
    ranks,
    split_by,
    stable_order,
)

# Weight of a third row.
_THIRD = 0.5
# Rows of groups that are joined many at a time.
_MAX_SMALL = 12
# Rows of a group up to which third rows are looked for.
_MAX_WITH_THIRDS = 200


class Linkage(NamedTuple):
    """Average linkage of rows: the two groups with the largest mean score are joined, repeatedly.

    Two rows that match the same third row have at least half of the product of these two scores.
    Means never rise, so the groups above a threshold are the components of the merges above it
    (Sokal and Michener, *A Statistical Method for Evaluating Systematic Relationships*, 1958).

    Attributes:
        num_rows: Number of rows.
        merges: A row of each of the two groups that are joined, `(num_merges, 2)`.
        means: Mean score of the pairs between the two groups, `(num_merges,)`.
        joined: The mean at which the rows of each pair are joined, `(num_pairs,)`; 0 if never.
    """

    num_rows: int
    merges: Ids
    means: Array
    joined: Array


def average_linkage(
    num_rows: int, pairs: Ids, scores: NDArray[np.floating], threshold: float
) -> Linkage:
    """Joins rows by the mean score between groups.

    Args:
        num_rows: Number of rows.
        pairs: Pairs of rows, `(num_pairs, 2)`, each once.
        scores: Their scores, in [0, 1].
        threshold: Rows are joined only if a chain of pairs above it connects them.
    """
    groups = bounded_components(num_rows, pairs, scores, threshold)
    left, right = groups[pairs].T
    all_sizes = np.bincount(groups, minlength=1)
    sizes = np.where(left == right, all_sizes[left], 0)
    # Groups of two rows; and large ones whose pairs are all equal, or they would have been cut.
    is_simple = (sizes == 2) | (sizes > MAX_CONNECTED)
    merges = [pairs[is_simple]]
    means = [scores[is_simple].astype(np.float64)]
    joined = np.where(is_simple, scores, 0.0)
    sizes[is_simple] = 0
    places = _places(groups)
    for own in _joined_at_once(sizes, left):
        own_pairs = pairs[own]
        rows, similar, cells = _matrices(left[own], places[own_pairs], own_pairs, scores[own])
        join = _join_many if rows.shape[1] <= _MAX_SMALL else _join_one
        for ends, steps in join(similar):
            merges.append(np.take_along_axis(rows, ends, axis=1))
            means.append(steps)
        joined[own] = similar[cells]
    return Linkage(num_rows, np.concatenate(merges), np.concatenate(means), joined)


def _joined_at_once(sizes: Ids, groups: Ids) -> Iterator[Ids]:
    """Yields the pairs of all small groups of one size, and of each large group.

    Args:
        sizes: Size of the group of each pair, 0 for a pair that is left out.
        groups: Its number.
    """
    is_large = sizes > _MAX_SMALL
    # Sizes of small groups are negative, and numbers of groups are not.
    keys = np.where(is_large, groups, -sizes)
    if sizes.any():
        yield from split_by(keys, np.flatnonzero(sizes))


def _matrices(
    groups: Ids, places: Ids, pairs: Ids, scores: NDArray[np.floating]
) -> tuple[Ids, Array, tuple[Ids, ...]]:
    """Returns the scores of the rows of groups of one size.

    Args:
        groups: The group of each pair.
        places: The places of both rows in the group, `(num_pairs, 2)`.
        pairs: The rows.
        scores: The scores.

    Returns:
        The rows of each group, `(num_groups, size)`; their scores, symmetric,
        `(num_groups, size, size)`; and where the score of each pair is.
    """
    known, numbers = numbered(groups)
    left, right = places.T
    size = int(places.max()) + 1
    rows = np.empty((len(known), size), np.int64)
    rows[numbers[:, np.newaxis], places] = pairs
    similar = np.zeros((len(known), size, size))
    similar[numbers, left, right] = similar[numbers, right, left] = scores
    return rows, similar, (numbers, left, right)


def _join_many(similar: Array) -> Iterator[tuple[Ids, Array]]:
    """Joins the rows of many connected groups of one size; SciPy takes a millisecond per group.

    Args:
        similar: Scores of the rows of each group, symmetric, `(num_groups, size, size)`; at the
            end, the means at which they are joined.

    Yields:
        Places of a row of each of the two parts that are joined, `(num_groups, 2)`, and the mean
        scores between the parts, `(num_groups,)`.
    """
    num_groups, size, _ = similar.shape
    means = with_thirds(similar)
    means[:, range(size), range(size)] = -1
    parts = np.tile(np.arange(size), (num_groups, 1))
    every = np.arange(num_groups)
    for _ in range(size - 1):
        nearest = means.reshape(num_groups, size**2).argmax(axis=1)
        ends = pairs_of_keys(nearest, size)
        first, second = ends.T
        best = means[every, first, second]
        yield ends, best
        is_first = parts == first[:, np.newaxis]
        is_second = parts == second[:, np.newaxis]
        is_joined = is_first[:, :, np.newaxis] & is_second[:, np.newaxis]
        is_joined |= is_joined.swapaxes(1, 2)
        np.copyto(similar, best[:, np.newaxis, np.newaxis], where=is_joined)
        sizes = paired(is_first.sum(axis=1), is_second.sum(axis=1))
        shares = sizes / sizes.sum(axis=1, keepdims=True)
        of_first = means[every, first]
        of_second = means[every, second]
        joined = shares[:, :1] * of_first + shares[:, 1:] * of_second
        # Parts that are gone, and a part and itself, are not joined.
        joined[(of_first < 0) | (of_second < 0)] = -1
        means[every, first] = means[every, :, first] = joined
        means[every, second] = means[every, :, second] = -1
        parts[is_second] = np.repeat(first, sizes[:, 1])


def _join_one(similar: Array) -> Iterator[tuple[Ids, Array]]:
    """Joins the rows of one connected group, as `_join_many` does."""
    [matrix] = similar
    tree = joined_by_means(1 - with_thirds(matrix))
    matrix[:] = 1 - distance.squareform(hierarchy.cophenet(tree))
    merged = tree[:, :2].astype(np.int64)
    first_rows = list(range(len(matrix)))
    for left, _ in merged.tolist():
        first_rows.append(first_rows[left])
    ends = np.array(first_rows)[merged]
    yield from zip(ends[:, np.newaxis], 1 - tree[:, 2:3], strict=True)


def joined_by_means(distances: Array) -> Array:
    """Returns the tree of average linkage as SciPy does; the diagonal does not count."""
    return hierarchy.linkage(distance.squareform(distances, checks=False), "average")


def with_thirds(matrix: Array) -> Array:
    """Raises the scores of rows that both match a third row to half of the product.

    So a row joins a group by one sure pair, and two groups are joined only by several. Rows of very
    large groups stay as they are.

    Args:
        matrix: Symmetric, `(..., num_rows, num_rows)`.
    """
    raised = matrix.copy()
    if matrix.shape[-1] > _MAX_WITH_THIRDS:
        return raised
    for row in np.moveaxis(matrix, -2, 0):
        products = row[..., np.newaxis] * row[..., np.newaxis, :]
        np.maximum(raised, _THIRD * products, out=raised)
    return raised


def _places(numbers: Ids) -> Ids:
    """Returns the place of each row among the rows of its group, `(num_rows,)`."""
    order = stable_order(numbers)
    places = np.empty(len(numbers), np.int64)
    places[order] = ranks(numbers[order])
    return places


def group_numbers(
    kind: str,
    linkage: Linkage,
    pairs: Ids,
    scores: NDArray[np.floating],
    threshold: float,
) -> Ids:
    """Returns the number of the group of each row, `(num_rows,)`.

    Args:
        kind: `average` or `components`.
        linkage: Average linkage of the rows.
        pairs: Pairs of rows, `(num_pairs, 2)`.
        scores: Their scores, `(num_pairs,)`.
        threshold: Minimum mean score between two parts of a group, or minimum score of a pair.
    """
    if kind == "average":
        pairs = linkage.merges
        scores = linkage.means
    return components(linkage.num_rows, pairs[scores >= threshold])
