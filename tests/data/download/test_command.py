"""The command `data`: its list, and downloads from a server on this machine."""

from __future__ import annotations

import json

import pytest

from tests.commands import call
from tests.data.download.conftest import PPDB, PPDB_FILE
from tf_charagram.data.download.sources import SOURCES


def listed(capsys, *arguments):
    assert call("cli.data", "--json", *arguments) == 0
    return {known["name"]: known for known in json.loads(capsys.readouterr().out)["sets"]}


def test_list(cache, capsys):
    (cache / "SST").mkdir(parents=True)
    (cache / "SST" / "train.txt").write_text("(3 good)\n")
    known = listed(capsys)
    assert set(known) == set(SOURCES)
    assert {name for name, facts in known.items() if facts["path"]} == {"SST"}
    assert known["SST"]["num_bytes"] == len("(3 good)\n")
    assert known["SST"]["use"] == f"charagram train --task sentiment --data {cache}/SST/train.txt"


def test_table(cache, capsys):
    assert call("cli.data") == 0
    text = capsys.readouterr().out
    assert "SL999" in text and "On request from their owners: SimpWiki" in text
    assert text.count("ppdb-") == 2  # one row, and the pattern of all
    assert call("cli.data", "--all") == 0
    assert capsys.readouterr().out.count("ppdb-") == 60


def test_get(server, cache, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    for arguments, place in (((), cache), (("--data-dir", tmp_path / "folder"), None)):
        assert call("cli.data", "get", PPDB, *arguments) == 0
        streams = capsys.readouterr()
        assert streams.out == f"{PPDB} -> {(place or tmp_path / 'folder') / PPDB_FILE}\n"
        assert "licence: CC BY 3.0 US" in streams.err
    assert listed(capsys, "--data-dir", tmp_path / "folder")[PPDB]["path"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get"], "Give `charagram data` or `charagram data get NAME`. Received: get"),
        (["fetch", "RW"], "Received: fetch RW"),
        (["get", "PTB"], "PTB is only available from its owners: Linguistic Data"),
        (["get", "sl999"], "Unknown data set 'sl999'. Did you mean 'SL999'?"),
        (["--data-dir", "none"], "none: no such folder to look for data sets"),
    ],
)
def test_errors(arguments, message, capsys):
    assert call("cli.data", *arguments) == 1
    assert message in capsys.readouterr().err
