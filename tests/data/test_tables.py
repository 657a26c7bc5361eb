"""Tables in memory: texts of columns, new columns, and files that are read again as written."""

from __future__ import annotations

import csv
import decimal
import io
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tf_charagram.data._tables.table_reading import read_table
from tf_charagram.data._tables.tables import Table, check_table_file
from tf_charagram.errors import ConfigError, DataError, RunError


def test_text_of():
    table = Table(["id", "name", "city"], [[1, 2.5], [" Emma ", ""], [None, float("nan")]])
    assert table.text_of() == ["Emma", ""]
    assert table.text_of(["city", "name", "id"]) == ["Emma 1", "2.5"]
    with pytest.raises(ConfigError, match=r"Unknown column 'nam'\. Did you mean 'name'\? Avail"):
        table.text_of(["nam"])
    with pytest.raises(
        ConfigError, match=r"`on` must name the columns of the texts. Available: 1, 2\."
    ):
        Table(["1", "2"], [[], []]).text_of()
    table.add("name", [True, ["é"]])
    assert table.columns[-1] == "name_2"
    with pytest.raises(DataError, match=r"table: row 2: column name_2 has an array, not a text"):
        table.text_of(["4"])


def test_rows_and_some_of_them():
    table = Table(["x", "x"], [["a", "b"], [1, 2]])
    assert table.rows == [{"x": "a", "x_2": 1}, {"x": "b", "x_2": 2}]
    assert table.take([1, None, 1]).cells == [["b", None, "b"], [2, None, 2]]
    assert len(table) == 2
    assert table.column("2") == ["1", "2"]
    with pytest.raises(
        ConfigError, match=r"2 columns are named 'x'\. Give one by its number: 1, 2"
    ):
        table.column("x")


TABLE = Table(["id", "text", "tags"], [[1, None], ['a "b",\tc;\nd', " é "], [["x"], 2.5]])
TAB = 'id\ttext\ttags\n1\t"a ""b"",\tc;\nd"\t["x"]\n\t é \t2.5\n'


@pytest.mark.parametrize(
    ("name", "separator", "expected"),
    [
        ("x.csv", ",", 'id,text,tags\n1,"a ""b"",\tc;\nd","[""x""]"\n, é ,2.5\n'),
        ("x.csv", "\t", 'id,text,tags\n1,"a ""b"",\tc;\nd","[""x""]"\n, é ,2.5\n'),
        ("x.csv", ";", 'id;text;tags\n1;"a ""b"",\tc;\nd";"[""x""]"\n; é ;2.5\n'),
        ("x.tsv", ",", TAB),
        ("-", "\t", TAB),
        ("-", ",", 'id,text,tags\n1,"a ""b"",\tc;\nd","[""x""]"\n, é ,2.5\n'),
    ],
)
def test_text_is_written(tmp_path, capsys, name, separator, expected):
    table = Table(TABLE.columns, TABLE.cells, separator)
    table.write(name if name == "-" else tmp_path / name)
    written = capsys.readouterr().out if name == "-" else (tmp_path / name).read_text()
    assert written == expected


def test_tabs_keep_quotes_inside_of_cells(tmp_path):
    cells = [['5" disk', '"Emma" x', 'say "a ""b"""', " x  y "]]
    Table(["a"], cells).write(tmp_path / "x.tsv")
    lines = (tmp_path / "x.tsv").read_text().splitlines()
    assert lines == ["a", '5" disk', '"""Emma"" x"', 'say "a ""b"""', " x  y "]
    assert read_table(tmp_path / "x.tsv").cells == cells


def test_json_is_written(tmp_path):
    TABLE.write(tmp_path / "x.jsonl")
    first, second = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    assert first == {"id": 1, "text": 'a "b",\tc;\nd', "tags": ["x"]}
    assert second == {"id": None, "text": " é ", "tags": 2.5}
    assert read_table(tmp_path / "x.jsonl") == TABLE


def test_parquet_of_mixed_types(tmp_path):
    pytest.importorskip("pyarrow")
    table = Table([*TABLE.columns, "id"], [*TABLE.cells, [2**64 - 1, None]])
    table.write(tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet").rows == [
        {"id": 1, "text": 'a "b",\tc;\nd', "tags": '["x"]', "id_2": str(2**64 - 1)},
        {"id": None, "text": " é ", "tags": "2.5", "id_2": None},
    ]


