"""Word vectors in text form: all variants, and bad files."""

from __future__ import annotations

import gzip
import logging
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.words import (
    load_word_vectors,
    scan_word_vectors,
    word_vectors_dim,
)
from tf_charagram.errors import ConfigError, DataError


def write(folder, *lines, name="vectors.txt"):
    path = folder / name
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def read(path, **options):
    scanned = scan_word_vectors(path, **options)
    return [(word, None if vector is None else vector.tolist()) for word, _, vector in scanned]


@pytest.mark.parametrize(
    "lines",
    [
        ("cat 1 -2.5", "dog 0 3e-1"),
        ("2 2", "cat 1 -2.5", "dog 0 3e-1"),
        ("2 2 ", "cat 1 -2.5 ", "dog 0 3e-1 "),
        ("cat\t1\t-2.5", "", "dog  0  3e-1\r"),
        ("\ufeff2\t2", "cat 1 -2.5", "dog 0 3e-1"),
    ],
)
def test_variants(lines, tmp_path):
    expected = [("cat", [1, -2.5]), ("dog", [0, np.float32(0.3)])]
    path = write(tmp_path, *lines)
    assert read(path) == expected
    packed = tmp_path / "vectors.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == expected


def test_unusual_words(tmp_path):
    lines = ["new york 1 2", ". . . 3 4", "7 5 6", "1\u00a01/2 7 8", "\u2028 9 10", "e5 11 12"]
    words = ["new york", ". . .", "7", "1\u00a01/2", "\u2028", "e5"]
    for header in ([], ["6 2"], ["", "6 2"]):
        assert [word for word, _ in read(write(tmp_path, *header, *lines))] == words
    assert read(write(tmp_path, "1 2 3")) == [("1", [2, 3])]
    assert read(write(tmp_path, "2 1", "a 5", "b 6")) == [("a", [5]), ("b", [6])]


def test_load(tmp_path):
    """The first of two vectors of a word counts; a word without one has zeros."""
    path = write(tmp_path, "3 2", "cat 1 2", "dog 3 4", "cat 5 6")
    matrix, found = load_word_vectors(path, ["zebra", "dog", "cat"])
    assert matrix.dtype == np.float32
    assert_array_equal(matrix, [[0, 0], [3, 4], [1, 2]])
    assert_array_equal(found, [False, True, True])
    matrix, found = load_word_vectors(path, ["zebra"])
    assert matrix.shape == (1, 2) and not found.any()


def test_only_wanted_words_are_parsed(tmp_path):
    path = write(tmp_path, "cat 1 2", "dog 3 x4")
    assert read(path, words={"cat"}) == [("cat", [1, 2]), ("dog", None)]
    with pytest.raises(DataError, match=re.escape(f"{path}:2: expected finite numbers")):
        read(path, words={"dog"})


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        (["cat 1 2", "dog 1 2 3"], 2, "expected 2 numbers, found 3"),
        (["cat 1 2", "dog 1"], 2, "expected 2 numbers, found 1"),
        (["1 3", "cat 1 2"], 2, "expected 3 numbers, found 2"),
        (["cat 1 2", "dog"], 2, "expected 2 numbers, found 0"),
        (["cat"], 1, "expected a word and numbers, found 0"),
        (["cat 1 2", "dog nan 2"], 2, "expected finite numbers, found 'nan'"),
        (["cat 1 2", "dog 1,5 2"], 2, "expected finite numbers, found '1,5'"),
        (["cat 1 2", "dog 1e39 2"], 2, "expected finite numbers, found '1e39'"),
        (["5 0"], 1, "expected a width of at least 1, found '5 0'"),
        (["", " "], None, "expected lines of a word and its numbers, found none"),
    ],
)
def test_bad_files(lines, place, message, tmp_path):
    path = write(tmp_path, *lines)
    start = f"{path}: " if place is None else f"{path}:{place}: "
    with pytest.raises(DataError, match=re.escape(start + message)):
        load_word_vectors(path, ["cat", "dog"])


def test_bad_lines_are_counted_and_skipped(tmp_path):
    bad = BadLines("skip")
    path = write(tmp_path, "cat 1 2", "dog 1", "cow 3 4", "fox inf 1")
    assert [word for word, _ in read(path, on_bad_line=bad)] == ["cat", "cow"]
    assert bad.count == 2
    with pytest.raises(ConfigError, match=r"Unknown on_bad_line 'skp'. Did you mean 'skip'"):
        read(path, on_bad_line="skp")


def test_fewer_words_than_announced(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        read(write(tmp_path, "3 2", "cat 1 2"))
    assert "the header announces 3 words, found 1" in caplog.text


def test_dim(tmp_path):
    """The first good line gives it; numbers are not parsed."""
    for header in ((), ("3 2",)):
        assert word_vectors_dim(write(tmp_path, *header, "cat 1 -2.5", "dog nan 1")) == 2
    path = write(tmp_path, "cat", "dog 1 2 3", "cow 1")
    assert word_vectors_dim(path, on_bad_line="skip") == 3
    with pytest.raises(DataError, match=re.escape(f"{path}:1: expected a word and numbers")):
        word_vectors_dim(path)
    with pytest.raises(DataError, match="expected lines of a word and its numbers, found none"):
        word_vectors_dim(write(tmp_path))
