"""`charagram models` lists what ships."""

from __future__ import annotations

import pytest

from tests.commands import call
from tests.shipped import NAME, ship_tiny
from tf_charagram.models._storage import locations


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(locations, "PRETRAINED", tmp_path)
    ship_tiny(tmp_path)
    return tmp_path / NAME


def test_table(shipped, capsys):
    assert call("models") == 0
    printed = capsys.readouterr().out
    (row,) = (line for line in printed.splitlines() if NAME in line)
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:6] == [NAME, "Cats and dogs", "STS 71.5", "Apache-2.0", "0.0", "6"]


def test_nothing_ships(shipped, monkeypatch, capsys):
    monkeypatch.setattr(locations, "PRETRAINED", shipped / "nothing")
    assert call("models") == 0
    assert capsys.readouterr().out.startswith("No model ships with this installation.")


@pytest.mark.parametrize("file", ["card.json", "config.json"])
def test_a_damaged_folder(shipped, capsys, file):
    (shipped / file).write_text("{")
    assert call("models") == 1
    assert file in capsys.readouterr().err
