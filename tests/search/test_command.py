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
    out, taken = tmp_path / "index", tmp_path / "link"
    taken.symlink_to("nothing")
    (tmp_path / "empty").write_text(" \n\n")
    texts = ["--texts", texts_file]
    index, neighbors = ["cli.index", model], ["neighbors", model, "cat"]
    errors = [
        ([*index, *texts, "--out", taken], f"{taken} exists. Delete it, or give another folder."),
        ([*index, "--out", out], "has no texts.txt: name a file with --texts."),
        ([*index, "--texts", tmp_path / "empty", "--out", out], "There is no text to index."),
        ([*index, *texts, "--out", "s3://bucket/index"], "s3://bucket/index is not a local path"),
        ([*neighbors, "--index", ""], "is not an index"),
        ([*neighbors, "--texts", ""], "cannot be read"),
        ([*neighbors, "--index", out, *texts], "Give one of --texts and --index"),
    ]
    for arguments, message in errors:
        assert call(*arguments) == 1
        assert message in capsys.readouterr().err
    assert not out.exists()
    assert call(*index, *texts, "--out", out) == 0
    assert call("neighbors", other_model, "cat", "--index", out) == 1
    assert "was built with another model" in capsys.readouterr().err
    assert call(*neighbors, "--index", out, "--k", 0) == 1
    assert "`k` must be at least 1. Received: k=0" in capsys.readouterr().err
