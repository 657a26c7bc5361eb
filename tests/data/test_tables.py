"""Tables of any layout: recognized, read row by row or whole, written."""

from __future__ import annotations

import gzip
import io
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.tables import Rows
from tf_charagram.data.tables import Table, check_table_file
from tf_charagram.errors import ConfigError, DataError

QUORA = (
    '"id","qid1","qid2","question1","question2","is_duplicate"\n'
    '"0","1","2","What is ""it"", really?","What\nis it?","1"\n'
    '"1","3","4","Who, me?","You?","0"\n'
)
EXCEL = "\ufeffKennung;Titel;Preis\r\n1;Stuhl, blau;3,50\r\n2;Tisch;120,00\r\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


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
        ("x.csv", "x,x,\n1,2,3\n", ["x", "x_2", "3"], ["1", "2", "3"]),
        ("x.csv", "Emma,good\nDune,good\n", ["1", "2"], ["Emma", "good"]),
        ("x.txt", "id|name\n1|Emma\n2|Dune\n", ["id", "name"], ["1", "Emma"]),
        ("x.txt", "id,text,label\n1,Emma,2\n", ["id", "text", "label"], ["1", "Emma", "2"]),
        ("x.tsv", '# 2020\n#id\tname\n1\t"Emma" x\n', ["id", "name"], ["1", '"Emma" x']),
        ("x.tsv", '"id"\t"name"\n"1"\t"Em\n""ma"""\n', ["id", "name"], ["1", 'Em\n"ma"']),
        ("x.tsv", 'id\tname\n1\t"an ""Emma"""\n2\t"b"\n', ["id", "name"], ["1", 'an "Emma"']),
        ("x.tsv", '1\t"b" ""\n2\t""\n3\t"""\n', ["1", "2"], ["1", '"b" ""']),
        ("x.tsv", "# x\ty\na\tb\nc\td\n", ["1", "2"], ["a", "b"]),
        ("x.txt", "Smith, John\nDoe, Jane\n", ["text"], ["Smith, John"]),
        ("x.txt", "#first\ttab\na word\nother\n", ["text"], ["#first\ttab"]),
        ("x.txt", "text\nEmma\n", ["text"], ["Emma"]),
        ("x.jsonl", '{"id": 1, "text": "a"}\n\n{"text": "b", "n": [2]}\n', ["id", "text", "n"],
         [1, "a", None]),
    ],
)  # fmt: skip
def test_layouts(write, name, content, columns, first):
    if first is None:
        with pytest.raises(DataError, match=r"x\.csv:2: expected 1 col.* found 2\. There is one"):
            Table.read(write(content, name))
        return
    for path in (write(content, name), write(gzip.compress(content.encode()), f"{name}.gz")):
        table = Table.read(path)
        assert (table.columns, table.rows[0]) == (columns, first)


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
    assert Table.read(write(content, "x.tsv")).columns == ["1", "2"]
    table = Table.read(write(content, "x.tsv"), ["Country", "1"])
    assert (table.columns, table.text_of(["Country", "1"])) == (["city", "country"], ["Italy Rome"])
    assert Table.read(write("city,zip\nRome,x\n", "x.txt"), ["city"]).rows == [["Rome", "x"]]


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"id;text\n1;a\n2;b\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert Table.read("-").text_of() == ["a", "b"]


def test_streams(write):
    content = "id,text\n" + "".join(f"{i},some text\n" for i in range(100_000))
    rows = iter(Rows(write(content)))
    assert next(rows) == (2, ["0", "some text"])
    assert sum(1 for _ in rows) == 99_999


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "", "x.csv: no rows found: the file is empty"),
        ("x.csv", "id,text\n", "x.csv: no rows found: only a header"),
        ("x.csv", 'id,text\n1,"a\n', r"x.csv:2: the row is not valid CSV .*quotes"),
        ("x.csv", "id,text\n1,a\n2,b,c\n", r"x.csv:3: expected 2 .* found 3\. Correct .*ne \(in"),
        ("x.csv", "Report\nid,text\n1,a\n", r"x.csv:1: .* 1\. .* 1 'id', 2 'text'\. .*--on "),
        ("x.jsonl", '{"a": 1}\n{"a"\n', r"x.jsonl:2: expected a JSON object in each line \("),
        ("x.jsonl", '{"a": 1}\n[1]\n', r"x.jsonl:2: expected a JSON .* \(another value\)"),
        ("x.jsonl", '{"a": 1}\n' * 100 + '{"b": 1}', r"x.jsonl:101: has a key .* lack: b\. "),
        ("x.json", '[\n{"a": 1}\n]\n', r"x.json:1: expected a JSON object in each line"),
        ("x.parquet", "PAR1 no", r"x.parquet: cannot be read as Parquet: "),
    ],
)  # fmt: skip
def test_errors(write, name, content, message):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=message):
        Table.read(write(content, name))


