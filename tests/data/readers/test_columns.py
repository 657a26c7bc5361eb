"""`read_columns`: the columns it finds, and errors for wrong ones."""

from __future__ import annotations

import gzip

import pytest

from tf_charagram.data._tables.columns import read_columns, read_scored_pairs
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.errors import ConfigError, DataError

SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\t"
    "SemEval_set\n"
    "1\ta dog runs\ta dog\tENTAILMENT\t4.5\tx\tTRAIN\n"
    "2\ta cat\ta bird sings\tNEUTRAL\t1.5\tx\tTEST\n"
    "3\tno cat\ta cat sleeps\tCONTRADICTION\t3\tx\tTRAIN\n"
)
REVIEWS = "".join(f"{i % 2}\tthe review number {i} is long\n" for i in range(20))


# Name of the files of `write`.
FILE_NAME = "x.tsv"


def cells(rows):
    return [(*row.texts, row.label) for row in rows]


@pytest.mark.parametrize(
    ("content", "arguments", "expected"),
    [
        ("0\ta b\n\n1\tc\n", {}, [("a b", "0"), ("c", "1")]),
        ("a b\tx\tneg\nc\ty\tpos\n", {"columns": ["1", "3"], "header": False},
         [("a b", "neg"), ("c", "pos")]),
        ("label\ttext\n0\ta b\n1\tc\n", {}, [("a b", "0"), ("c", "1")]),
        ("Sentence\tLabel\na b\t0\nc\t1\n", {}, [("a b", "0"), ("c", "1")]),
        ("id\tBody\tstars\n7\ta b\t1\n8\tc\t5\n",
         {"columns": ["body", "Stars"]}, [("a b", "1"), ("c", "5")]),
        ("id\tBody\tstars\n7\ta b\t1\n", {"columns": ["body", "3"]},
         [("a b", "1")]),
        ("0\ta b\n", {"split": "train"}, [("a b", "0")]),
        ("x\ta\tb\n", {"num_texts": 2, "header": False, "columns": ["2", "3", "1"]},
         [("a", "b", "x")]),
        ("3.5\ta\tb\n", {"num_texts": 2, "is_scored": True}, [("a", "b", "3.5")]),
        ("3.5\ta\tb\tYES\n", {"num_texts": 2}, [("a", "b", "YES")]),
        ("3.5\ta\tb\tYES\n", {"num_texts": 2, "is_scored": True}, [("a", "b", "3.5")]),
        ("gold_label\tpremise\thypothesis\nno\ta\tb\n", {"num_texts": 2}, [("a", "b", "no")]),
        ("label\tpremise\ttext1\ttext2\nno\tx\ta\tb\n", {"num_texts": 2}, [("a", "b", "no")]),
        ("a\tb\t3,5\nc\td\t4\n", {"num_texts": 2, "is_scored": True},
         [("a", "b", "3,5"), ("c", "d", "4")]),
        ("id\tquestion1\tquestion2\tis_duplicate\n1\ta\tb\t0\n", {"num_texts": 2},
         [("a", "b", "0")]),
        ("Sentence 1\tSentence_2\tSimilarity Score\na\tb\tx\n", {"num_texts": 2, "is_scored": True},
         [("a", "b", "x")]),
        ("body\tstars\nc\t5\n", {"columns": ["1", "2"]}, [("c", "5")]),
        ("c\t1\nd\t0\n", {}, [("c", "1"), ("d", "0")]),
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
        ("1", "expected 2 columns as in the first row, found 1"),
        ("1\ta\tb", "expected 2 columns as in the first row, found 3"),
        ("1\t ", "expected a text in column 2, but it is empty"),
        ("\ta", "expected a label in column 1, but it is empty"),
        ("\t", "expected a text in column 2, but it is empty"),
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
        ("label\ttext\n", {}, r"no rows found: no bad lines\. The columns, .*: label '', text"),
        ("0\ta\nb\t1\n", {"columns": ["3", "2"]},
         r"expected a column 3\. The columns, each with a value: 0 'b', a '1'\. Choose with --c"),
        ("0\ta\n", {"columns": ["1", "9" * 5000]}, "expected a column 9+"),
        ("id\ttext\n7\tx\n", {"columns": ["text", "stars"]},
         "expected a column stars.* id '7', text 'x'"),
        ("sentence_A\tsentence_B\nx\ty\n", {"num_texts": 2, "is_scored": True},
         "expected columns of two texts and a score.* sentence_A 'x', sentence_B 'y'"),
        ("label\tscore\tbody\n", {}, "expected columns of a text and a label.* score '', body ''"),
        ("label\tscore\n", {"num_texts": 2}, "expected columns of two texts and a label"),
        ("a b\n", {}, r"and a label\. The columns, .*: a b ''\. .* Tabs separate columns, or"),
        ("1\ta\n\tb\n2\tb", {}, r"x\.tsv:2: expected a label in column 1, but it is empty"),
        ("\ta\n1\tb\n", {}, r"expected columns of a text and a label\. .* 1 '1', a 'b'\. "),
    ],
)  # fmt: skip
def test_wrong_files(write, content, arguments, message):
    with pytest.raises(DataError, match=message):
        read_columns(write(content), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": ["1"]}, r"`columns` must name a text and a label\. Received: columns=1"),
        ({"columns": ["1", "2"], "num_texts": 2}, r"must name two texts and a label\. Rec.*=1,2"),
        ({"on_bad_line": "skp"}, "Did you mean 'skip'"),
    ],
)
def test_wrong_arguments(write, arguments, message):
    with pytest.raises(ConfigError, match=message):
        read_columns(write("0\ta b\n"), **arguments)


