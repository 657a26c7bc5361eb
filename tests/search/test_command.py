"""Tests of `charagram index`, and of `charagram neighbors` with an index."""

from __future__ import annotations

import json

import pytest

from tests.commands import call
from tests.search.conftest import TEXTS

pytest.importorskip("faiss")


def records(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_index_then_neighbors(model, texts_file, tmp_path, capsys):
    out = tmp_path / "index"
    assert call("cli.index", model, "--texts", texts_file, "--out", out) == 0
    streams = capsys.readouterr()
    assert (streams.out, streams.err) == ("", f"{len(TEXTS)} texts -> {out}\n")
    queries = ["dog 3", "horses", "--k", 3, "--json"]
    assert call("neighbors", model, *queries, "--index", out) == 0
    found = records(capsys)
    assert call("neighbors", model, *queries, "--texts", texts_file) == 0
    assert [record["query"] for record in found] == ["dog 3", "horses"]
    for record, exact in zip(found, records(capsys), strict=True):
        assert [text for text, _ in record["neighbors"]] == [t for t, _ in exact["neighbors"]]


def test_errors(model, other_model, texts_file, tmp_path, capsys):
    out = tmp_path / "index"
    arguments = ["cli.index", model, "--texts", texts_file, "--out"]
    (tmp_path / "link").symlink_to("nothing")
    for taken in (tmp_path, tmp_path / "link"):
        assert call(*arguments, taken) == 1
        assert f"{taken} exists. Delete it, or give another folder." in capsys.readouterr().err
    assert call("cli.index", model, "--out", out) == 1
    assert "has no texts.txt: name a file with --texts." in capsys.readouterr().err
    assert call("cli.index", model, "--texts", tmp_path / "nothing", "--out", out) == 1
    assert "nothing: cannot be read: No such file" in capsys.readouterr().err
    (tmp_path / "empty").write_text(" \n\n")
    assert call("cli.index", model, "--texts", tmp_path / "empty", "--out", out) == 1
    assert "error: There is no text to index." in capsys.readouterr().err
    assert call("cli.index", tmp_path, "--texts", texts_file, "--out", out) == 1
    assert "is not a model folder" in capsys.readouterr().err
    assert call(*arguments, "s3://bucket/index") == 1
    assert "s3://bucket/index is not a local path" in capsys.readouterr().err
    for flag, message in (("--index", "is not an index"), ("--texts", "cannot be read")):
        assert call("neighbors", model, "cat", flag, "") == 1
        assert message in capsys.readouterr().err
    assert not out.exists()
    assert call(*arguments, out) == 0
    assert call("neighbors", other_model, "cat", "--index", out) == 1
    assert "was built with another model" in capsys.readouterr().err
    assert call("neighbors", model, "cat", "--index", out, "--k", 0) == 1
    assert "`k` must be at least 1. Received: k=0" in capsys.readouterr().err
    assert call("neighbors", model, "cat", "--index", out, "--texts", texts_file) == 1
    assert "Give one of --texts and --index" in capsys.readouterr().err
