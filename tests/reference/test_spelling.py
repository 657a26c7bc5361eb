"""Checks edit distance and recall against hand-worked numbers."""

import pytest

from . import spelling


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "ab", 2),
        ("ab", "ba", 1),
        ("ab", "ab", 0),
        ("kitten", "sitting", 3),  # k -> s, e -> i, + g
        ("abcd", "badc", 2),
        ("ca", "abc", 3),  # Swapped letters are not edited again.
    ],
)
def test_osa_distance_by_hand(left, right, expected):
    assert spelling.osa_distance(left, right) == expected
    assert spelling.osa_distance(right, left) == expected


def test_rank_by_hand():
    """By score the words are 1, 2, 0, 3."""
    scores = [0.5, 0.9, 0.9, 0.1]
    assert [spelling.rank(scores, {word}, -1) for word in range(4)] == [2, 0, 1, 3]
    assert spelling.rank(scores, {3, 0}, -1) == 2
    assert spelling.rank(scores, {2}, own=1) == 0


def test_recall_by_hand():
    """1 and 2 of 4 answers come early enough."""
    assert spelling.recall([0, 1, 5, 9], 1) == 25
    assert spelling.recall([0, 1, 5, 9], 5) == 50
