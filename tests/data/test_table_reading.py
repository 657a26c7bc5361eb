"""`read_table` on files that readers get wrong: format by name, header by convention."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import tracemalloc

import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.table_reading import Rows, read_table
from tf_charagram.errors import ConfigError, DataError

HUGE = "x" * 3_000_000
LATE_KEY = '{"a": "1"}\n' * 3000 + '{"b": "2"}\n'


def rows(table):
    return [list(row.values()) for row in table.rows]


# Name, content, columns, and rows.
FILES = [
    # The first line is the header, whatever it looks like.
    ("x.csv", "company\nAcme\nBeta\n", ["company"], [["Acme"], ["Beta"]]),
    ("x.csv", "a,b\na,b\nc,d\n", ["a", "b"], [["a", "b"], ["c", "d"]]),
    ("x.csv", ",title\n0,Emma\n", ["", "title"], [["0", "Emma"]]),
    ("x.csv", "x,x\n1,2\n", ["x", "x"], [["1", "2"]]),
    ("x.csv", "1,2\n3,4\n", ["1", "2"], [["3", "4"]]),
    ("x.tsv", "city\tzip\nRome\t00100\n", ["city", "zip"], [["Rome", "00100"]]),
    ("x.csv", '2020,"last, first"\n1,2\n', ["2020", "last, first"], [["1", "2"]]),
    # Cells stay as they are.
    ("x.csv", "id,name\n#1,a\n# 2,b\n", ["id", "name"], [["#1", "a"], ["# 2", "b"]]),
    ("x.csv", "n,d\n007,NA\n1.10,\n", ["n", "d"], [["007", "NA"], ["1.10", ""]]),
    ("x.tsv", "a\tb\n  x  y \t2\n", ["a", "b"], [["  x  y ", "2"]]),
    ("x.csv", 'a,b\n" x ""y"", z\nw ",2\n', ["a", "b"], [[' x "y", z\nw ', "2"]]),
    ("x.csv", 'a,b\n5" disk,2\n', ["a", "b"], [['5" disk', "2"]]),
    ("x.csv", 'a,b\n"x\ry",2\n', ["a", "b"], [["x\ry", "2"]]),
    ("x.csv", "a,b\nx\0y,2\n", ["a", "b"], [["x\0y", "2"]]),
    ("x.csv", f"a,b\n{HUGE},2\n", ["a", "b"], [[HUGE, "2"]]),
    ("x.csv", "a\n{x}\n", ["a"], [["{x}"]]),
    ("x.tsv", 'a\tb\n"x\ty"\t"z\nw"\n', ["a", "b"], [["x\ty", "z\nw"]]),
    ("x.tsv", 'a\tb\n"Emma" x\t5"\n"y\t3\n', ["a", "b"], [['"Emma" x', '5"'], ['"y', "3"]]),
    # Empty cells and lines.
    ("x.csv", "name\na\n\nb\n", ["name"], [["a"], [""], ["b"]]),
    ("x.csv", '"name"\n"a"\n""\n', ["name"], [["a"], [""]]),
    ("x.csv", "\na,b\n\n1,2\n  \n,\n", ["a", "b"], [["1", "2"], ["", ""]]),
    ("x.tsv", "a\tb\n\n1\t2\n\t\n", ["a", "b"], [["1", "2"], ["", ""]]),
    # Separators.
    ("x.csv", "sep=;\r\nname;x\r\na, b;1\r\n", ["name", "x"], [["a, b", "1"]]),
    ("x.csv", "sep=\t\nname\tx\na\t1\n", ["name", "x"], [["a", "1"]]),
    ("x.csv", "name;x\na, b;1\n", ["name", "x"], [["a, b", "1"]]),
    ("x.csv", '"a;b;c",d\n1,2\n', ["a;b;c", "d"], [["1", "2"]]),
    ("x.csv", "a|b\n1|2\n", ["a", "b"], [["1", "2"]]),
    ("x.csv", "a\tb\n1\t2\n", ["a", "b"], [["1", "2"]]),
    ("x.csv", "a,b\r1,2\r", ["a", "b"], [["1", "2"]]),
    ("x.txt", "a\rb\r", ["text"], [["a"], ["b"]]),
    # The rows tell the separator, not the header alone.
    ("x.csv", "Artikel;Preis (netto, EUR)\nStuhl, blau;3\nTisch;120\n",
     ["Artikel", "Preis (netto, EUR)"], [["Stuhl, blau", "3"], ["Tisch", "120"]]),
    ("x.csv", "id,tags\n1,a;b\n2,c;d\n", ["id", "tags"], [["1", "a;b"], ["2", "c;d"]]),
    ("x.csv", "text\na; b\nc; d\n", ["text"], [["a; b"], ["c; d"]]),
    ("x.csv", 'Kennung;Titel;Preis\r\n1;"Stuhl; ""blau""";3,50\r\n',
     ["Kennung", "Titel", "Preis"], [["1", 'Stuhl; "blau"', "3,50"]]),
    ("x.tab", '"id"\t"name"\n"1"\t"Em\n""ma"""\n', ["id", "name"], [["1", 'Em\n"ma"']]),
    ("x.tsv", '"id"\t"name"\n"1"\t"an ""Emma"""\n', ["id", "name"], [["1", 'an "Emma"']]),
    # Encodings.
    ("x.csv", b"\xef\xbb\xbfname,x\r\na,1\r\n", ["name", "x"], [["a", "1"]]),
    ("x.csv", "café,x\nñ,1\n".encode("utf-16"), ["café", "x"], [["ñ", "1"]]),
    ("x.txt", "\ufeffñ\n".encode("utf-16-be"), ["text"], [["ñ"]]),
    # JSON.
    ("x.jsonl", '{"id": 1, "a": "x"}\n\n{"a": null, "n": [2]}\n', ["id", "a", "n"],
     [[1, "x", None], [None, None, [2]]]),
    ("x.json", '{"a": 1}\n{"a": 2}\n', ["a"], [[1], [2]]),
    ("x.json", '{"a": 1, "b": "x"}', ["a", "b"], [[1, "x"]]),
    ("x.json", '[{"a": 1},\n {"a": "2", "b": {"c": 3}}]', ["a", "b"],
     [[1, None], ["2", {"c": 3}]]),
    ("x.ndjson", LATE_KEY, ["a", "b"], [["1", None]] * 3000 + [[None, "2"]]),
    ("x.jsonl", '{"a": "\\ud83d"}\n{"a": "\\ud83d\\ude00"}\n', ["a"], [["?"], ["\U0001f600"]]),
    # Lists of lines.
    ("x.txt", "Smith, John\n\n{Doe}\t \r\n", ["text"], [["Smith, John"], [""], ["{Doe}\t "]]),
    ("x", "text\nEmma\rDune", ["text"], [["text"], ["Emma\rDune"]]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "columns", "expected"), FILES)
