"""Makes groups of rows from pairs that match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.sparse import csgraph
from scipy.spatial import distance

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.search._pairs.flat_arrays import ranks
from tf_charagram.text._algorithm.flat import Rows

#: How pairs make groups.
GROUPS = ("average", "components")
# Pairs inside of groups that are looked at in addition to the candidates.
_MAX_INNER = 20_000_000
#: All pairs of a group of so many rows take 64 MB. Larger groups are cut before they are joined.
MAX_CONNECTED = 4_000
# Weight of a third row.
_THIRD = 0.5
# Rows of groups that are joined many at a time.
_MAX_SMALL = 12
#: Rows of a group up to which third rows are looked for.
MAX_WITH_THIRDS = 200


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


def group_numbers(
    kind: str,
    linkage: Linkage,
    pairs: NDArray[np.int64],
    scores: NDArray[np.floating],
    threshold: float,
) -> NDArray[np.int64]:
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
    merges: NDArray[np.int64]
    means: NDArray[np.float64]
    joined: NDArray[np.float64]


def average_linkage(
    num_rows: int,
    pairs: NDArray[np.int64],
    scores: NDArray[np.floating],
    threshold: float,
) -> Linkage:
    """Joins rows by the mean score between groups.

    Args:
        num_rows: Number of rows.
        pairs: Pairs of rows, `(num_pairs, 2)`, each once.
        scores: Their scores, in [0, 1].
        threshold: Rows are joined only if a chain of pairs above it connects them.
    """
    numbers = bounded_components(num_rows, pairs, scores, threshold)
    sizes = np.bincount(numbers, minlength=1)
    number_of_pair = numbers[pairs[:, 0]]
    size_of_pair = sizes[number_of_pair]
    is_inside = number_of_pair == numbers[pairs[:, 1]]
    # Groups of two rows; and large ones whose pairs are all equal, or they would have been cut.
    is_simple = is_inside & ((size_of_pair == 2) | (size_of_pair > MAX_CONNECTED))
    merges = [pairs[is_simple]]
    means = [scores[is_simple].astype(np.float64)]
    joined = np.where(is_simple, scores, 0.0)
    places = _places(numbers)
    for size in range(3, _MAX_SMALL + 1):
        own = np.flatnonzero(is_inside & ~is_simple & (size_of_pair == size))
        own_numbers, groups = np.unique(number_of_pair[own], return_inverse=True)
        left, right = places[pairs[own]].T
        similar = np.zeros((len(own_numbers), size, size))
        similar[groups, left, right] = similar[groups, right, left] = scores[own]
        group_rows = np.empty((len(own_numbers), size), np.int64)
        group_rows[groups[:, np.newaxis], places[pairs[own]]] = pairs[own]
        for ends, steps in _join_small(similar):
            merges.append(np.take_along_axis(group_rows, ends, axis=1))
            means.append(steps)
        joined[own] = similar[groups, left, right]
    rest = np.flatnonzero(is_inside & (size_of_pair > _MAX_SMALL) & ~is_simple)
    rest = rest[np.argsort(number_of_pair[rest], kind="stable")]
    for own in np.split(rest, np.flatnonzero(np.diff(number_of_pair[rest])) + 1):
        if len(own):
            tree, joined[own] = _tree_of(places[pairs[own]], scores[own])
            rows = np.empty(len(tree) + 1, np.int64)
            rows[places[pairs[own]]] = pairs[own]
            merges.append(rows[_first_members(tree)])
            means.append(1 - tree[:, 2])
    return Linkage(num_rows, np.concatenate(merges), np.concatenate(means), joined)


def _join_small(
    similar: NDArray[np.float64],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
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
        ends = np.stack(np.divmod(means.reshape(num_groups, size**2).argmax(axis=1), size), axis=1)
        first, second = ends.T
        best = means[every, first, second]
        yield ends, best
        is_first = parts == first[:, np.newaxis]
        is_second = parts == second[:, np.newaxis]
        is_joined = is_first[:, :, np.newaxis] & is_second[:, np.newaxis]
        is_joined |= is_joined.swapaxes(1, 2)
        np.copyto(similar, best[:, np.newaxis, np.newaxis], where=is_joined)
        sizes = np.stack([is_first.sum(axis=1), is_second.sum(axis=1)])
        shares = sizes / sizes.sum(axis=0)
        joined = shares[0, :, np.newaxis] * means[every, first]
        joined += shares[1, :, np.newaxis] * means[every, second]
        # Parts that are gone, and a part and itself, are not joined.
        joined[means[every, first] < 0] = -1
        joined[means[every, second] < 0] = -1
        means[every, first] = means[every, :, first] = joined
        means[every, second] = means[every, :, second] = -1
        parts[is_second] = np.repeat(first, sizes[1])


def _tree_of(
    pairs: NDArray[np.int64], scores: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Joins the rows of one connected group.

    Returns:
        The merges as SciPy's `linkage` returns them, and the mean at which the rows of each pair
        are joined.
    """
    num_rows = int(pairs.max()) + 1
    left, right = pairs.T
    matrix = np.zeros((num_rows, num_rows))
    matrix[left, right] = matrix[right, left] = scores
    if num_rows <= MAX_WITH_THIRDS:
        matrix = with_thirds(matrix)
    np.fill_diagonal(matrix, 1)
    tree = hierarchy.linkage(distance.squareform(1 - matrix, checks=False), "average")
    joined = 1 - distance.squareform(hierarchy.cophenet(tree))
    return tree, joined[left, right]


