"""Tables survive JSON, and text from files does no harm in them."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from research.analysis.plot import svg
from research.analysis.table import Curves, Table, cell_text, markdown, rich_tables

CURVES = Curves("pairs", "SL999", {"a": [(1.0, 2.0), (3.0, 4.0)]}, True)
TABLE = Table(
    "T", ("set", "text", "score"), (("a|b", "x\ny <b>", 1.25), ("c", None, 2)), ("n",), CURVES
)


def test_json_round_trip():
    again = Table.from_dict(json.loads(json.dumps(TABLE.to_dict())))
    assert again == TABLE


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, "-"), (1234, "1,234"), (12.34, "12.3"), (0.0123, "0.0123"), (0.0, "0.0"), ("a", "a")],
)
def test_cells(cell, text):
    assert cell_text(cell) == text


def test_markdown_escapes_bars_and_line_ends():
    assert markdown(TABLE).splitlines() == [
        "| set | text | score |", "|---|---|---:|",
        "| a\\|b | x y &lt;b> | 1.2 |", "| c | - | 2 |",
    ]  # fmt: skip


def test_markup_in_cells_is_shown(capsys):
    Console().print(rich_tables(Table("[red]", ("[a]",), (("[bold]x",),))))
    printed = capsys.readouterr().out
    assert "[red]" in printed and "[a]" in printed and "[bold]x" in printed


def test_pictures_are_equal_byte_for_byte():
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    picture = svg(CURVES)
    assert picture == svg(CURVES) and picture.count("<svg") == 1 and "SL999" in picture