def test_files(write, name, content, columns, expected):
    raw = content if isinstance(content, bytes) else content.encode()
    for path in (write(raw, name), write(gzip.compress(raw), f"{name}.gz")):
        table = read_table(path)
        assert table.columns == columns
        assert rows(table) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.csv", "company\nAcme\n", [["company"], ["Acme"]]),
        ("x.csv", "a;b, c;\n\n1;2;\n", [["a", "b, c", ""], ["1", "2", ""]]),
        ("x.tsv", "id\ttext\n1\ta\n", [["id", "text"], ["1", "a"]]),
    ],
)
def test_no_header(write, name, content, expected):
    table = read_table(write(content, name), header=False)
    assert table.columns == ["1", "2", "3"][: len(expected[0])]
    assert rows(table) == expected


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "shift_jis"])
def test_encodings(write, encoding):
    text = "name,x\nテ,1\n" if encoding == "shift_jis" else "name,x\nCafé Zoë,1\n"
    path = write(text.encode(encoding))
    with pytest.raises(DataError, match=r"x\.csv(:2: is not UTF-8 here|: looks like UTF-16)\. Nam"):
        read_table(path)
    assert read_table(path, encoding=encoding).rows[0]["name"] in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "", "x.csv: no rows found: the file is empty"),
        ("x.csv", "\n \n", "x.csv: no rows found: "),
        ("x.csv", "id,text\n", "x.csv: no rows found: only a header"),
        ("x.txt", "", "x.txt: no rows found: the file is empty"),
        ("x.json", "[]", "x.json: no rows found: the file is empty"),
        ("x.csv", 'id,text\n1,"a\n2,b\n', r"x.csv:2: the row is not valid CSV .* Check its quotes"),
        ("x.csv", 'id,text\n1,"a"b\n2,b\n', r"x.csv:2: the row is not valid CSV "),
        ("x.csv", "id,text\n1,a\n2,b,c\n", r"x.csv:3: expected 2 columns as .* found 3\. .*--on-b"),
        ("x.csv", "id,text\n1,a\n2\n", r"x.csv:3: expected 2 columns as in the first row, found 1"),
        ("x.csv", "text\nhello, you\n", r"x.csv:2: expected 1 column as in the first row, found 2"),
        ("x.tsv", "id\ttext\n1\ta\tb\n", r"x.tsv:2: expected 2 columns as in the first row, found"),
        ("x.csv", 'sep=;\nid;text\n"a\nb";1\n2\n', r"x.csv:5: expected 2 columns"),
        ("x.jsonl", '{"a": 1}\n{"a"\n', r"x.jsonl:2: expected a JSON object in each line \("),
        ("x.jsonl", '{"a": 1}\n2\n', r"x.jsonl:2: expected a JSON .* found another value"),
        ("x.json", '[{"a": 1}, 2]', r"x.json:2: expected a JSON object in each item, .*found anot"),
        ("x.jsonl", '["a", "b"]\n', r"x.jsonl:1: expected a JSON object in each line, .* an array"),
        ("x.json", '{"a": {"0": "x"}, "b": {"0": "y"}}', r"x.json: expected an object per row"),
        ("x.json", '{"data": [{"a": 1}], "n": 1}', r"one object of arrays .* orient='records'"),
        ("x.jsonl", '{"a": {"0": "x"}}\n', r"x.jsonl: expected an object per row"),
        ("x.jsonl", "{}\n{}\n", r"x.jsonl: no columns found: all objects are empty"),
        ("x.csv", "Artikel;Preis (netto, EUR)\nStuhl;3,50\nTisch;9,00\n",
         r"x.csv: commas or semicolons may separate its columns: .* such as sep=;"),
        ("x.json", '[\n{"a": 1}\n', r"x.json: is not valid JSON \("),
        ("x.parquet", "PAR1 no", r"x.parquet: cannot be read as Parquet: "),
        ("x.csv", b"PK\x03\x04", r"x.csv: is zip\. Convert it"),
        ("x.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9], r"gz:3: the gzip data is truncated"),
    ],
)  # fmt: skip
def test_errors(write, name, content, message):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=message):
        read_table(write(content, name))


