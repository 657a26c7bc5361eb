"""`read_twitter` and `find_twitter` on the official files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from research.readers.twitter import find_twitter, read_twitter
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import DataError


def row(left, right, label):
    return f"12\tA Trend\t{left}\t{right}\t{label}\ttags\ttags\n"


DATA = row("a b", "c", 4) + row("d", "e", 0) + row("f", "g", 2)
LABELS = "true\t0.8000\nfalse\t0.0000\n----\t0.4000\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="test.data"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("named", ["test.data", "test.label"])
def test_labels_beside(write, tmp_path, named):
    write(DATA)
    write(LABELS, "test.label")
    pairs = read_twitter(tmp_path / named)
    assert (pairs.name, pairs.metric, pairs.group) == ("Twitter", "pearson", None)
    assert (pairs.left, pairs.right) == (["a b", "d", "f"], ["c", "e", "g"])
    np.testing.assert_array_equal(pairs.scores, [0.8, 0, 0.4])


def test_digits(write):
    np.testing.assert_array_equal(read_twitter(write(DATA)).scores, [4, 0, 2])


@pytest.mark.parametrize(("split", "name"), [("train", "Twitter.train"), ("dev", "Twitter.dev")])
def test_votes(write, split, name):
    content = row("a", "b", "(3, 2)") + row("c", "d", "(0, 5)") + row("e", "f", "(4, 4)")
    pairs = read_twitter(write(content, f"{split}.data"))
    assert pairs.name == name
    np.testing.assert_array_equal(pairs.scores, [3, 0, 2.5])


def test_gzip_mark_and_line_ends(write):
    write(gzip.compress(b"\xef\xbb\xbf" + DATA.replace("\n", "\r\n").encode()), "test.data.gz")
    path = write(gzip.compress(LABELS.encode()), "test.label.gz")
    pairs = read_twitter(path)
    assert pairs.left == ["a b", "d", "f"]
    np.testing.assert_array_equal(pairs.scores, [0.8, 0, 0.4])


def test_other_names(write):
    path = write(DATA, "mine.tsv")
    assert read_twitter(path).name == "mine"
    labels = write(LABELS, "gold")
    assert read_twitter(path, labels=labels, name="x").scores[0] == 0.8


def test_pairs_without_a_label(write):
    write(LABELS.replace("false\t0.0000", ""), "test.label")
    pairs = read_twitter(write(DATA))
    assert (pairs.left, pairs.num_unscored) == (["a b", "f"], 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("a", "b", 6), "expected a score from 0 to 5, found '6'"),
        (row("a", "b", "(0, 0)"), "expected a finite number as score, found 'none'"),
        (row("a", "b", f"({'9' * 5000}, 1)"), "expected a finite number as score, found '(999"),
        ("1\tA Trend\ta\tb\n", "expected a finite number as score, found 'none'"),
        ("1\tA Trend\ta\n", "expected 2 tab-separated texts, found 1"),
        (row("", "b", 1), "expected two texts, but one is empty"),
    ],
)
def test_bad_lines(write, line, message):
    path = write(DATA + line)
    with pytest.raises(DataError, match=rf"test\.data:4: {message.replace('(', '.')}"):
        read_twitter(path)
    bad = BadLines("skip")
    assert (len(read_twitter(path, on_bad_line=bad)), bad.count) == (3, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("true\t4", r"test\.label:3: expected a score from 0 to 1, found '4'"),
        ("true", r"test\.label:3: expected a finite number as score, found 'none'"),
    ],
)
def test_bad_labels(write, line, message):
    write(LABELS.replace("----\t0.4000", line), "test.label")
    with pytest.raises(DataError, match=message):
        read_twitter(write(DATA))


def test_halves(write, tmp_path):
    write(LABELS + "true\t1\n", "test.label")
    with pytest.raises(DataError, match=r"expected test\.data beside it, which is missing"):
        read_twitter(tmp_path / "test.label")
    write(DATA)
    message = r"test\.label: expected a score for each of the 3 lines of .*test\.data, found 4"
    with pytest.raises(DataError, match=message):
        read_twitter(tmp_path / "test.data")
    with pytest.raises(DataError, match="expected at least 2 rows with a score, found 0"):
        read_twitter(write("", "dev.data"))


def test_find(write, tmp_path):
    write(DATA, "train.data")
    assert find_twitter(tmp_path) == {}
    path = write(DATA)
    (tmp_path / "aaa").mkdir()
    write("weights", "aaa/test.data")
    assert find_twitter(tmp_path) == {"Twitter": path}
    with pytest.raises(DataError, match="none: expected a folder with evaluation sets"):
        find_twitter(tmp_path / "none")
