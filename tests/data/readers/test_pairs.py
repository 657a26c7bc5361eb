"""Training pairs: two columns, PPDB, and two aligned files."""

from __future__ import annotations

import gzip
import math

import pytest

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.sources import pair_corpus
from tf_charagram.data.readers.pairs import read_aligned, read_pairs
from tf_charagram.errors import ConfigError, DataError


def ppdb(phrase, paraphrase, score=None, entailment=None):
    features = "Abstract=0" if score is None else f"PPDB2.0Score={score} Abstract=0"
    fields = ["[NN]", phrase, paraphrase, features, "0-0"]
    return " ||| ".join(fields if entailment is None else [*fields, entailment])


PPDB_1 = "\n".join([ppdb("car", "auto"), ppdb("big", "large")])
PPDB_2 = "\n".join(
    [
        ppdb("car", "auto", 5.1, "Equivalence"),
        ppdb("cat", "dog", 1.5, "Exclusion"),
        ppdb("dog", "animal", 3.0, "ForwardEntailment"),
    ]
)


@pytest.fixture
def read(tmp_path):
    def read(content, **arguments):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_pairs(path, **arguments))

    return read


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a b\tc\n\n \nd\td\n", [("a b", "c"), ("d", "d")]),
        ("\tb\na\t \u3000\n\t\n", [("", "b"), ("a", " \u3000"), ("", "")]),
        (
            b"\xef\xbb\xbfa\tb\r\nc\td\ne\xff\tf\r\ng\x00\th\r\n",
            [("a", "b"), ("c", "d"), ("e\ufffd", "f"), ("g\x00", "h")],
        ),
        (gzip.compress(PPDB_1.encode()), [("car", "auto"), ("big", "large")]),
        ("text1\ttext2\na\tb\n", [("a", "b")]),
        ("\ufeffs1\tS2\r\na\tb\n", [("a", "b")]),
        ("\n \nSentence1\tSENTENCE2\na\tb\n", [("a", "b")]),
        ("a\tb\ntext1\ttext2\n", [("a", "b"), ("text1", "text2")]),
        ("text1\tsecond\n", [("text1", "second")]),
        (PPDB_2, [("car", "auto"), ("cat", "dog"), ("dog", "animal")]),
    ],
)
def test_formats(read, content, expected):
    assert read(content) == expected


def test_csv(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('anchor,positive\n"a, ""b""",c\n\nd,"e\nf"\n')
    assert [*read_pairs(path)] == [('a, "b"', "c"), ("d", "e\nf")]
    path.write_text("a,b\nc\td\n")
    with pytest.raises(DataError, match=r"pairs\.csv:2: expected 2 comma-separated texts, found 1"):
        list(read_pairs(path))
    path.rename(tmp_path / "pairs.tsv")
    with pytest.raises(DataError, match=r"found 1; commas separate texts only in \.csv files"):
        list(read_pairs(tmp_path / "pairs.tsv"))


@pytest.mark.parametrize(("line", "found"), [("alone", 1), ("a\tb\tc", 3)])
def test_bad_lines(read, line, found):
    content, message = f"a\tb\n\n{line}\nc\td\n", f"expected 2 tab-separated texts, found {found}"
    with pytest.raises(DataError, match=rf"pairs\.tsv:3: {message}"):
        read(content)
    bad = BadLines("skip")
    assert read(content, on_bad_line=bad) == [("a", "b"), ("c", "d")]
    assert bad.count == 1 and message in bad.summary()
    assert read(f"{line}\na\tb\n", on_bad_line="skip") == [("a", "b")]


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "text1\ttext2\n"])
def test_no_pairs(read, content):
    with pytest.raises(DataError, match=r"pairs\.tsv: no pairs found"):
        read(content)


def test_no_pairs_explains_the_lines(read):
    with pytest.raises(DataError, match=r"no pairs found: 2 lines, skipped 2 bad lines; first"):
        read("a\nb\n", on_bad_line="skip")
    with pytest.raises(DataError, match="3 lines, no bad lines, the others filtered out"):
        read(PPDB_2, min_score=9)


