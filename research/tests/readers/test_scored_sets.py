"""The readers of Annotated-PPDB, Pavlick's phrases and Twitter, on the forms of their files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from research.readers.annotated_ppdb import find_annotated_ppdb, read_annotated_ppdb
from research.readers.pavlick import find_pavlick, read_pavlick
from research.readers.twitter import find_twitter, read_twitter
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.errors import DataError

BARS = "can not be ||| is unable to be ||| 4.6\nhard | soft ||| b ||| 1\n"
TABS = "can not be\tis unable to be\t4.6\nhard | soft\tb\t1\n"
OFFICIAL = "4.0\t[NP]\tthis thing\tthe thing\t3,5\n1.5\t[S/NP]\t[ a\tb\t1,2\n"
PHRASES_FIRST = "4.0\tthis thing\tthe thing\t[NP]\t3,5\n1.5\t[ a\tb\t[S/NP]\t1,2\n"


def row(left, right, label):
    return f"12\tA Trend\t{left}\t{right}\t{label}\ttags\ttags\n"


TWITTER = row("a b", "c", 4) + row("d", "e", 0) + row("f", "g", 2)
LABELS = "true\t0.8000\nfalse\t0.0000\n----\t0.4000\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


class TestAnnotatedPpdb:
    @pytest.mark.parametrize("content", [BARS, TABS], ids=["bars", "tabs"])
    @pytest.mark.parametrize(
        ("file", "name"),
        [
            ("annotated-ppdb-test", "annotated-ppdb.test"),
            ("anno_ppdb.dev.txt", "annotated-ppdb.dev"),
            ("Annotated-PPDB.txt", "annotated-ppdb"),
        ],
    )
    def test_by_name(self, write, tmp_path, content, file, name):
        path = write(content, file)
        assert find_annotated_ppdb(tmp_path) == {name: path}
        (pairs,) = evaluation_sets(tmp_path)
        assert (pairs.name, pairs.metric, pairs.scale) == (name, "spearman", (1, 5))
        assert pairs.left == ["can not be", "hard | soft"]
        assert pairs.right == ["is unable to be", "b"]
        np.testing.assert_array_equal(pairs.scores, [4.6, 1])

    def test_by_first_line(self, write):
        (pairs,) = evaluation_sets(write(BARS, "mine.txt"))
        assert (pairs.name, len(pairs)) == ("mine", 2)

    def test_a_bad_line(self, write):
        path = write("a ||| b ||| 0\n", "annotated-ppdb")
        with pytest.raises(DataError, match=":1: expected a score from 1 to 5, found '0'"):
            read_annotated_ppdb(path)


class TestPavlick:
    @pytest.mark.parametrize("content", [OFFICIAL, PHRASES_FIRST])
    def test_read(self, write, content):
        raw = gzip.compress(f"\ufeff{content}\n".replace("\n", "\r\n").encode())
        pairs = read_pavlick(write(raw, "ppdb-sample.tsv"))
        assert (pairs.name, pairs.metric, pairs.group) == ("pavlick", "spearman", None)
        assert (pairs.left, pairs.right) == (["this thing", "[ a"], ["the thing", "b"])
        np.testing.assert_array_equal(pairs.scores, [4, 1.5])

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("0.9\t[X]\ta\tb", "expected a score from 1 to 5, found '0.9'"),
            ("x\t[X]\ta\tb", "expected a finite number as score, found 'x'"),
            ("3\t[X]\ta", "expected 2 tab-separated texts, found 1"),
        ],
    )
    def test_bad_lines(self, write, line, message):
        path = write(f"{OFFICIAL}{line}\n", "ppdb-sample.tsv")
        with pytest.raises(DataError, match=rf"ppdb-sample\.tsv:3: {message}"):
            read_pavlick(path)
        bad = BadLines("skip")
        assert (len(read_pavlick(path, on_bad_line=bad)), bad.count) == (2, 1)

    def test_find(self, write, tmp_path):
        expected = {
            "pavlick": write(OFFICIAL, "ppdb-sample.tsv"),
            "pavlick.wiki": write(OFFICIAL, "wiki-sample.tsv.gz"),
        }
        for name in ("ppdb-2.0-s-all", "pavlick-notes.md", "ppdb-phrasal-pairs.tsv"):
            write("", name)
        assert find_pavlick(tmp_path) == expected
        assert read_pavlick(write(OFFICIAL, "mine.tsv")).name == "mine"


class TestTwitter:
    @pytest.mark.parametrize("named", ["test.data", "test.label"])
    def test_labels_in_a_file_of_their_own(self, write, tmp_path, named):
        write(TWITTER, "test.data")
        write(LABELS, "test.label")
        pairs = read_twitter(tmp_path / named)
        assert (pairs.name, pairs.metric, pairs.group) == ("Twitter", "pearson", None)
        assert (pairs.left, pairs.right) == (["a b", "d", "f"], ["c", "e", "g"])
        np.testing.assert_array_equal(pairs.scores, [0.8, 0, 0.4])

    def test_labels_and_votes_in_the_data(self, write):
        np.testing.assert_array_equal(read_twitter(write(TWITTER, "test.data")).scores, [4, 0, 2])
        votes = row("a", "b", "(3, 2)") + row("c", "d", "(0, 5)") + row("e", "f", "(4, 4)")
        pairs = read_twitter(write(votes, "train.data"))
        assert pairs.name == "Twitter.train"
        np.testing.assert_array_equal(pairs.scores, [3, 0, 2.5])

    def test_gzip_and_pairs_without_a_label(self, write):
        raw = b"\xef\xbb\xbf" + TWITTER.replace("\n", "\r\n").encode()
        write(gzip.compress(raw), "test.data.gz")
        labels = LABELS.replace("false\t0.0000", "")
        pairs = read_twitter(write(gzip.compress(labels.encode()), "test.label.gz"))
        assert (pairs.left, pairs.num_unscored) == (["a b", "f"], 1)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (row("a", "b", 6), "expected a score from 0 to 5, found '6'"),
            (row("a", "b", "(0, 0)"), "expected a finite number as score, found 'none'"),
            ("1\tA Trend\ta\n", "expected 2 tab-separated texts, found 1"),
        ],
    )
    def test_bad_lines(self, write, line, message):
        path = write(TWITTER + line, "test.data")
        with pytest.raises(DataError, match=rf"test\.data:4: {message}"):
            read_twitter(path)
        bad = BadLines("skip")
        assert (len(read_twitter(path, on_bad_line=bad)), bad.count) == (3, 1)

    def test_labels_that_do_not_fit(self, write):
        path = write(LABELS + "true\t1\n", "test.label")
        with pytest.raises(DataError, match=r"expected test\.data beside it, which is missing"):
            read_twitter(path)
        data = write(TWITTER, "test.data")
        with pytest.raises(DataError, match=r"expected a line 4, as .*test\.label has one"):
            read_twitter(data)
        write(LABELS.replace("----\t0.4000", "true\t4"), "test.label")
        with pytest.raises(DataError, match=r"test\.label:3: expected a score from 0 to 1"):
            read_twitter(data)

    def test_find(self, write, tmp_path):
        write(TWITTER, "train.data")
        assert find_twitter(tmp_path) == {}
        path = write(TWITTER, "test.data")
        (tmp_path / "aaa").mkdir()
        write("weights", "aaa/test.data")
        assert find_twitter(tmp_path) == {"Twitter": path}
