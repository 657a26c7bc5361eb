"""`read_pavlick` and `find_pavlick` on both orders of columns."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from research.readers.pavlick import find_pavlick, read_pavlick
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import DataError

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "phrases"
OFFICIAL = "4.0\t[NP]\tthis thing\tthe thing\t3,5\n1.5\t[S/NP]\t[ a\tb\t1,2\n"
PHRASES_FIRST = "4.0\tthis thing\tthe thing\t[NP]\t3,5\n1.5\t[ a\tb\t[S/NP]\t1,2\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="ppdb-sample.tsv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("content", [OFFICIAL, PHRASES_FIRST])
@pytest.mark.parametrize("is_packed", [False, True])
def test_read(write, content, is_packed):
    raw = f"\ufeff{content}\n".replace("\n", "\r\n").encode()
    pairs = read_pavlick(write(gzip.compress(raw) if is_packed else raw))
    assert (pairs.name, pairs.metric, pairs.group) == ("pavlick", "spearman", None)
    assert (pairs.left, pairs.right) == (["this thing", "[ a"], ["the thing", "b"])
    np.testing.assert_array_equal(pairs.scores, [4, 1.5])


def test_names(write):
    assert read_pavlick(write(OFFICIAL, "wiki-sample.tsv")).name == "pavlick.wiki"
    assert read_pavlick(write(OFFICIAL, "mine.tsv")).name == "mine"
    assert read_pavlick(write(OFFICIAL, "mine.tsv"), name="x").name == "x"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0.9\t[X]\ta\tb", "expected a score from 1 to 5, found '0.9'"),
        ("5.1\t[X]\ta\tb", "expected a score from 1 to 5, found '5.1'"),
        ("x\t[X]\ta\tb", "expected a finite number as score, found 'x'"),
        ("3\t[X]\ta", "expected 2 tab-separated texts, found 1"),
        ("3\t[X]\t\tb", "expected two texts, but one is empty"),
        ("3", "expected 2 tab-separated texts, found 0"),
    ],
)
def test_bad_lines(write, line, message):
    path = write(f"{OFFICIAL}{line}\n")
    with pytest.raises(DataError, match=rf"ppdb-sample\.tsv:3: {message}"):
        read_pavlick(path)
    bad = BadLines("skip")
    assert (len(read_pavlick(path, on_bad_line=bad)), bad.count) == (2, 1)


def test_empty(write):
    with pytest.raises(DataError, match="expected at least 2 rows with a score, found 0"):
        read_pavlick(write(""))


def test_find(write, tmp_path):
    expected = {
        "pavlick": write(OFFICIAL, "ppdb-sample.tsv"),
        "pavlick.wiki": write(OFFICIAL, "wiki-sample.tsv.gz"),
    }
    for name in ("ppdb-2.0-s-all", "pavlick-notes.md", "ppdb-phrasal-pairs.tsv"):
        write("", name)
    assert find_pavlick(tmp_path) == expected
    with pytest.raises(DataError, match="none: expected a folder with evaluation sets"):
        find_pavlick(tmp_path / "none")


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data")
def test_real_file():
    (pairs,) = [read_pavlick(path) for path in find_pavlick(SHARED).values()]
    assert (pairs.name, len(pairs)) == ("pavlick", 26456)