@pytest.mark.parametrize("name", ["no.csv", "no.txt", "no.json", "no.parquet"])
def test_missing_files(tmp_path, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=rf"{name}: cannot be read.*No such file"):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "expected", "num_bad"),
    [
        ("x.csv", "id,text\n1,a\n2\n3,c\n4,d,e\n", [["1", "a"], ["3", "c"]], 2),
        ("x.csv", 'id,text\n1,"a\n2,b\n3,c\n', [["2", "b"], ["3", "c"]], 1),
        ("x.csv", 'id,text\n1,"a"b\n2,"b\nc"\n3,"d\n', [["2", "b\nc"]], 2),
        ("x.tsv", "id\ttext\n1\n2\tb\n", [["2", "b"]], 1),
        ("x.jsonl", '{"a": 1}\n{"a"\n[2]\n{"a": 3}\n', [[1], [3]], 2),
        ("x.json", '[{"a": 1}, 2, {"a": 3}]', [[1], [3]], 1),
    ],
)
def test_bad_rows_can_be_skipped(write, name, content, expected, num_bad):
    bad = BadLines("skip")
    assert rows(read_table(write(content, name), on_bad_line=bad)) == expected
    assert bad.count == num_bad


def test_wrong_arguments(write):
    with pytest.raises(ConfigError, match="Python does not know the encoding 'latn'"):
        read_table(write("a\nb\n"), encoding="latn")
    with pytest.raises(ConfigError, match="Did you mean 'skip'"):
        read_table(write("a\nb\n"), on_bad_line="skp")


def test_standard_input_has_lines(monkeypatch):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"id,text\n1,a\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_table("-").text_of() == ["id,text", "1,a"]


def test_a_separator_or_quotes_that_surprise_are_said(write, caplog):
    path = write("a;b\n1;2\n")
    for _ in range(2):
        read_table(path)
    message = "columns are separated by semicolons, not by commas"
    assert [record.getMessage() for record in caplog.records] == [f"{path}: {message}"]
    read_table(write('a\tb\n"x" y\t2\n', "x.tsv"))
    assert "x.tsv: quotes are read as characters" in caplog.text


