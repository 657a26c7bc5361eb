"""Checks spelling correction against hand-worked scores and readings."""

import math

import pytest

from . import correction


@pytest.mark.parametrize(
    ("typed", "meant", "count", "expected"),
    [
        ("wrod", "word", 8, 3 + 5.0),
        ("owrd", "word", 8, 3 + 5.0 - 2.0),
        ("wod", "word", 8, 3 + 5.1),
        ("worrd", "word", 8, 3 + 3.3),  # Rather doubled than added.
        ("woord", "ward", 8, -math.inf),
        ("wosrd", "word", 8, 3 - 0.2),
        ("ward", "word", 8, 3 + 0.0),
        ("ward", "word", 10, 3.25),  # The logarithm is 3.32.
    ],
)
def test_score_by_hand(typed, meant, count, expected):
    assert correction.score(typed, meant, count) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("word", "counts", "expected"),
    [
        ("wrod", {"word": 8, "wood": 128}, {"word"}),  # 3 + 5 against 7
        ("wrod", {"word": 8, "wood": 512}, {"wood"}),  # against 9
        ("wrod", {"word": 8, "wood": 256}, {"word", "wood"}),
        ("wrod", {"word": 8, "wrod": 1}, {"wrod"}),
        ("wrod", {"other": 8}, {"wrod"}),
        ("wr0d", {"word": 8, "wrod": 8}, {"wr0d"}),
        ("teh", {"the": 8}, {"teh"}),  # Too short.
        ("\u0e01\u0e02\u0e02\u0e01", {"\u0e01\u0e02\u0e01\u0e02": 8}, {"\u0e01\u0e02\u0e02\u0e01"}),
    ],
)
def test_corrections_by_hand(word, counts, expected):
    assert correction.corrections(word, counts) == expected


def test_readings_by_hand():
    """Either of two equally probable words will do, and an unknown character is any one."""
    counts, letters = {"word": 8, "wood": 256}, set("dorw!")
    for read in ("word! wood", "wood! wood"):
        assert correction.is_reading("wrod! wood", read, counts, letters)
    for read in ("wrod! wood", "word wood", "word! word"):
        assert not correction.is_reading("wrod! wood", read, counts, letters)
    assert correction.is_reading("wrxd", "wrod", counts, letters)
    assert not correction.is_reading("wrxd", "word", counts, letters)
