"""Groups of rows from pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tf_charagram.search._pairs import average_linkage as linkages
from tf_charagram.search._pairs import connected
from tf_charagram.search._pairs.average_linkage import average_linkage, group_numbers
from tf_charagram.search._pairs.connected import components, inner_pairs, with_inner_pairs
from tf_charagram.search._pairs.grouping import degrees_of, kept_rows, make_groups, weak_links

PAIRS = np.array([[0, 1], [1, 2], [2, 3], [5, 6]])
ONES = np.ones(8, np.int64)


def test_groups():
    assert components(8, PAIRS).tolist() == [0, 0, 0, 0, 1, 2, 2, 3]
    inner = set(map(tuple, inner_pairs(components(8, PAIRS), 100).tolist()))
    assert inner == {*combinations(range(4), 2), (5, 6)}
    assert inner_pairs(components(8, PAIRS), 1).tolist() == [[5, 6]]


def test_degrees():
    sizes = ONES.copy()
    sizes[3] = 5
    assert degrees_of(PAIRS, sizes).tolist() == [2, 3, 7, 6, 1, 2, 2, 1]


def test_average_linkage_by_hand():
    """Rows 0 and 1 are joined at 0.9, then with row 2 at (0.8 + 0.4) / 2.

    Row 3 matches row 2, so with row 0 it has 0.8 * 0.6 / 2, and with row 1 0.4 * 0.6 / 2. It is
    joined at (0.6 + 0.24 + 0.12) / 3.
    """
    pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    scores = np.array([0.9, 0.8, 0.4, 0.6])
    linkage = average_linkage(5, pairs, scores, 0.3)
    np.testing.assert_allclose(linkage.means, [0.9, 0.6, 0.32])
    np.testing.assert_allclose(linkage.joined, [0.9, 0.6, 0.6, 0.32])
    for threshold, expected in ((0.5, [0, 0, 0, 1, 2]), (0.7, [0, 0, 1, 2, 3])):
        found = group_numbers("average", linkage, pairs, scores, threshold)
        assert found.tolist() == expected
        chained = group_numbers("components", linkage, pairs, scores, threshold)
        assert chained.tolist() == components(5, pairs[scores >= threshold]).tolist()


def test_one_sure_pair_joins_a_row_and_not_two_groups():
    pairs = np.array([[0, 1], [1, 2], [3, 4], [2, 3], [5, 6]])
    scores = np.array([0.99, 0.98, 0.99, 0.9, 0.99])
    linkage = average_linkage(7, pairs, scores, 0.5)
    found = group_numbers("average", linkage, pairs, scores, 0.5)
    assert found.tolist() == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("seed", range(5))
def test_average_linkage_by_loops(seed):
    draw = np.random.default_rng(seed)
    num_rows = 30
    pairs = np.array([pair for pair in combinations(range(num_rows), 2) if draw.random() < 0.2])
    scores = draw.random(len(pairs))
    linkage = average_linkage(num_rows, pairs, scores, 0.4)
    matrix = np.zeros((num_rows, num_rows))
    matrix[tuple(pairs.T)] = scores
    matrix += matrix.T
    thirds = [[max(matrix[i] * matrix[j]) / 2 for j in range(num_rows)] for i in range(num_rows)]
    matrix = np.maximum(matrix, thirds)
    for threshold in (0.4, 0.6, 0.8):
        groups = [[row] for row in range(num_rows)]
        while True:
            mean, one, other = max(
                (matrix[np.ix_(groups[i], groups[j])].mean(), i, j)
                for i, j in combinations(range(len(groups)), 2)
            )
            if mean < threshold:
                break
            groups[one] += groups.pop(other)
        found = group_numbers("average", linkage, pairs, scores, threshold)
        assert sorted(map(sorted, groups)) == sorted(
            np.flatnonzero(found == number).tolist() for number in range(found.max() + 1)
        )


def test_large_groups_are_cut_at_weak_pairs(monkeypatch):
    for module in (connected, linkages):
        monkeypatch.setattr(module, "MAX_CONNECTED", 4)
    # Two groups of four rows, and a weak pair between them; six rows that are all equal.
    pairs = [*combinations(range(4), 2), *combinations(range(4, 8), 2), (3, 4)]
    pairs += combinations(range(8, 14), 2)
    scores = np.full(len(pairs), 0.9)
    scores[12] = 0.6
    linkage = average_linkage(14, np.array(pairs), scores, 0.5)
    found = group_numbers("average", linkage, np.array(pairs), scores, 0.5)
    assert found.tolist() == [0] * 4 + [1] * 4 + [2] * 6


def test_pairs_inside_of_groups_are_added():
    scores = np.array([0.9, 0.8, 0.4, 0.7])
    pairs, all_scores = with_inner_pairs(8, PAIRS, scores, 0.5, lambda added: added[:, 1] / 10)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3], [5, 6]]
    assert all_scores.tolist() == [0.9, 0.2, 0.8, 0.4, 0.7]


def test_the_first_row_is_kept():
    numbers = components(8, PAIRS)
    degrees = degrees_of(PAIRS, ONES)
    groups = make_groups(numbers, degrees, lambda pairs: pairs.sum(axis=1) / 10)
    assert groups == [([1, 0, 2, 3], [1, 0.1, 0.3, 0.4]), ([5, 6], [1, 1.1])]
    assert kept_rows(groups, 8) == [1, 4, 5, 7]


def test_weak_links():
    scores = np.array([0.95, 0.6, 0.95, 0.6])
    [link] = weak_links(PAIRS, scores, ONES, 0.9)
    assert link == (1, 2, 0.6, 4)
    # Two weak pairs hold the group together.
    pairs = np.concatenate([PAIRS, [[0, 3]]])
    assert not weak_links(pairs, np.append(scores, 0.6), ONES, 0.9)
    # Each side of a pair has several rows.
    sizes = ONES * 3
    assert weak_links(PAIRS, scores, sizes, 0.9) == [(1, 2, 0.6, 12), (5, 6, 0.6, 6)]
