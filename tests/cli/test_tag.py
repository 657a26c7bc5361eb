"""`charagram tag`: from lines to CoNLL-U."""

from __future__ import annotations

import io
import sys

import pytest

from tests.models.answers import parts
from tf_charagram.cli import main
from tf_charagram.tasks.tagging._conllu.data import read_tagged
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.tasks.tagging.model import Tagger


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger")
    head = TaggingHead(labels=["NN", "VB"], word_dim=6, lstm_dim=4, hidden_dim=5)
    Tagger(*parts(), head).save(folder)
    return str(folder)


@pytest.mark.long
def test_raw_text(tagger, tmp_path, capsys):
    path = tmp_path / "in.txt"
    path.write_text("I can't  go.\n\nÜber 😀\tok\n", encoding="utf-8")
    assert main(["tag", tagger, "--input", str(path)]) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    first = [line.split("\t") for line in blocks[0].split("\n")]
    assert first[0] == ["# text = I can't go."]
    assert [cells[1] for cells in first[1:]] == ["I", "ca", "n't", "go", "."]
    assert all(len(cells) == 10 for cells in first[1:])
    notes = [cells[-1] for cells in first[1:]]
    assert notes == ["TokenRange=0:1", "SpaceAfter=No|TokenRange=2:4", "TokenRange=4:7",
                     "SpaceAfter=No|TokenRange=9:11", "TokenRange=11:12"]  # fmt: skip
    # The blank line is a sentence without words.
    assert blocks[1] == "# text = "
    assert blocks[2].startswith("# text = Über 😀 ok\n1\tÜber\t_\t_\t")


def test_tokens_and_column(tagger, tmp_path, capsys):
    path = tmp_path / "in.txt"
    path.write_text("can't e-mail\n", encoding="utf-8")
    out = tmp_path / "out.conllu"
    assert main(["tag", tagger, "--input", str(path), "--tokens", "--column", "upos",
                 "--output", str(out)]) == 0  # fmt: skip
    (sentence,) = read_tagged(out, column="upos")
    assert sentence.words == ("can't", "e-mail")
    assert capsys.readouterr().out == ""
    cells = out.read_text().split("\n")[1].split("\t")
    assert cells[4] == cells[9] == "_"
    command = ["tag", tagger, "--input", str(path), "--output", str(out)]
    assert main(command) == 1
    assert f"{out} exists. Add --overwrite to replace it" in capsys.readouterr().err
    assert out.read_text().split("\n")[1].split("\t") == cells
    assert main([*command, "--overwrite"]) == 0
    assert out.read_text().split("\n")[1].split("\t")[1] == "ca"


def test_standard_input(tagger, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"one \xff two\n")), "utf-8")
    )
    assert main(["tag", tagger]) == 0
    assert "1\tone\t" in capsys.readouterr().out


def test_no_such_file(tagger, capsys):
    assert main(["tag", tagger, "--input", "nowhere.txt"]) == 1
    assert "nowhere.txt: cannot be read" in capsys.readouterr().err


def test_an_input_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_text("one two\n")
    assert main(["tag", "nowhere", "--input", str(path), "--output", str(path)]) == 1
    assert f"{path} is read as well, and would be overwritten." in capsys.readouterr().err
    assert path.read_text() == "one two\n"


def test_a_model_of_another_kind(tmp_path, capsys, trained):
    assert main(["tag", str(trained.folder)]) == 1
    assert "contains a model of the kind 'embedder'. Expected: 'tagger'" in (
        capsys.readouterr().err
    )
