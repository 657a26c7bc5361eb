"""Annotated-PPDB in both of its forms."""

from __future__ import annotations

import numpy as np
import pytest

from research.readers.annotated_ppdb import find_annotated_ppdb, read_annotated_ppdb
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.errors import DataError

BARS = "can not be ||| is unable to be ||| 4.6\nhard | soft ||| b ||| 1\n"
TABS = "can not be\tis unable to be\t4.6\nhard | soft\tb\t1\n"


@pytest.mark.parametrize("content", [BARS, TABS], ids=["bars", "tabs"])
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("annotated-ppdb-test", "annotated-ppdb.test"),
        ("anno_ppdb.dev.txt", "annotated-ppdb.dev"),
        ("Annotated-PPDB.txt", "annotated-ppdb"),
    ],
)
def test_by_name(tmp_path, content, file, name):
    (tmp_path / file).write_text(content)
    assert find_annotated_ppdb(tmp_path) == {name: tmp_path / file}
    (pairs,) = evaluation_sets(tmp_path)
    assert (pairs.name, pairs.metric, pairs.scale) == (name, "spearman", (1, 5))
    assert (pairs.left, pairs.right) == (["can not be", "hard | soft"], ["is unable to be", "b"])
    np.testing.assert_array_equal(pairs.scores, [4.6, 1])


def test_by_first_line(tmp_path):
    (tmp_path / "mine.txt").write_text(BARS)
    (pairs,) = evaluation_sets(tmp_path / "mine.txt")
    assert (pairs.name, len(pairs)) == ("mine", 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a ||| b ||| 0\n", r":1: expected a score from 1 to 5, found '0'"),
        ("a ||| b\n", ":1: expected a finite number as score, found 'none'"),
        ("a ||| ||| 2\n", ":1: expected two texts, but one is empty"),
        ("a ||| b ||| 2\n", "expected at least 2 rows with a score, found 1"),
        ("", "expected at least 2 rows with a score, found 0"),
    ],
)
def test_errors(tmp_path, content, message):
    (tmp_path / "annotated-ppdb").write_text(content)
    with pytest.raises(DataError, match=message):
        read_annotated_ppdb(tmp_path / "annotated-ppdb")
