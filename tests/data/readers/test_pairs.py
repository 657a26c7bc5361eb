"""Training pairs: two columns, PPDB, and two aligned files."""

from __future__ import annotations

import gzip

import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.pairs import read_aligned, read_pairs
from tf_charagram.errors import DataError
from tf_charagram.tasks.paraphrase._corpus.corpus import PairCorpus, pairs_reader


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


NAMES = "text1\ttext2\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"{NAMES}a b\tc\n\n \nd\td\n", [("a b", "c"), ("d", "d")]),
        (f"{NAMES}\tb\na\t \u3000\n\t\n", [("", "b"), ("a", " \u3000"), ("", "")]),
        (f"{NAMES}#a\t#b\n# c\td\n", [("#a", "#b"), ("# c", "d")]),
        (b"\xef\xbb\xbftext1\ttext2\r\nc\td\r\ng\x00\th\r\n", [("c", "d"), ("g\x00", "h")]),
        (f"{NAMES}a\tb\n".encode("utf-16"), [("a", "b")]),
        (f"{NAMES}a\tb\n".replace("\n", "\r"), [("a", "b")]),
        (gzip.compress(PPDB_1.encode(), mtime=0), [("car", "auto"), ("big", "large")]),
        ("\ufeffs1\tS2\r\na\tb\n", [("a", "b")]),
        ("\n \nSentence1\tSENTENCE2\na\tb\n", [("a", "b")]),
        ('"text1"\t"text2"\n"a ""b"""\t"c"\n', [('a "b"', "c")]),
        ("a\tb\t1\nc\td\t0\n", [("a", "b")]),
        (PPDB_2, [("car", "auto"), ("cat", "dog"), ("dog", "animal")]),
    ],
)
def test_formats(read, content, expected):
    assert read(content) == expected


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv", "pairs.txt", "pairs"])
def test_header(tmp_path, name):
    path = tmp_path / name
    content = "cat\tcats\ntext1\ttext2\n"
    path.write_text(content.replace("\t", ",") if name.endswith("csv") else content)
    with pytest.raises(DataError, match=r"two texts .* cat 'text1', cats .* If .* add --no-header"):
        list(read_pairs(path))
    assert list(read_pairs(path, header=False)) == [("cat", "cats"), ("text1", "text2")]
    lines = path.read_text().splitlines()
    path.write_text("\n".join(reversed(lines)))
    assert list(read_pairs(path)) == [("cat", "cats")]
    with pytest.raises(DataError, match=r":1: the first line has the names .* Leave out --no-head"):
        list(read_pairs(path, header=False))
    assert list(read_pairs(path, header=False, columns=["2", "1"]))[1] == ("cats", "cat")


def test_bytes_that_are_not_utf8(read):
    content = b"text1\ttext2\na\tb\ne\xff\tf\n"
    with pytest.raises(DataError, match=r"pairs\.tsv:3: is not UTF-8 here\. Name its encoding"):
        read(content)
    bad = BadLines("skip")
    assert read(content, on_bad_line=bad) == [("a", "b")] and bad.count == 1


def test_csv(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text('anchor,positive\n"a, ""b""",c\n\nd,"e\nf"\n')
    assert [*read_pairs(path)] == [('a, "b"', "c"), ("d", "e\nf")]
    path.write_text("a,b\nc\td\n")
    with pytest.raises(DataError, match=r"pairs\.csv:2: expected 2 columns as .*, found 1\. Corr"):
        list(read_pairs(path))
    (tmp_path / "pairs.tsv").write_text("a,b\nc,d\n")
    with pytest.raises(DataError, match=r"two texts.* 'c,d'.* commas in \.csv files"):
        list(read_pairs(tmp_path / "pairs.tsv"))


QUORA = """"id","qid1","question1","question2","is_duplicate"
"0","1","What is ""it""?","What, please,
is it?","1"
"1","3","Who?","You?","0"
"2","5","Where?","Which place?","TRUE"
"""


def test_pairs_that_do_not_mean_the_same(tmp_path, caplog):
    path = tmp_path / "quora.csv"
    path.write_text(QUORA)
    for _ in range(2):
        pairs = list(read_pairs(path))
    assert pairs == [('What is "it"?', "What, please,\nis it?"), ("Where?", "Which place?")]
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [f"{path}: left out 1 pairs that do not mean the same"]
    assert len(list(read_pairs(path, columns=["question1", "4"]))) == 3
    path.write_text(QUORA.replace("TRUE", "4.5"))
    with pytest.raises(DataError, match=r"expected 0 or 1 in column is_duplicate, .* found '4\.5'"):
        list(read_pairs(path))


def test_unknown_layout(read):
    content = "1\tfoo\tbar\n2\tbaz\tqux\n"
    expected = "two texts and, optionally, .* 1 '1', 2 'foo', 3 'bar'. Choose with --columns"
    for policy in ("error", "skip"):
        with pytest.raises(DataError, match=expected):
            read(content, on_bad_line=policy, header=False)
    assert read(content, columns=["3", "2"], header=False) == [("bar", "foo"), ("qux", "baz")]


@pytest.mark.parametrize(("line", "found"), [("alone", 1), ("a\tb\tc", 3)])
def test_bad_lines(read, line, found):
    message = f"expected 2 columns as in the first row, found {found}"
    content = f"{NAMES}a\tb\n\n{line}\nc\td\n"
    with pytest.raises(DataError, match=rf"pairs\.tsv:4: {message}"):
        read(content)
    bad = BadLines("skip")
    assert read(content, on_bad_line=bad) == [("a", "b"), ("c", "d")]
    assert bad.count == 1 and message in bad.summary()


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "text1\ttext2\n"])
def test_no_pairs(read, content):
    with pytest.raises(DataError, match=r"pairs\.tsv: no (pairs|rows) found"):
        read(content)


def test_bad_lines_of_ppdb(read):
    content = f"{PPDB_2}\n[NN] ||| a ||| b\n{ppdb(' ', 'x', 4)}"
    with pytest.raises(DataError, match=r"pairs\.tsv:4: expected 5 or 6 fields .*, found 3"):
        read(content)
    bad = BadLines("skip")
    assert read(content, on_bad_line=bad)[2:] == [("dog", "animal"), (" ", "x")]
    assert bad.count == 1


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
        reader = pairs_reader("::".join(map(str, files("a\n\nb\n", "c\nx\nd\n"))))
        corpus = PairCorpus([reader], BadLines())
        assert list(corpus.survey()) == ["a", "c", "b", "d"]
        assert corpus.num_empty == 1

    @pytest.mark.parametrize(
        ("left", "right", "message"),
        [
            ("a\nb\n", "c\n", r"simple.tok.gz: expected a line 2, as .*main.tok has one"),
            ("a\n", "c\nd\ne\n", r"main.tok: expected a line 2, as .*simple.* has one"),
            ("", "", r"main\.tok: no pairs found: the file is empty"),
        ],
    )
    def test_errors(self, files, left, right, message):
        with pytest.raises(DataError, match=message):
            list(read_aligned(*files(left, right)))

    def test_missing_file(self, files):
        left, _ = files("a\n", "b\n")
        with pytest.raises(DataError, match=r"none: no such file; .*main.tok::none means two file"):
            pairs_reader(f"{left}::none")
