"""The command `data`: what is listed, and what is downloaded from a server on this machine."""

from __future__ import annotations

import json

import pytest

from tests.commands import call
from tests.data.download.conftest import PPDB, PPDB_FILE
from tf_charagram.data.download import catalogue
from tf_charagram.data.download.sources import SOURCES

FILES = {
    "wordsim/EN-SIMLEX-999.tsv": "a\tb\t1\nc\td\t2\n",
    "sts/2012.OnWN.tsv": "1\ta\tb\n2\tc\td\n",
    "sts/2012.MSRpar.tsv": "1\ta\tb\n2\tc\td\n",
    "wsj/00/wsj_0001.mrg": "( (S (NN cat)) )",
    "glove.6B.300d.txt": "cat 1 2",
    "GoogleNews-vectors-negative300.bin.gz": "x",
}


@pytest.fixture
def folder(tmp_path, monkeypatch, cache):
    """Returns a folder with some sets; the cache is empty."""
    monkeypatch.setenv("TF_CHARAGRAM_CACHE", str(cache))
    for name, content in FILES.items():
        path = tmp_path / "sets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "sets"


def listed(capsys, *arguments):
    assert call("cli.data", "--json", *arguments) == 0
    return {known["name"]: known for known in json.loads(capsys.readouterr().out)["sets"]}


class TestList:
    def test_what_is_there(self, folder, capsys):
        known = listed(capsys, "--data-dir", folder)
        there = {name for name, facts in known.items() if facts["path"]}
        assert there == {"SL999", "STS2012", "PTB", "glove.6B.300d", "GoogleNews"}
        assert known["SL999"]["path"] == str(folder / "wordsim" / "EN-SIMLEX-999.tsv")
        assert known["STS2012"]["path"] == str(folder / "sts")
        assert known["STS2012"]["num_bytes"] == 2 * len(FILES["sts/2012.OnWN.tsv"])
        wsj = folder / "wsj"
        assert f"--data {wsj}:train --eval-data {wsj}:dev" in known["PTB"]["use"]
        assert known["RW"]["how"] == "charagram data get RW"
        assert (known["RW"]["checksum"], known["STS2012"]["checksum"]) == ("published", None)
        assert set(known) == {*SOURCES, *catalogue.BY_HAND}

    def test_a_damaged_file(self, folder, capsys, caplog):
        (folder / "SICK.txt.gz").write_bytes(b"\x1f\x8b damaged")
        known = listed(capsys, "--data-dir", folder)
        assert known["SL999"]["path"] and known["STS2012"]["path"] and not known["SICK"]["path"]
        assert "SICK.txt.gz:1: the gzip data is cut short or damaged" in caplog.text

    def test_a_folder_that_was_downloaded_there(self, folder, capsys):
        (folder / "SST").mkdir()
        (folder / "SST" / "train.txt").write_text("(3 good)\n")
        known = listed(capsys, "--data-dir", folder)["SST"]
        assert known["num_bytes"] == len("(3 good)\n")
        assert known["use"] == f"charagram train --task sentiment --data {folder}/SST/train.txt"

    def test_what_is_not_there(self, folder, capsys):
        """Links that lead nowhere, and an archive of files that are to be in a folder."""
        for name in ("wsj/00/broken", "paragram-300.txt"):
            (folder / name).symlink_to(folder / "none")
        (folder / "trainDevTestTrees_PTB.zip").touch()
        known = listed(capsys, "--data-dir", folder)
        assert known["PTB"]["num_bytes"] == len(FILES["wsj/00/wsj_0001.mrg"])
        assert known["paragram"]["path"] is known["SST"]["path"] is None

    def test_table(self, folder, capsys, monkeypatch):
        monkeypatch.chdir(folder)
        assert call("cli.data") == 0
        text = capsys.readouterr().out
        assert "charagram data get RW" in text and "EN-SIMLEX-999.tsv" in text
        assert text.count("ppdb-") == 3  # A row with its command, and the pattern of all.
        assert call("cli.data", "--all") == 0
        assert capsys.readouterr().out.count("ppdb-") == 2 * 60
        monkeypatch.setattr(catalogue, "MOST_FILES", 3)
        assert call("cli.data") == 0
        text = capsys.readouterr().out
        assert "more than 3 files and was not searched" in text
        assert "EN-SIMLEX-999.tsv" not in text

    def test_no_such_folder(self, tmp_path, capsys):
        assert call("cli.data", "--data-dir", tmp_path / "none") == 1
        assert "none: no such folder to look for data sets" in capsys.readouterr().err


class TestGet:
    def test_into_the_cache_and_into_a_folder(self, server, folder, cache, capsys, monkeypatch):
        monkeypatch.setenv("TF_CHARAGRAM_BASE_URL", server.url)
        for arguments, place in (((), cache), (("--data-dir", folder), folder)):
            assert call("cli.data", "get", PPDB, *arguments) == 0
            streams = capsys.readouterr()
            assert streams.out == f"{PPDB} -> {place / PPDB_FILE}\n"
            assert "licence: CC BY 3.0 US" in streams.err
            assert "no checksum was published; that of this download is recorded" in streams.err
        assert call("cli.data", "get", PPDB) == 0
        assert "no checksum" not in capsys.readouterr().err
        assert listed(capsys, "--data-dir", folder)[PPDB]["checksum"] == "recorded"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["get"], "Give `charagram data` or `charagram data get NAME`. Received: get"),
            (["fetch", "RW"], "Received: fetch RW"),
            (["get", "PTB"], "PTB cannot be downloaded without its owners: Linguistic Data"),
            (["get", "sl999"], "Unknown data set 'sl999'. Did you mean 'SL999'?"),
        ],
    )
    def test_errors(self, arguments, message, capsys):
        assert call("cli.data", *arguments) == 1
        assert message in capsys.readouterr().err
