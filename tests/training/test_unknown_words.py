"""`--unknown-words ngrams` and `--no-use-peepholes`, from the flag to the served model."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import call
from tests.contracts import some_now
from tf_charagram import TextEmbedder
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.building import (
    check_options,
    encoder_for,
    make_encoder,
    make_vectorizer,
)

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


@pytest.mark.parametrize("name", some_now(["word_average", "gran"], "word_average"))
def test_ngrams(name, pairs, tmp_path, capsys):
    arguments = ["--unknown-words", "ngrams", "--min-count", 2, "--ngrams", "2,3"]
    if name == "gran":
        arguments.append("--no-use-peepholes")
    embedder, metrics = trained(tmp_path, capsys, "--encoder", name, "--data", pairs, *arguments)
    vectorizer = embedder.vectorizer
    assert vectorizer.words == ["the", "big", "large"]
    assert vectorizer.ngrams.orders == (2, 3)
    assert embedder.encoder.num_words == 3
    assert metrics["num_rows"] == embedder.encoder.num_rows == 4 + len(vectorizer.ngrams)
    # Words that training never saw have vectors of their own, those like seen ones are alike.
    like, unlike = embedder.similarity(["thingzs", "thingzs"], ["thingz", "bar"])
    assert like > unlike
    if name == "gran":
        check_no_peepholes(embedder)


def check_no_peepholes(embedder):
    assert embedder.encoder.use_peepholes is False
    assert not [weight.path for weight in embedder.encoder.weights if "peephole" in weight.path]


@pytest.mark.parametrize("name", some_now(["lstm", "char_lstm"]))
def test_without_peepholes(name, pairs, tmp_path, capsys):
    arguments = ["--encoder", name, "--data", pairs, "--no-use-peepholes"]
    check_no_peepholes(trained(tmp_path, capsys, *arguments)[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unknown_words": "ngram"}, r"Unknown unknown_words 'ngram'. Did you mean 'ngrams'\?"),
        ({"ngrams": (2,)}, "`ngrams` is not an option of the encoder 'word_average'"),
        (
            {"encoder": "charagram", "unknown_words": "ngrams"},
            "`unknown_words` is not an option of the encoder 'charagram'",
        ),
    ],
)
def test_option_errors(options, message):
    with pytest.raises(ConfigError, match=message):
        check_options(ParaphraseConfig(**{"encoder": "word_average", **options}))


def test_no_word_is_rare():
    config = ParaphraseConfig(encoder="dan", unknown_words="ngrams")
    check_options(config)
    with pytest.raises(ConfigError, match="--min-count 2"):
        make_vectorizer(config, ["a b", "b c"])


def test_number_of_words():
    """Without n-grams every id is a word, whatever made the ids."""
    config = ParaphraseConfig(encoder="dan", dim=2)
    vectorizer = make_vectorizer(config, ["a b", "b c"])
    assert encoder_for(config, vectorizer).num_words is None
    assert make_encoder(config, 7).num_words is None
    assert make_encoder(config, 7, num_words=4).num_words == 4
