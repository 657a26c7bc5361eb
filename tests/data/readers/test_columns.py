"""`read_columns`: the columns it finds, and errors for wrong ones."""

from __future__ import annotations

import gzip

import pytest

from tf_charagram.data.readers.columns import read_columns
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.errors import ConfigError, DataError

SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\t"
    "SemEval_set\n"
    "1\ta dog runs\ta dog\tENTAILMENT\t4.5\tx\tTRAIN\n"
    "2\ta cat\ta bird sings\tNEUTRAL\t1.5\tx\tTEST\n"
    "3\tno cat\ta cat sleeps\tCONTRADICTION\t3\tx\tTRAIN\n"
)
REVIEWS = "".join(f"{i % 2}\tthe review number {i} is long\n" for i in range(20))


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.tsv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def cells(rows):
    return [(*row.texts, row.label) for row in rows]


@pytest.mark.parametrize(
    ("content", "arguments", "expected"),
    [
        ("0\ta b\n\n1\tc\n", {}, [("a b", "0"), ("c", "1")]),
        ("a b\tx\tneg\nc\ty\tpos\n", {"text_columns": ["0"], "label_column": "2"},
         [("a b", "neg"), ("c", "pos")]),
        ("label\ttext\n0\ta b\n1\tc\n", {}, [("a b", "0"), ("c", "1")]),
        ("Sentence\tLabel\na b\t0\nc\t1\n", {}, [("a b", "0"), ("c", "1")]),
        ("id\tBody\tstars\n7\ta b\t1\n8\tc\t5\n",
         {"text_columns": ["body"], "label_column": "Stars"}, [("a b", "1"), ("c", "5")]),
        ("id\tBody\tstars\n7\ta b\t1\n", {"text_columns": ["body"], "label_column": "2"},
         [("a b", "1")]),
        ("0\ta b\n", {"split": "train"}, [("a b", "0")]),
        ("x\ta\tb\n", {"num_texts": 2}, [("a", "b", "x")]),
        ("3.5\ta\tb\n", {"num_texts": 2, "is_scored": True}, [("a", "b", "3.5")]),
        ("3.5\ta\tb\tYES\n", {"num_texts": 2}, [("a", "b", "YES")]),
        ("3.5\ta\tb\tYES\n", {"num_texts": 2, "is_scored": True}, [("a", "b", "3.5")]),
        ("gold_label\tpremise\thypothesis\nno\ta\tb\n", {"num_texts": 2}, [("a", "b", "no")]),
        ("label\tpremise\ttext1\ttext2\nno\tx\ta\tb\n", {"num_texts": 2}, [("a", "b", "no")]),
    ],
)  # fmt: skip
def test_columns(write, content, arguments, expected):
    assert cells(read_columns(write(content), **arguments)) == expected


@pytest.mark.parametrize("is_scored", [False, True])
@pytest.mark.parametrize("name", ["SICK.txt", "sick.tsv.gz"])
def test_official_sick(write, name, is_scored):
    content = "\ufeff" + SICK.replace("\n", "\r\n")
    path = write(gzip.compress(content.encode()) if name.endswith("gz") else content, name)
    rows = read_columns(path, num_texts=2, is_scored=is_scored, split="train")
    labels = ["4.5", "3"] if is_scored else ["ENTAILMENT", "CONTRADICTION"]
    assert cells(rows) == [
        ("a dog runs", "a dog", labels[0]),
        ("no cat", "a cat sleeps", labels[1]),
    ]
    assert [row.line for row in rows] == [2, 4]
    with pytest.raises(DataError, match=r"holds the splits train, trial and test\. Choose one"):
        read_columns(path, num_texts=2, is_scored=is_scored)


def test_csv(write):
    path = write('label,text\n1,"one, ""two"""\n\n0,"three\nfour"\n1,five\n', "x.CSV")
    rows = read_columns(path)
    assert cells(rows) == [('one, "two"', "1"), ("three\nfour", "0"), ("five", "1")]
    assert [row.line for row in rows] == [2, 4, 6]


@pytest.mark.parametrize("content", ['1,a\n0,"b"c\n', '1,a\n0,"b\nc\n'])
def test_broken_csv(write, content):
    with pytest.raises(DataError, match=r"x\.csv:2: the row is not valid CSV \(.*\)\. Check its q"):
        read_columns(write(content, "x.csv"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", "expected 2 columns as in line 1, found 1"),
        ("1\ta\tb", "expected 2 columns as in line 1, found 3"),
        ("1\t ", "expected a text in column 1, but it is empty"),
        ("\ta", "expected a label in column 0, but it is empty"),
        ("\t", "expected a text in column 1, but it is empty"),
    ],
)
def test_bad_lines(write, line, message):
    path = write(f"0\tgood\n{line}\n1\tbetter\n")
    with pytest.raises(DataError, match=rf"x\.tsv:2: {message}\. Correct the line"):
        read_columns(path)
    bad = BadLines("skip")
    assert cells(read_columns(path, on_bad_line=bad)) == [("good", "0"), ("better", "1")]
    assert (bad.count, bad.first) == (1, f"{path}:2: {message}")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("", {}, "no rows found: the file is empty"),
        ("label\ttext\n", {}, r"no rows found: no bad lines\. Check the columns"),
        ("0\ta\n", {"text_columns": ["2"]}, ":1: expected a column 2, counted from 0; found 2 col"),
        ("0\ta\n", {"label_column": "9" * 5000}, ":1: expected a column 9+, counted from 0"),
        ("id\ttext\n", {"label_column": "stars"},
         ":1: expected a column stars; found 2 columns: id, text"),
        ("sentence_A\tsentence_B\n", {"num_texts": 2, "is_scored": True},
         r":1: expected one of these in the header: score, relatedness_score, .*; found "
         r"sentence_A, sentence_B\. Name the column with `label_column`"),
        ("label\tscore\tbody\n", {}, r"one of these .*: text, .*; found label, .*`text_columns`"),
        ("label\tscore\n", {"num_texts": 2}, "in the header: sentence_a and sentence_b, premise"),
    ],
)  # fmt: skip
def test_wrong_files(write, content, arguments, message):
    with pytest.raises(DataError, match=message):
        read_columns(write(content), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text_columns": ["1", "2"]}, r"must name 1 column\. Received: text_columns=1,2"),
        ({"text_columns": ["1"], "num_texts": 2}, r"must name 2 columns\. Received: .*=1"),
        ({"on_bad_line": "skp"}, "Did you mean 'skip'"),
    ],
)
def test_wrong_arguments(write, arguments, message):
    with pytest.raises(ConfigError, match=message):
        read_columns(write("0\ta b\n"), **arguments)


@pytest.mark.parametrize(
    ("texts", "label", "message"),
    [
        (["0"], "1", r"column 0 should hold texts, but it holds numbers, such as '0'"),
        (["1"], "2", r"column 2 should hold labels, but all 20 rows differ, such as 'some text 0'"),
    ],
)
def test_wrong_columns(write, texts, label, message):
    path = write("".join(f"{i % 2}\tthe review\tsome text {i}\n" for i in range(20)))
    with pytest.raises(DataError, match=message):
        read_columns(path, text_columns=texts, label_column=label)
    assert len(read_columns(path, text_columns=["2"])) == 20


def test_header_of_unknown_names(write):
    path = write(f"klass\tbody\n{REVIEWS}")
    with pytest.raises(DataError, match=r"x\.tsv:1: looks like a header, .* label like 'klass'"):
        read_columns(path)
    assert len(read_columns(path, text_columns=["body"], label_column="klass")) == 20