@pytest.mark.parametrize(
    ("texts", "label", "message"),
    [
        ("1", "2", r"column 1 should hold texts, but it holds numbers, such as '0'"),
        ("2", "3", r"column 3 should hold labels, but all 20 rows differ, such as 'some text 0'"),
    ],
)
def test_wrong_columns(write, texts, label, message):
    path = write("".join(f"{i % 2}\tthe review\tsome text {i}\n" for i in range(20)))
    with pytest.raises(DataError, match=message):
        read_columns(path, columns=[texts, label], header=False)
    # A number in the place of the label is no name.
    assert len(read_columns(path, columns=["3", "1"])) == 20


def test_ids_are_no_scores(write):
    path = write("".join(f"{i}\tthe review\tsome text {i}\n" for i in range(20)))
    with pytest.raises(DataError, match=r"column 1 should hold scores, but all 20 rows differ"):
        read_columns(path, num_texts=2, is_scored=True)


def test_columns_of_objects(tmp_path):
    """They have names, and no first line that may be a row."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"text1": "a dog", "text2": "dogs"}\n')
    for num_texts, of_what in ((2, "two texts"), (1, "a text")):
        with pytest.raises(DataError, match=f"expected columns of {of_what} and a label"):
            read_columns(path, num_texts=num_texts)
    assert [*read_pairs(path)] == [("a dog", "dogs")]


def test_header_of_unknown_names(write, caplog):
    path = write(f"klass\tbody\n{REVIEWS}")
    with pytest.raises(DataError, match=r"expected columns of a text .* klass '0', body 'the rev"):
        read_columns(path)
    assert len(read_columns(path, columns=["body", "klass"])) == 20
    assert not caplog.messages
    # Numbers of columns need no header; which one it is, is said.
    assert len(read_columns(path, columns=["2", "1"])) == 20
    assert caplog.messages == [
        f"{path}: the first line has the names of columns (if not, add --no-header): klass, body"
    ]


def test_wrong_header(write):
    path = write("label\ttext\npos\ta\nneg\tb\n")
    with pytest.raises(
        DataError, match=r"x\.tsv:1: the first line has the names of columns: label"
    ):
        read_columns(path, header=False)
    path = write("mood\tline\npos\ta\nmood\tline\n")
    with pytest.raises(DataError, match=r"x\.tsv:3: this line repeats the header\. If the first l"):
        read_columns(path, columns=["line", "mood"])
    assert read_columns(path, columns=["2", "1"], header=False)[0].texts == ("line",)


@pytest.mark.parametrize(
    ("score", "expected"),
    [("3,5", 3.5), ("0,125", 0.125), ("2.000", 2.0), ("true", 1.0), ("2,000", None),
     ("1.234,5", None), ("1,234.5", None), ("٣", 3.0)],
)  # fmt: skip
def test_decimal_commas(write, score, expected):
    path = write(f"text1\ttext2\tscore\na\tb\t1\nc\td\t{score}\n")
    if expected is None:
        message = rf"x\.tsv:3: expected a finite number as score, found '{score}', which may be in"
        with pytest.raises(DataError, match=message):
            read_scored_pairs(path)
    else:
        assert read_scored_pairs(path).scores.tolist() == [1.0, expected]
