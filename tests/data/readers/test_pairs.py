"""`read_pairs` on both formats."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.errors import ConfigError, DataError

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


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


def test_empty_sides_are_for_the_corpus_to_judge(read):
    assert read("\tb\na\t \u3000\n\t\n") == [("", "b"), ("a", " \u3000"), ("", "")]


def test_tab_separated(read):
    assert read("a b\tc\n\n \nd\td\n") == [("a b", "c"), ("d", "d")]


def test_bom_crlf_mixed_ends_broken_utf8_and_nul(read):
    content = b"\xef\xbb\xbfa\tb\r\nc\td\ne\xff\tf\r\ng\x00\th\r\n"
    assert read(content) == [("a", "b"), ("c", "d"), ("e\ufffd", "f"), ("g\x00", "h")]


def test_gzip_of_any_name(read):
    assert read(gzip.compress(PPDB_1.encode())) == [("car", "auto"), ("big", "large")]


@pytest.mark.parametrize("header", ["text1\ttext2", "Sentence1\tSENTENCE2", "\ufeffs1\ts2\r"])
def test_header_is_left_out(read, header):
    assert read(f"{header}\na\tb\n") == [("a", "b")]
    assert read(f"\n \n{header.lstrip(chr(0xFEFF))}\na\tb\n") == [("a", "b")]


def test_header_is_only_the_first_line_and_only_known_names(read):
    assert read("a\tb\ntext1\ttext2\n") == [("a", "b"), ("text1", "text2")]
    assert read("text1\tsecond\n") == [("text1", "second")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("alone", "expected 2 tab-separated texts, found 1"),
        ("a\tb\tc", "expected 2 tab-separated texts, found 3"),
    ],
)
def test_bad_lines(read, line, message):
    content = f"a\tb\n\n{line}\nc\td\n"
    with pytest.raises(DataError, match=rf"pairs\.tsv:3: {message}"):
        read(content)
    bad = BadLines("skip")
    assert read(content, on_bad_line=bad) == [("a", "b"), ("c", "d")]
    assert bad.count == 1
    assert message in bad.summary()


def test_bad_first_line_is_skipped(read):
    assert read("alone\na\tb\n", on_bad_line="skip") == [("a", "b")]


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "text1\ttext2\n"])
def test_no_pairs(read, content):
    with pytest.raises(DataError, match=r"pairs\.tsv: no pairs found"):
        read(content)


def test_no_pairs_says_where_the_lines_went(read):
    with pytest.raises(DataError, match=r"no pairs found: 2 lines, skipped 2 bad lines; first"):
        read("a\nb\n", on_bad_line="skip")
    with pytest.raises(DataError, match="3 lines, no bad lines, the others filtered out"):
        read(PPDB_2, min_score=9)


def test_ppdb(read):
    assert read(PPDB_1) == [("car", "auto"), ("big", "large")]
    assert read(PPDB_2) == [("car", "auto"), ("cat", "dog"), ("dog", "animal")]


def test_ppdb_filters(read):
    assert read(PPDB_2, min_score=3) == [("car", "auto"), ("dog", "animal")]
    types = ["Exclusion", "ForwardEntailment"]
    assert read(PPDB_2, entailment=types) == [("cat", "dog"), ("dog", "animal")]
    assert read(PPDB_2, entailment="Equivalence", min_score=1) == [("car", "auto")]


def test_ppdb_filters_need_version_2(read):
    for filters in ({"min_score": 3.0}, {"entailment": "Equivalence"}):
        with pytest.raises(DataError, match=r"this is a PPDB 1\.0 file. Give a PPDB 2\.0 file"):
            read(PPDB_1, on_bad_line="skip", **filters)
        with pytest.raises(DataError, match=r"this is a tab-separated file, not PPDB 2\.0"):
            read("a\tb\n", **filters)


def test_ppdb_bad_lines(read):
    empty = ppdb(" ", "x", 4, "Equivalence")
    content = "\n".join([PPDB_2, "[NN] ||| a ||| b", empty, ppdb("c", "d", 4)])
    with pytest.raises(DataError, match=r"pairs\.tsv:4: expected 5 or 6 fields .*, found 3"):
        read(content)
    bad = BadLines("skip")
    kept = read(content, on_bad_line=bad, entailment="Equivalence")
    assert kept == [("car", "auto"), (" ", "x")]
    assert [message.split(": ")[1][:20] for message in bad.messages] == [
        "expected 5 or 6 fiel",
        "expected a 6th field",
    ]


def test_arguments_are_checked_by_the_call_itself():
    with pytest.raises(ConfigError, match=r"Unknown on_bad_line 'stop'\. Available: error"):
        read_pairs("none.tsv", on_bad_line="stop")
    with pytest.raises(ConfigError, match=r"Unknown entailment type 'exclusion'\. Did you mean"):
        read_pairs("none.tsv", entailment="exclusion")


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data")
@pytest.mark.parametrize(
    ("name", "num_lines", "num_empty"),
    # 7 rows of the PPDB words have an empty text beside a sign such as U+25CF.
    [("words/ppdb-xl-lexical.tsv", 187272, 7), ("phrases/ppdb-phrasal-pairs.tsv", 15858, 0)],
)
def test_real_files(name, num_lines, num_empty):
    pairs = list(read_pairs(SHARED / name))
    assert len(pairs) == num_lines
    assert sum(not (left.strip() and right.strip()) for left, right in pairs) == num_empty


def test_csv(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('anchor,positive\n"a, ""b""",c\n\nd,"e\nf"\n')
    assert [*read_pairs(path)] == [('a, "b"', "c"), ("d", "e\nf")]
    path.write_text("a,b\nc\td\n")
    with pytest.raises(DataError, match=r"pairs\.csv:2: expected 2 comma-separated texts, found 1"):
        list(read_pairs(path))
    path.rename(tmp_path / "pairs.tsv")
    with pytest.raises(DataError, match=r"found 1; commas separate them in files called \.csv"):
        list(read_pairs(tmp_path / "pairs.tsv"))