class TestPpdb:
    def test_filters(self, read):
        assert read(PPDB_2, min_score=3) == [("car", "auto"), ("dog", "animal")]
        types = ["Exclusion", "ForwardEntailment"]
        assert read(PPDB_2, entailment=types) == [("cat", "dog"), ("dog", "animal")]
        assert read(PPDB_2, entailment="Equivalence", min_score=1) == [("car", "auto")]

    @pytest.mark.parametrize("filters", [{"min_score": 3.0}, {"entailment": "Equivalence"}])
    def test_filters_need_version_2(self, read, filters):
        with pytest.raises(DataError, match=r"this is a PPDB 1\.0 file. Give a PPDB 2\.0 file"):
            read(PPDB_1, on_bad_line="skip", **filters)
        with pytest.raises(DataError, match=r"this is a tab-separated file, not PPDB 2\.0"):
            read("a\tb\n", **filters)

    def test_bad_lines(self, read):
        empty = ppdb(" ", "x", 4, "Equivalence")
        content = "\n".join([PPDB_2, "[NN] ||| a ||| b", empty, ppdb("c", "d", 4)])
        with pytest.raises(DataError, match=r"pairs\.tsv:4: expected 5 or 6 fields .*, found 3"):
            read(content)
        bad = BadLines("skip")
        kept = read(content, on_bad_line=bad, entailment="Equivalence")
        assert (kept, bad.count) == ([("car", "auto"), (" ", "x")], 2)

    @pytest.mark.parametrize(
        ("features", "message"),
        [
            ("MyPPDB2.0Score=4 PPDB2x0Score=4", "expected the feature PPDB2.0Score, but it is mis"),
            ("PPDB2.0Score=high Lexical", "expected a number for feature PPDB2.0Score, found 'hi"),
        ],
    )
    def test_bad_scores(self, read, features, message):
        line = f"[X] ||| a ||| b ||| {features} |||  ||| Exclusion"
        bad = BadLines("skip")
        kept = read(f"{PPDB_2}\n{line}\n", on_bad_line=bad, min_score=3)
        assert kept == [("car", "auto"), ("dog", "animal")]
        assert message in bad.first

    def test_scores_that_are_not_available(self, read):
        lines = (
            f"{PPDB_2}\n{ppdb('a', 'b', 'NA', 'Exclusion')}\n{ppdb('c', 'd', '4e0', 'Exclusion')}"
        )
        assert read(lines, min_score=4) == [("car", "auto"), ("c", "d")]

    def test_arguments_are_checked_before_iterating(self):
        with pytest.raises(ConfigError, match=r"Unknown on_bad_line 'stop'\. Available: error"):
            read_pairs("none.tsv", on_bad_line="stop")
        with pytest.raises(ConfigError, match=r"Unknown entailment type 'exclusion'\. Did you"):
            read_pairs("none.tsv", entailment="exclusion")
        with pytest.raises(ConfigError, match=r"`min_score` must be a finite.*min_score=nan"):
            read_pairs("none.tsv", min_score=math.nan)


class TestAligned:
    @pytest.fixture
    def files(self, tmp_path):
        def write(left, right):
            (tmp_path / "main.tok").write_text(left, encoding="utf-8")
            (tmp_path / "simple.tok.gz").write_bytes(gzip.compress(right.encode()))
            return tmp_path / "main.tok", tmp_path / "simple.tok.gz"

        return write

    def test_pairs(self, files):
        # SimpWiki 2 has article, paragraph, sentence.
        paths = files("A cat sat .\nCats\t7\tb\n\nlast", "The cat .\nc\nx\nend\n")
        expected = [("A cat sat .", "The cat ."), ("b", "c"), ("", "x"), ("last", "end")]
        assert list(read_aligned(*paths)) == expected

    def test_as_data(self, files):
        corpus = pair_corpus(["::".join(map(str, files("a\n\nb\n", "c\nx\nd\n")))], BadLines())
        assert list(corpus.survey()) == ["a", "c", "b", "d"]
        assert corpus.num_empty == 1

    @pytest.mark.parametrize(
        ("left", "right", "message"),
        [
            ("a\nb\n", "c\n", r"simple.tok.gz: expected as many lines as in .*main.tok, found on"),
            ("a\n", "c\nd\ne\n", r"main.tok: expected as many lines as in .*simple.*, found only"),
            ("", "", r"main\.tok: no pairs found: the file is empty"),
        ],
    )
    def test_errors(self, files, left, right, message):
        with pytest.raises(DataError, match=message):
            list(read_aligned(*files(left, right)))

    def test_missing_file(self, files):
        left, _ = files("a\n", "b\n")
        with pytest.raises(DataError, match=r"none: no such file; .*main.tok::none means two file"):
            pair_corpus([f"{left}::none"], BadLines())