def test_bad_lines_can_be_skipped(write):
    bad = BadLines("skip")
    table = Table.read(write("id,text\n1,a\n2\n3,c\n"), on_bad_line=bad)
    assert (table.text_of(["text"]), bad.count) == (["a", "c"], 1)


def test_text_of():
    table = Table(["id", "name", "city"], [[1, " Emma ", None], [2.5, "", float("nan")]])
    assert table.text_of() == ["Emma", ""]
    assert table.text_of(["city", "name", "id"]) == ["Emma 1", "2.5"]
    with pytest.raises(ConfigError, match=r"Unknown column 'nam'\. Did you mean 'name'\? Avail"):
        table.text_of(["nam"])
    with pytest.raises(
        ConfigError, match=r"`on` must name the columns of the texts. Available: 1, 2\."
    ):
        Table(["1", "2"], []).text_of()
    table.add("name", [True, ["é"]])
    assert table.columns[-1] == "name_2" and table.text_of(["4"]) == ["true", '["é"]']


TABLE = Table(["id", "text", "tags"], [[1, 'a "b",\tc;\nd', ["x"]], [None, "é", 2.5]])


@pytest.mark.parametrize(
    ("name", "separator", "expected"),
    [
        ("x.csv", ",", 'id,text,tags\n1,"a ""b"",\tc;\nd","[""x""]"\n,é,2.5\n'),
        ("x.csv", "\t", 'id,text,tags\n1,"a ""b"",\tc;\nd","[""x""]"\n,é,2.5\n'),
        ("x.csv", ";", 'id;text;tags\n1;"a ""b"",\tc;\nd";"[""x""]"\n;é;2.5\n'),
        ("x.tsv", ",", 'id\ttext\ttags\n1\ta "b", c; d\t["x"]\n\té\t2.5\n'),
        ("-", "\t", 'id\ttext\ttags\n1\ta "b", c; d\t["x"]\n\té\t2.5\n'),
        ("-", ",", 'id,text,tags\n1,"a ""b"",\tc;\nd","[""x""]"\n,é,2.5\n'),
    ],
)
def test_text_is_written(tmp_path, capsys, name, separator, expected):
    table = Table(TABLE.columns, TABLE.rows, separator)
    table.write(name if name == "-" else tmp_path / name)
    written = capsys.readouterr().out if name == "-" else (tmp_path / name).read_text()
    assert written == expected


def test_json_is_written(tmp_path):
    TABLE.write(tmp_path / "x.jsonl")
    first, second = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    assert first == {"id": 1, "text": 'a "b",\tc;\nd', "tags": ["x"]}
    assert second == {"id": None, "text": "é", "tags": 2.5}
    assert Table.read(tmp_path / "x.jsonl") == TABLE


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    TABLE.write(tmp_path / "x.parquet")
    table = Table.read(tmp_path / "x.parquet", ["text"])
    assert table.columns == TABLE.columns
    assert table.rows == [[1, 'a "b",\tc;\nd', '["x"]'], [None, "é", "2.5"]]


def test_parquet_needs_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match=r"pip install 'tf-charagram\[parquet\]'"):
        check_table_file("x.parquet")


def test_unknown_suffix(tmp_path):
    with pytest.raises(ConfigError, match=r"must end in \.csv, .* Received: x\.xlsx"):
        TABLE.write("x.xlsx")


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=9)] * 2), min_size=2
    )
)
def test_csv_round_trip(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("round") / "x.csv"
    # Python reads a lone carriage return as the end of a line.
    rows = [[cell.replace("\r", "") for cell in row] for row in cells]
    table = Table(["text", "label"], [row for row in rows if any(map(str.strip, row))])
    table.write(path)
    if table.rows:
        assert Table.read(path).rows == table.rows


def test_broken_surrogates(write):
    table = Table.read(write('{"text": "a\\ud83d"}\n{"text": "\\ud83d\\ude00"}\n', "x.jsonl"))
    assert table.text_of() == ["a?", "\U0001f600"]
