"""Tables of any layout, recognized and read row by row."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from tf_charagram.data.readers.tables import Rows
from tf_charagram.data.tables import Table
from tf_charagram.errors import DataError

QUORA = (
    '"id","qid1","qid2","question1","question2","is_duplicate"\n'
    '"0","1","2","What is ""it"", really?","What\nis it?","1"\n'
    '"1","3","4","Who, me?","You?","0"\n'
)
EXCEL = "\ufeffKennung;Titel;Preis\r\n1;Stuhl, blau;3,50\r\n2;Tisch;120,00\r\n"


def read(path, columns=()):
    """Returns the names of the columns and the cells of the rows."""
    rows = Rows(path, columns)
    return rows.names, [cells for _, cells in rows]


@pytest.mark.parametrize(
    ("name", "content", "columns", "first"),
    [
        ("x.csv", QUORA, ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"],
         ["0", "1", "2", 'What is "it", really?', "What\nis it?", "1"]),
        ("x.csv", EXCEL, ["Kennung", "Titel", "Preis"], ["1", "Stuhl, blau", "3,50"]),
        ("x.csv", "1;a, b;3,5\n2;c;4,5\n", ["1", "2", "3"], ["1", "a, b", "3,5"]),
        ("x.csv", "id\tname\n1\ta\n", ["id", "name"], ["1", "a"]),
        ("x.csv", "text\nhello, you\n", ["text"], None),
        ("x.csv", "text\n\"hello, you\"\n", ["text"], ["hello, you"]),
        ("x.csv", "title,author\nEmma,Austen\nDune,Herbert\n", ["title", "author"],
         ["Emma", "Austen"]),
        ("x.csv", ",title\n0,Emma\n1,Dune\n", ["1", "title"], ["0", "Emma"]),
        ("x.csv", "x,x,\n1,2,3\n", ["x", "x", "3"], ["1", "2", "3"]),
        ("x.csv", "Emma,good\nDune,good\n", ["1", "2"], ["Emma", "good"]),
        ("x.txt", "id|name\n1|Emma\n2|Dune\n", ["id", "name"], ["1", "Emma"]),
        ("x.txt", "id,text,label\n1,Emma,2\n", ["id", "text", "label"], ["1", "Emma", "2"]),
        ("x.tsv", '# 2020\n#id\tname\n1\t"Emma" x\n', ["id", "name"], ["1", '"Emma" x']),
        ("x.tsv", '"id"\t"name"\n"1"\t"Em\n""ma"""\n', ["id", "name"], ["1", 'Em\n"ma"']),
        ("x.tsv", 'id\tname\n1\t"an ""Emma"""\n2\t"b"\n', ["id", "name"], ["1", 'an "Emma"']),
        ("x.tsv", '1\t"b" ""\n2\t""\n3\t"""\n', ["1", "2"], ["1", '"b" ""']),
        ("x.tsv", "# x\ty\na\tb\nc\td\n", ["1", "2"], ["a", "b"]),
        ("x.txt", "Smith, John\nDoe, Jane\n", ["1"], ["Smith, John"]),
        ("x.txt", "#first\ttab\na word\nother\n", ["1"], ["#first\ttab"]),
        ("x.txt", "text\nEmma\n", ["text"], ["Emma"]),
        ("x.jsonl", '{"id": 1, "text": "a"}\n\n{"text": "b", "n": [2]}\n', ["id", "text", "n"],
         [1, "a", None]),
        ("x.json", '[\n{"id": 1, "text": "a"},\n{"text": "b"}]\n', ["id", "text"], [1, "a"]),
        ("x", '{"id": 1, "text": "a"}\n', ["id", "text"], [1, "a"]),
        ("x.tsv", "{a}\tb\n{c}\td\n", ["1", "2"], ["{a}", "b"]),
    ],
)  # fmt: skip
def test_layouts(write, name, content, columns, first):
    if first is None:
        with pytest.raises(DataError, match=r"x\.csv:2: expected 1 col.* found 2\. There is one"):
            read(write(content, name))
        return
    for path in (write(content, name), write(gzip.compress(content.encode()), f"{name}.gz")):
        names, rows = read(path)
        assert (names, rows[0]) == (columns, first)


def test_recognized_separators_are_said_once(write, caplog):
    path = write(EXCEL)
    for _ in range(2):
        list(Rows(path))
    message = "columns are separated by semicolons, not by commas"
    assert [record.getMessage() for record in caplog.records] == [f"{path}: {message}"]


def test_a_guessed_header_is_said(write, caplog):
    list(Rows(write("title,author\nEmma,Austen\n")))
    assert "the first line is taken for names of columns: title, author" in caplog.text


def test_a_header_by_the_names_asked_for(write):
    content = "city\tcountry\nRome\tItaly\n"
    assert read(write(content, "x.tsv"))[0] == ["1", "2"]
    table = Rows(write(content, "x.tsv"), ["Country", "1"])
    assert [table.index(column) for column in ("Country", "1")] == [1, 0]
    assert read(write("city,zip\nRome,x\n", "x.txt"), ["city"])[1] == [["Rome", "x"]]


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"id;text\n1;a\n2;b\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-") == (["id", "text"], [["1", "a"], ["2", "b"]])


def test_streams(write):
    content = "id,text\n" + "".join(f"{i},some text\n" for i in range(100_000))
    rows = iter(Rows(write(content)))
    assert next(rows) == (2, ["0", "some text"])
    assert sum(1 for _ in rows) == 99_999


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", 'id,text\n1,"a\n', r"x.csv:2: the row is not valid CSV .*quotes"),
        ("x.csv", "id,text\n1,a\n2,b,c\n", r"x.csv:3: expected 2 .* found 3\. Correct the line, o"),
        ("x.csv", "Report\nid,text\n1,a\n", r"x.csv:1: .* 1\. .* 1 'id', 2 'text'\. .*--columns"),
        ("x.jsonl", '{"a": 1}\n{"a"\n', r"x.jsonl:2: expected a JSON object in each line \("),
        ("x.jsonl", '{"a": 1}\n[1]\n', r"x.jsonl:2: expected a JSON .* another value"),
        ("x.parquet", "PAR1 no", r"x.parquet: cannot be read as Parquet: "),
    ],
)
def test_errors(write, name, content, message):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=message):
        read(write(content, name))


def test_keys_that_come_late(write):
    content = '{"a": 1}\n' * 100 + '{"a": 2, "b": 3}\n'
    path = write(content, "x.jsonl")
    assert read(path) == (["a"], [[1]] * 100 + [[2]])
    assert read(path, ["b", "1"])[1][99:] == [[1, None], [2, 3]]


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    Table(["id", "text"], [[1, None], ["a", "b"]]).write(tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == (["id", "text"], [[1, "a"], [None, "b"]])


def test_a_long_text(write):
    text = "x" * 200_000
    assert read(write(f"text1,text2\n{text},b\n"))[1] == [[text, "b"]]