def with_thirds(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Raises the scores of rows that both match a third row to half of the product.

    So a row joins a group by one sure pair, and two groups are joined only by several.

    Args:
        matrix: Symmetric, `(..., num_rows, num_rows)`.
    """
    raised = matrix.copy()
    for row in np.moveaxis(matrix, -2, 0):
        products = row[..., np.newaxis] * row[..., np.newaxis, :]
        np.maximum(raised, _THIRD * products, out=raised)
    return raised


def _first_members(tree: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns a row of each of the two groups of each merge, `(num_merges, 2)`."""
    groups = tree[:, :2].astype(np.int64)
    first_rows = list(range(len(tree) + 1))
    for left, _ in groups.tolist():
        first_rows.append(first_rows[left])
    return np.array(first_rows)[groups]


def _places(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the place of each row among the rows of its group, `(num_rows,)`."""
    order = np.argsort(numbers, kind="stable")
    places = np.empty(len(numbers), np.int64)
    places[order] = ranks(numbers[order])
    return places


def bounded_components(
    num_rows: int, pairs: NDArray[np.int64], scores: NDArray[np.floating], threshold: float
) -> NDArray[np.int64]:
    """Returns the numbers of connected rows; large groups are cut at their weakest pairs."""
    is_kept = scores >= threshold
    while True:
        numbers = components(num_rows, pairs[is_kept])
        sizes = np.bincount(numbers, minlength=1)
        number_of_pair = numbers[pairs[:, 0]]
        is_cut = np.zeros(len(pairs), bool)
        for number in np.flatnonzero(sizes > MAX_CONNECTED).tolist():
            own = np.flatnonzero(is_kept & (number_of_pair == number))
            weakest = scores[own].min()
            # The stronger half stays, or all pairs but the weakest if most are equal.
            limit = max(np.median(scores[own]), np.nextafter(weakest, np.inf))
            if weakest < scores[own].max():
                is_cut[own] = scores[own] < limit
        if not is_cut.any():
            return numbers
        is_kept &= ~is_cut


def with_inner_pairs(
    num_rows: int,
    pairs: NDArray[np.int64],
    scores: NDArray[np.floating],
    threshold: float,
    scores_of: Callable[[NDArray[np.int64]], NDArray[np.floating]],
) -> tuple[NDArray[np.int64], NDArray[np.floating]]:
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
    order = np.argsort(all_pairs[:, 0] * num_rows + all_pairs[:, 1])
    all_scores = np.append(scores, scores_of(added))
    return all_pairs[order], all_scores[order]


def missing_pairs(
    num_rows: int,
    pairs: NDArray[np.int64],
    scores: NDArray[np.floating],
    threshold: float,
) -> NDArray[np.int64]:
    """Returns the other pairs of rows that a chain of pairs connects, `(num_missing, 2)`.

    Args:
        num_rows: Number of rows.
        pairs: Pairs of rows, `(num_pairs, 2)`, the smaller row of each first.
        scores: Their scores.
        threshold: Minimum score of the pairs of a chain.
    """
    groups = bounded_components(num_rows, pairs, scores, threshold)
    inner = inner_pairs(groups, _MAX_INNER)
    known = pairs[:, 0] * num_rows + pairs[:, 1]
    keys = inner[:, 0] * num_rows + inner[:, 1]
    keys = keys[~np.isin(keys, known, assume_unique=True)]
    return np.stack(np.divmod(keys, max(num_rows, 1)), axis=1)


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
    rows, splits = members(numbers)
    if not len(rows):
        return []
    sizes = np.diff(splits)
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    # Of equal degrees, the first row; the sort is stable.
    by_degree = np.lexsort((-degrees[rows], group_of))
    firsts = rows[by_degree[splits[:-1]]]
    is_other = rows != firsts[group_of]
    others = rows[is_other]
    scores = scores_of(np.sort(np.stack([firsts[group_of[is_other]], others], axis=1), axis=1))
    other_rows = others.tolist()
    other_scores = scores.tolist()
    starts = (splits - np.arange(len(splits))).tolist()
    found = []
    for group in np.argsort(rows[splits[:-1]]).tolist():
        own = slice(starts[group], starts[group + 1])
        group_rows = [int(firsts[group]), *other_rows[own]]
        found.append(Group(group_rows, [1.0, *other_scores[own]]))
    return found


def kept_rows(groups: Iterable[Group], num_rows: int) -> list[int]:
    """Returns the rows that are left if each group keeps its first row, ascending."""
    dropped = {row for group in groups for row in group.rows[1:]}
    return [row for row in range(num_rows) if row not in dropped]


def members(groups: NDArray[np.int64]) -> Rows:
    """Returns the rows of each group of at least two rows, ascending."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    order = order[sizes[groups[order]] > 1]
    return Rows(order, np.append(0, np.cumsum(sizes[sizes > 1])))


def inner_pairs(groups: NDArray[np.int64], max_pairs: int) -> NDArray[np.int64]:
    """Returns all pairs of rows of the same group, `(num_pairs, 2)`, small groups first.

    Args:
        groups: The number of the group of each row.
        max_pairs: Groups are left out from the one on that goes beyond so many pairs.
    """
    rows, splits = members(groups)
    sizes = np.diff(splits)
    order = np.argsort(sizes, kind="stable")
    num_pairs = sizes[order] * (sizes[order] - 1) // 2
    order = order[np.cumsum(num_pairs) <= max_pairs]
    found = [np.zeros((0, 2), np.int64)]
    for size in np.unique(sizes[order]).tolist():
        starts = splits[order[sizes[order] == size]]
        own = rows[starts[:, np.newaxis] + np.arange(size)]
        left, right = np.triu_indices(size, 1)
        found.append(np.stack([own[:, left].ravel(), own[:, right].ravel()], axis=1))
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