@pytest.fixture
def typed(tmp_path):
    """Returns an Arrow table with columns of many types, and its file."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    types = {
        "i": ([1, None], arrow.int32()),
        "f": ([0.1, float("nan")], arrow.float32()),
        "u": ([2**64 - 1, 1], arrow.uint64()),
        "d": ([decimal.Decimal("1.10"), None], arrow.decimal128(9, 2)),
        "ns": ([1, 1577836800000000001], arrow.timestamp("ns")),
        "zone": ([1, 2], arrow.timestamp("us", "Europe/Rome")),
        "map": ([[("k", 1)], []], arrow.map_(arrow.string(), arrow.int8())),
        "bytes": ([b"\xff", b"x"], arrow.binary()),
        "list": ([[1], None], arrow.list_(arrow.int16())),
        "bool": ([True, None], arrow.bool_()),
        "struct": ([{"x": 1}, None], arrow.struct([("x", arrow.int8())])),
        "name": (["a", "b"], arrow.large_string()),
    }
    table = arrow.table({name: arrow.array(*made) for name, made in types.items()})
    table = table.append_column("dict", arrow.array(["a", "b"]).dictionary_encode())
    parquet.write_table(table, tmp_path / "x.parquet")
    return table, tmp_path / "x.parquet"


def test_parquet_keeps_types(typed, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    expected, path = typed
    table = read_table(path)
    table.add("score", [0.5, None])
    table.write(tmp_path / "y.parquet")
    written = parquet.read_table(tmp_path / "y.parquet")
    assert written.select(expected.column_names).schema.types == expected.schema.types
    assert written.select(expected.column_names).slice(0, 1).equals(expected.slice(0, 1))
    taken = table.take([1, None, 0])
    assert [cells.type for cells in taken.cells[:-1]] == expected.schema.types
    assert taken.column("d") == ["", "", "1.10"]


def test_parquet_as_text(typed, tmp_path):
    _, path = typed
    table = read_table(path)
    columns = ["i", "f", "u", "d"]
    assert list(zip(*map(table.column, columns), strict=True)) == [
        ("1", "0.1", "18446744073709551615", "1.10"),
        ("", "", "1", ""),
    ]
    times = table.column("ns")
    assert times == ["1970-01-01 00:00:00.000000001", "2020-01-01 00:00:00.000000001"]
    assert table.column("dict") == ["a", "b"]
    for name in ("map", "list", "struct"):
        with pytest.raises(DataError, match=f"row 1: column {name} has an (array|object), not a"):
            table.column(name)
    for name in ("x.csv", "x.tsv", "x.jsonl"):
        with pytest.raises(DataError, match=r"row 1: column bytes has bytes that are not UTF-8"):
            table.write(tmp_path / name)
    names = [name for name in table.columns if name != "bytes"]
    texts = Table(names, [table.cells[table.index(name)] for name in names])
    for name in ("x.csv", "x.tsv", "x.jsonl"):
        texts.write(tmp_path / name)
        written = read_table(tmp_path / name)
        assert written.column("name") == ["a", "b"]
        assert name == "x.jsonl" or written.column("map")[0] == '[["k", 1]]'


def test_parquet_keeps_metadata(tmp_path):
    """As polars writes an `Enum`, pandas its index, and GeoParquet its columns."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = arrow.array(["x", "y"]).dictionary_encode()
    field = arrow.field("e", values.type, nullable=False, metadata={"_PL_ENUM_VALUES2": "1;y1;x"})
    schema = arrow.schema([("text", arrow.string()), field], metadata={"geo": '{"version": 1}'})
    parquet.write_table(arrow.table([["a", "b"], values], schema=schema), tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet")
    left = table.take([1, None])
    left.add("score", [1.0, None])
    left.add_columns_of(table)
    left.write(tmp_path / "y.parquet")
    written = parquet.read_schema(tmp_path / "y.parquet")
    assert written.names == ["text", "e", "score", "text_2", "e_2"]
    assert written.metadata[b"geo"] == b'{"version": 1}'
    for name in ("e", "e_2"):
        assert written.field(name).metadata[b"_PL_ENUM_VALUES2"] == b"1;y1;x"


def test_objects_without_keys(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "x.jsonl").write_text('{"text": "a", "b": {}, "c": [{}]}\n{"text": "b"}\n')
    read_table(tmp_path / "x.jsonl").write(tmp_path / "x.parquet")
    written = parquet.read_table(tmp_path / "x.parquet")
    assert written.to_pylist()[0] == {"text": "a", "b": "{}", "c": "[{}]"}


def test_parquet_needs_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match=r"pip install .*\[parquet\]'"):
        check_table_file("x.parquet")


def test_unknown_suffix():
    with pytest.raises(ConfigError, match=r"must end in \.csv, .* Received: x\.xlsx"):
        TABLE.write("x.xlsx")


def test_standard_output_that_lacks_a_letter(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(RunError, match=r"cannot show '\\xe9', because its encoding is ascii\. Wri"):
        TABLE.write("-")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@settings(max_examples=50)
@given(data=st.data(), num_columns=st.integers(1, 3))
def test_round_trip(tmp_path_factory, suffix, data, num_columns):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    # Characters with a meaning, and any others.
    letters = st.sampled_from('\r\n\t",;| #') | st.characters(exclude_categories=["Cs"])
    cell = st.text(letters, max_size=6)
    row = st.lists(cell, min_size=num_columns, max_size=num_columns)
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    names = [f"c{number}" for number in range(num_columns)]
    path = tmp_path_factory.mktemp("round") / f"x{suffix}"
    Table(names, [list(cells) for cells in zip(*rows, strict=True)]).write(path)
    table = read_table(path)
    assert table.columns == names
    assert [list(cells.values()) for cells in table.rows] == rows
    if suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            assert list(csv.reader(file))[1:] == rows
