"""Numbers of groups that stay as items are added: an item is a row, or all rows of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial import distance

from tf_charagram.search._pairs.average_linkage import joined_by_means, with_thirds
from tf_charagram.search._pairs.connected import MAX_CONNECTED, bounded_components, components
from tf_charagram.search._pairs.flat_arrays import NO_PAIRS, Array, Ids, paired, split_by

# Items of an old group that new items are compared with.
_MAX_MEMBERS = 50
# A distance beyond all means.
_NEVER = 1e6


class NewLinks(NamedTuple):
    """Pairs of new items and others.

    Attributes:
        pairs: Pairs of items, `(num_pairs, 2)`.
        scores: Their scores, `(num_pairs,)`.
        scores_of: Returns the scores of other pairs.
    """

    pairs: Ids
    scores: NDArray[np.floating]
    scores_of: Callable[[Ids], NDArray[np.floating]]


def join_new(
    groups: Ids, added: Ids, links: NewLinks, threshold: float, next_id: int, *, merge: bool
) -> list[tuple[int, ...]]:
    """Gives each new item the number of a group, in place.

    Args:
        groups: The group of each item, -1 for new items, which come last.
        added: Items of the added rows, of which some may be old.
        links: Their pairs with all items.
        threshold: Minimum mean score between two clusters.
        next_id: Number of the next group that is opened.
        merge: Whether old groups become one if new items connect them.

    Returns:
        The old groups that new items connect, each in ascending order.
    """
    is_kept = links.scores >= threshold
    pairs = links.pairs[is_kept]
    parts = _parts(groups, added, pairs, links.scores[is_kept], threshold)
    merges: list[tuple[int, ...]] = []
    opened = []
    for items, similar in _compared(parts, links.scores_of):
        olds = groups[items]
        clusters = _clusters(similar, olds, threshold, may_merge=True)
        connected = [ids for ids in _old_groups(clusters, olds) if len(ids) > 1]
        merges += [tuple(ids.tolist()) for ids in connected]
        if connected and not merge:
            clusters = _clusters(similar, olds, threshold, may_merge=False)
        for cluster, ids in zip(clusters, _old_groups(clusters, olds), strict=True):
            new = items[cluster[olds[cluster] < 0]]
            if not len(ids):
                opened.append(new)
                continue
            groups[new] = ids[0]
            if merge and len(ids) > 1:
                groups[np.isin(groups, ids)] = ids[0]
    # In the order of the rows.
    opened.sort(key=lambda items: items[0])
    for number, new in enumerate(opened, start=next_id):
        groups[new] = number
    return sorted(merges)


def as_one(groups: Ids, connected: Sequence[Sequence[int]], next_id: int) -> Ids:
    """Makes one group of connected groups; the smallest number stays.

    Args:
        groups: The group of each item.
        connected: Numbers of groups that rows connect, each in ascending order.
        next_id: A larger number than all groups have.
    """
    pairs = [(ids[0], other) for ids in connected for other in ids[1:]]
    numbers = components(next_id, np.array(pairs, np.int64).reshape(-1, 2))
    _, smallest = np.unique(numbers, return_index=True)
    return smallest[numbers][groups]


def _parts(
    groups: Ids, added: Ids, pairs: Ids, scores: NDArray[np.floating], threshold: float
) -> list[Ids]:
    """Returns the items of each part that pairs connect, if it has an added item."""
    is_old = groups >= 0
    _, firsts, numbers = np.unique(groups[is_old], return_index=True, return_inverse=True)
    node_of = np.arange(len(groups))
    # New items come last, so the first items of old groups keep their places.
    node_of[is_old] = firsts[numbers]
    part_of_node = bounded_components(len(groups), node_of[pairs], scores, threshold)
    part_of = part_of_node[node_of]
    # An old group alone stays as it is.
    is_alone = np.bincount(part_of_node[np.unique(node_of)], minlength=len(groups)) == 1
    is_open = np.isin(part_of, part_of[added]) & ~(is_old & is_alone[part_of])
    chosen = np.flatnonzero(is_open)
    return [_sampled(items, groups) for items in split_by(part_of, chosen)] if len(chosen) else []


def _sampled(items: Ids, groups: Ids) -> Ids:
    """Leaves out items of large old groups: some represent the others."""
    if len(items) <= _MAX_MEMBERS:
        return items
    own = groups[items]
    kept = [items[own < 0]]
    olds = np.unique(own[own >= 0])
    share = MAX_CONNECTED // max(len(olds), 1)
    max_members = int(np.clip(share, 1, _MAX_MEMBERS))
    for old in olds:
        all_members = items[own == old]
        num_kept = min(len(all_members), max_members)
        places = np.linspace(0, len(all_members) - 1, num_kept)
        kept.append(all_members[places.astype(np.int64)])
    return np.sort(np.concatenate(kept))


def _compared(
    parts: Sequence[Ids], scores_of: Callable[[Ids], NDArray[np.floating]]
) -> Iterator[tuple[Ids, Array]]:
    """Yields the items of each part and their scores, `(num_items, num_items)`.

    All of a very large part are alike, or it would have been cut: its matrix is `(1, 1)`.
    """
    all_pairs = [NO_PAIRS]
    for items in parts:
        if len(items) <= MAX_CONNECTED:
            left, right = np.triu_indices(len(items), 1)
            all_pairs.append(paired(items[left], items[right]))
        else:
            all_pairs.append(NO_PAIRS)
    stops = np.cumsum([len(pairs) for pairs in all_pairs])
    scores = scores_of(np.concatenate(all_pairs)).astype(np.float64)
    _, *scores_of_parts = np.split(scores, stops[:-1])
    for items, own in zip(parts, scores_of_parts, strict=True):
        yield items, with_thirds(distance.squareform(own))


def _old_groups(clusters: Sequence[Ids], olds: Ids) -> list[Ids]:
    """Returns the old groups in each cluster, ascending."""
    every = [np.unique(olds[cluster]) for cluster in clusters]
    return [ids[ids >= 0] for ids in every]


def _clusters(similar: Array, olds: Ids, threshold: float, *, may_merge: bool) -> list[Ids]:
    """Makes clusters by average linkage that keeps the items of old groups together.

    Args:
        similar: Similarities, `(num_items, num_items)`.
        olds: The old group of each item, -1 for new items.
        threshold: Minimum mean similarity between two clusters.
        may_merge: Whether two old groups may be in the same cluster.

    Returns:
        The places of the items of each cluster.
    """
    if len(similar) == 1:
        return [np.arange(len(olds))]
    # From 1 to 2, so that items of the same old group are joined before all others.
    distances = 2 - similar
    is_old = olds >= 0
    are_old = is_old[:, np.newaxis] & is_old
    if not may_merge:
        distances[are_old] = _NEVER
    distances[are_old & (olds[:, np.newaxis] == olds)] = 0
    numbers = hierarchy.fcluster(joined_by_means(distances), 2 - threshold, "distance")
    return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
