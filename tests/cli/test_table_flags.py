"""Flags that say how a table is read are for the formats that they change."""

from __future__ import annotations

import pytest

from tests.commands import call

ROWS = '{"text": "a red car"}\n{"text": "a red cat"}\n'


@pytest.fixture
def tables(tmp_path):
    """The same texts as JSON lines, as Parquet and as CSV."""
    pandas = pytest.importorskip("pandas")
    json_lines = tmp_path / "texts.jsonl"
    json_lines.write_text(ROWS)
    frame = pandas.read_json(json_lines, lines=True)
    frame.to_parquet(tmp_path / "texts.parquet")
    frame.to_csv(tmp_path / "texts.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "suffix", "message"),
    [
        (["--no-header"], "jsonl", "--no-header is for CSV and TSV"),
        (["--no-header"], "parquet", "--no-header is for CSV and TSV"),
        (["--encoding", "cp1252"], "parquet", "--encoding is for files of text"),
    ],
)
def test_a_flag_without_effect_is_refused(tables, capsys, flags, suffix, message):
    path = tables / f"texts.{suffix}"
    column = ["--on", "text"]
    assert call("dedupe", path, *column, *flags) != 0
    assert message in capsys.readouterr().err
    assert call("match", path, path, *column, *flags) != 0
    assert message in capsys.readouterr().err


def test_one_of_two_tables_is_enough(tables, capsys):
    flags = ["--on", "1", "--no-header", "--on-right", "text"]
    assert call("match", tables / "texts.csv", tables / "texts.jsonl", *flags) == 0
    assert "a red car" in capsys.readouterr().out
