"""Pairs in two files, line by line: the reader, and `--data A::B`."""

from __future__ import annotations

import gzip

import pytest

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.sources import pair_corpus
from tf_charagram.data.readers.aligned import read_aligned
from tf_charagram.errors import ConfigError, DataError


@pytest.fixture
def files(tmp_path):
    """Returns a function that writes two files and gives their paths."""

    def write(left, right):
        (tmp_path / "main.tok").write_text(left, encoding="utf-8")
        (tmp_path / "simple.tok.gz").write_bytes(gzip.compress(right.encode()))
        return tmp_path / "main.tok", tmp_path / "simple.tok.gz"

    return write


def test_pairs(files):
    # SimpWiki 2 has article, paragraph, sentence.
    paths = files("A cat sat .\nCats\t7\tb\n\nlast", "The cat .\nc\nx\nend\n")
    expected = [("A cat sat .", "The cat ."), ("b", "c"), ("", "x"), ("last", "end")]
    assert list(read_aligned(*paths)) == expected


def test_as_data(files):
    corpus = pair_corpus(["::".join(map(str, files("a\n\nb\n", "c\nx\nd\n")))], BadLines())
    assert list(corpus.survey()) == ["a", "c", "b", "d"]
    assert [example.original for example in corpus] == [("a", "c"), ("b", "d")]
    assert corpus.num_empty == 1


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("a\nb\n", "c\n", r"simple.tok.gz: expected as many lines as in .*main.tok, found only 1"),
        ("a\n", "c\nd\ne\n", r"main.tok: expected as many lines as in .*simple.*, found only 1"),
        ("", "", r"main\.tok: no pairs found: the file is empty"),
    ],
)  # fmt: skip
def test_errors(files, left, right, message):
    with pytest.raises(DataError, match=message):
        list(read_aligned(*files(left, right)))


def test_wrong_names(files, tmp_path):
    left, right = files("a\n", "b\n")
    with pytest.raises(DataError, match=r"none: no such file; .*main.tok::none names two files"):
        pair_corpus([f"{left}::none"], BadLines())
    with pytest.raises(
        ConfigError, match=r"`min_score` and `entailment` are for PPDB 2\.0, not for"
    ):
        pair_corpus([f"{left}::{right}"], BadLines(), min_score=2)
