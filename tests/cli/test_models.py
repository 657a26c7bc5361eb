"""`charagram models` lists what ships."""

from __future__ import annotations

import json

import pytest

from tests.commands import call
from tests.shipped import FACTS, NAME, ship_tiny
from tf_charagram.models import locations


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(locations, "PRETRAINED", tmp_path)
    ship_tiny(tmp_path)
    return tmp_path / NAME


def test_json(shipped, capsys):
    assert call("cli.models", "--json") == 0
    (line,) = capsys.readouterr().out.splitlines()
    (model,) = json.loads(line)["models"]
    assert model["name"] == NAME and model["folder"] == str(shipped)
    assert (model["kind"], model["encoder"], model["dim"]) == ("embedder", "charagram", 6)
    assert model["table_dtype"] == "int8"
    assert model["size_bytes"] == sum(file.stat().st_size for file in shipped.iterdir())
    assert model["card"].items() >= FACTS.items()


def test_table(shipped, capsys):
    assert call("cli.models") == 0
    printed = capsys.readouterr().out
    for text in (NAME, "Cats and dogs", "STS 71.5", "Apache-2.0", "0.0"):
        assert text in printed


def test_nothing_ships(shipped, monkeypatch, capsys):
    monkeypatch.setattr(locations, "PRETRAINED", shipped / "nothing")
    assert call("cli.models") == 0
    assert capsys.readouterr().out.startswith("No model ships with this installation.")
    assert call("cli.models", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"models": []}


@pytest.mark.parametrize(("file", "raw"), [("card.json", "{}"), ("config.json", "{")])
def test_a_damaged_folder(shipped, capsys, file, raw):
    (shipped / file).write_text(raw)
    assert call("cli.models") == 1
    assert file in capsys.readouterr().err
