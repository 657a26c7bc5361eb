"""`--no-use-peepholes`, from the flag to the served model."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import call
from tests.contracts import some_now
from tf_charagram import TextEmbedder

TEXTS = ["the big car", "the cars", "", "unseen w\u00f6rd", "\U0001f600"]


@pytest.fixture
def pairs(tmp_path):
    """Pairs of frequent words and, in each, a rare one."""
    path = tmp_path / "pairs.tsv"
    lines = [f"the big thing{n}s\tthe large thing{n}" for n in "abcdefghijklmnopqrst"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def trained(tmp_path, capsys, *arguments):
    out = tmp_path / "run"
    options = ["--out", out, "--dim", 12, "--epochs", 2, "--batch-size", 5, "--json"]
    assert call("train", *arguments, *options, "--evaluations-per-epoch", 1) == 0
    metrics = json.loads(capsys.readouterr().out.splitlines()[-1])
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    assert history[-1]["loss"] < history[0]["loss"]
    embedder = TextEmbedder.load(out)
    vectors = embedder.encode(TEXTS)
    assert np.isfinite(vectors).all()
    served = tf.saved_model.load(metrics["paths"]["saved_model"]).signatures["serving_default"]
    found = served(texts=tf.constant(TEXTS))["embedding"]
    np.testing.assert_allclose(found, vectors, rtol=1e-4, atol=1e-5)
    return embedder, metrics


def check_no_peepholes(embedder):
    assert embedder.encoder.use_peepholes is False
    assert not [weight.path for weight in embedder.encoder.weights if "peephole" in weight.path]


@pytest.mark.parametrize("name", some_now(["lstm", "char_lstm"]))
def test_without_peepholes(name, pairs, tmp_path, capsys):
    arguments = ["--encoder", name, "--data", pairs, "--no-use-peepholes"]
    check_no_peepholes(trained(tmp_path, capsys, *arguments)[0])
