"""Groups of rows from pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tf_charagram.search.grouping import (
    components,
    degrees_of,
    group_numbers,
    inner_pairs,
    kept_rows,
    make_groups,
    weak_links,
)

PAIRS = np.array([[0, 1], [1, 2], [2, 3], [5, 6]])
ONES = np.ones(8, np.int64)


def test_groups():
    assert components(8, PAIRS).tolist() == [0, 0, 0, 0, 1, 2, 2, 3]
    found = group_numbers("stars", PAIRS, ONES)
    # Row 1 has two partners, and comes before row 2.
    assert found[0] == found[1] == found[2] != found[3] and found[5] == found[6]
    inner = set(map(tuple, inner_pairs(components(8, PAIRS), 100).tolist()))
    assert inner == {*combinations(range(4), 2), (5, 6)}
    assert inner_pairs(components(8, PAIRS), 1).tolist() == [[5, 6]]


def test_large_rows_come_first():
    sizes = ONES.copy()
    sizes[3] = 5
    assert degrees_of(PAIRS, sizes).tolist() == [2, 3, 7, 6, 1, 2, 2, 1]
    found = group_numbers("stars", PAIRS, sizes)
    assert found[1] == found[2] == found[3] != found[0]


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