def test_quotes_of_tsv_are_told_without_the_whole_file_in_memory(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\n" + ('"' + 500 * "x" + '"\ty\n') * 6000)
    tracemalloc.start()
    try:
        names = Rows(path).names
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert names == ["a", "b"]
    assert peak < path.stat().st_size * 0.6


def test_the_limit_of_other_readers_stays(write):
    before = csv.field_size_limit()
    read_table(write(f"a,b\n{HUGE},2\n"))
    assert csv.field_size_limit() == before


def test_names_of_columns(write):
    path = write('2020,"last, first",Cafe\u0301,café\n1,2,3,4\n')
    table = read_table(path)
    names = ["2020", "last, first", "cafe\u0301", "CAFÉ", "café", "1", "4"]
    found = [table.column(name) for name in names]
    assert found == [["1"], ["2"], ["4"], ["3"], ["4"], ["1"], ["4"]]
    with pytest.raises(ConfigError, match="Unknown column '5'"):
        table.column("5")


def test_rows_stream(write):
    content = "id,text\n" + "".join(f"{i},some text\n" for i in range(100_000))
    rows = iter(Rows(write(content)))
    assert next(rows) == (2, ["0", "some text"])
    assert sum(1 for _ in rows) == 99_999


def test_keys_that_come_late(write):
    content = '{"a": 1}\n' * 1000 + '{"a": 2, "b": 3}\n'
    path = write(content, "x.jsonl")
    assert Rows(path).names == ["a"]
    rows = Rows(path, columns=["b", "1"])
    assert list(rows.texts([1, 0]))[999:] == [(1000, ["", "1"]), (1001, ["3", "2"])]


@pytest.mark.parametrize("num_rows", [900, 1100])
def test_quotes_below_the_first_lines(write, num_rows):
    row = '1\t"a\nb"\n'
    table = read_table(write("id\ttext\n" + row * num_rows, "x.tsv"))
    assert rows(table) == [["1", "a\nb"]] * num_rows


@pytest.mark.parametrize("num_rows", [1, 3000])
@pytest.mark.parametrize(
    "quoted", [['"b', "c"], ['"b" c', "d"], ['"', "c", '"', "d"], ['"b"', '"c', 'd"']]
)
def test_quotes_that_are_characters(write, num_rows, quoted):
    texts = ["a"] * num_rows + quoted
    content = "".join(f"{text}\t1\n" for text in ["text", *texts])
    table = read_table(write(content, "x.tsv"))
    assert table.column("text") == texts
    assert [cells for _, cells in Rows(write(content, "x.tsv"))] == rows(table)


def test_cells_that_are_no_texts(write, caplog):
    path = write('{"a": "x", "b": ["y"]}\n{"a": {"c": 1}, "b": null}\n', "x.jsonl")
    for read in (
        lambda name: read_table(path).column(name),
        lambda name: list(Rows(path).texts([["a", "b"].index(name)])),
    ):
        with pytest.raises(DataError, match=r"2: column a has an object, not a text, .*Choose a c"):
            read("a")
        with pytest.raises(DataError, match=r"1: column b has an array, not a text, such as \['y'"):
            read("b")
    bad = BadLines("skip")
    assert list(Rows(path, on_bad_line=bad).texts([0])) == [(1, ["x"])] and bad.count == 1


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_bytes_of_parquet(tmp_path, compression):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    table = arrow.table({"a": [b"caf\xc3\xa9", b"x", None], "b": [b"y", b"\xff", b"z"]})
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, path, compression=compression)
    assert read_table(path).column("a") == ["café", "x", ""]
    assert list(Rows(path).texts([0])) == [(1, ["café"]), (2, ["x"]), (3, [""])]
    message = r"2: column b has bytes that are not UTF-8, b'\\xff'\. Write"
    with pytest.raises(DataError, match=message):
        list(Rows(path).texts([0, 1]))
    with pytest.raises(DataError, match=f"row {message}"):
        read_table(path).column("b")
    with pytest.raises(DataError, match=f"row {message}"):
        read_table(path).write(tmp_path / "x.jsonl")
    read_table(path).write(tmp_path / "y.parquet")
    assert read_table(tmp_path / "y.parquet").column("a")[0] == "café"
