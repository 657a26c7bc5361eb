"""Groups of rows that are the same thing, and pairs to which each row belongs once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.search._pairs.connected import components, members
from tf_charagram.search._pairs.flat_arrays import Ids, lengths_of, list_numbers, paired

#: How pairs make groups.
GROUPS = ("average", "components")


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


def chosen_one_to_one(pairs: Ids, scores: NDArray[np.floating]) -> NDArray[np.intp]:
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


def degrees_of(pairs: Ids, sizes: Ids) -> Ids:
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


def make_groups(
    numbers: Ids, degrees: Ids, scores_of: Callable[[Ids], NDArray[np.floating]]
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
    group_of = list_numbers(lengths_of(splits))
    # Of equal degrees, the first row; the sort is stable.
    by_degree = rows[np.lexsort((-degrees[rows], group_of))]
    firsts = by_degree[splits[:-1]][group_of]
    is_other = rows != firsts
    pairs = paired(firsts, rows)[is_other]
    scores = np.ones(len(rows))
    scores[is_other] = scores_of(np.sort(pairs, axis=1))
    # The first row, then the others in order.
    order = np.lexsort((is_other, group_of))
    ordered_rows = rows[order].tolist()
    ordered_scores = scores[order].tolist()
    found = []
    for start, stop in pairwise(splits.tolist()):
        found.append(Group(ordered_rows[start:stop], ordered_scores[start:stop]))
    return sorted(found, key=lambda group: min(group.rows))


def kept_rows(groups: Iterable[Group], num_rows: int) -> list[int]:
    """Returns the rows that are left if each group keeps its first row, ascending."""
    dropped = {row for group in groups for row in group.rows[1:]}
    return [row for row in range(num_rows) if row not in dropped]


def weak_links(
    pairs: Ids, scores: NDArray[np.floating], sizes: Ids, below: float
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
    left_parts, right_parts = distinct_ends.T
    is_link = (counts == 1) & (left_parts != right_parts)
    is_link &= part_sizes[distinct_ends].min(axis=1) > 1
    found = []
    for pair in weak[first[is_link]].tolist():
        left, right = pairs[pair].tolist()
        size = int(group_sizes[groups[left]])
        found.append(WeakLink(left, right, float(scores[pair]), size))
    return sorted(found, key=lambda link: (-link.size, link.probability))
