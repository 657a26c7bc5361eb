"""Batches of texts in one vector."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.reader.flat import Batch, Runs, collapse, decode, positions, replaced, rows_of
from tf_charagram.text.code_points import SPACE


def texts_of(batch):
    chars = "".join(map(chr, batch.symbols.tolist()))
    places = zip(batch.starts.tolist(), batch.ends.tolist(), strict=True)
    return [chars[start + 1 : end] for start, end in places]


@pytest.mark.parametrize(
    ("texts", "max_chars", "expected"),
    [
        ([], None, []),
        (["", "a", "  b  c "], None, ["", "a", "b  c".replace("  ", " ")]),
        (["abcdef", " ab cd", ""], 3, ["abc", "ab", ""]),
        ([b"caf\xe9", "a\ud800"], None, ["caf\ufffd", "a\ufffd\ufffd\ufffd"]),
    ],
)
def test_decoded_and_collapsed(texts, max_chars, expected):
    codes, boundaries = decode(texts, None)
    assert (codes[boundaries] == SPACE).all() and len(boundaries) == len(texts) + 1
    assert texts_of(collapse(codes, boundaries, SPACE, max_chars)) == expected


def test_replaced_parts():
    codes, boundaries = decode(["one two", "three"], None)
    batch = Batch(codes, boundaries[:-1], boundaries[1:])
    others = Runs(np.array([*map(ord, "1drei")]), np.array([0, 1, 5]))
    changed = replaced(batch, np.array([1, 9]), np.array([4, 14]), others)
    assert texts_of(changed) == ["1 two", "drei"]
    none = Runs(np.zeros(0, np.int64), np.zeros(1, np.int64))
    unchanged = replaced(batch, np.zeros(0, np.int64), np.zeros(0, np.int64), none)
    assert texts_of(unchanged) == ["one two", "three"]


def test_rows():
    runs = Runs(np.arange(6), np.array([0, 2, 2, 6]))
    chosen = rows_of(runs, np.array([2, 1, 0, 2]))
    assert_array_equal(chosen.values, [2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
    assert_array_equal(chosen.splits, [0, 4, 4, 6, 10])
    assert_array_equal(positions(np.array([5, 1]), np.array([7, 1])), [5, 6])
