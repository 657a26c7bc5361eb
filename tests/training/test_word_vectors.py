"""Options of the word vectors: initial values, training, errors."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.commands import assert_same_weights, call, interrupt_training_at
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.encoders import ENCODERS, vectorizer_of
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.building import (
    check_options,
    load_pretrained,
    make_encoder,
    make_vectorizer,
)

TEXTS = ["The cat sat.", "a Cat, a dog", "don't sit"]
#: By frequency, then by code point.
WORDS = ["a", "cat", ",", ".", "do", "dog", "n't", "sat", "sit", "the"]
#: The encoders whose words may have another width than the embedding.
WORD_ENCODERS = [name for name in ENCODERS if vectorizer_of(name) == "words"]
WITH_WORD_DIM = ("cse", "dan", "projection")
VECTORS = ("cat 1 2 3", "dog 4 5 6", "zebra 7 8 9", "Cat 9 9 9", "new york 0 1 2", "n't 0 0 1")


def config_for(path=None, encoder="dan", **settings):
    vectors = None if path is None else str(path)
    fields = {"encoder": encoder, "word_vectors": vectors, "dim": 3, **settings}
    return ParaphraseConfig.from_dict(fields)


def write(folder, *lines):
    path = folder / "vectors.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def build(config, texts=TEXTS):
    """Returns the vectorizer, the table by word, that of a random start, and the number found."""
    check_options(config)
    vectorizer = make_vectorizer(config, iter(texts))
    encoder = make_encoder(config, vectorizer.num_rows)
    words = ["UNKNOWN", *vectorizer.words]
    random = dict(zip(words, encoder.word_table.numpy(), strict=True))
    found = load_pretrained(config, vectorizer, encoder, BadLines(config.on_bad_line))
    return vectorizer, dict(zip(words, encoder.word_table.numpy(), strict=True)), random, found


@pytest.mark.parametrize("name", ["cse", "word_average"])
def test_start_from_pretrained_vectors(name, tmp_path):
    path = write(tmp_path, *VECTORS)
    vectorizer, table, random, found = build(config_for(path, name))
    assert vectorizer.words == WORDS and found == 3
    assert_array_equal(table["cat"], [1, 2, 3])
    assert_array_equal(table["dog"], [4, 5, 6])
    assert_array_equal(table["n't"], [0, 0, 1])
    for word in set(WORDS) - {"cat", "dog", "n't"}:
        assert_array_equal(table[word], random[word])
    assert_allclose(table["UNKNOWN"], np.mean([[1, 2, 3], [4, 5, 6], [0, 0, 1]], axis=0))


@pytest.mark.parametrize("name", ["<unk>", "UNK", "UUUNKKK"])
def test_vector_of_unknown_words(name, tmp_path):
    _, table, _, found = build(config_for(write(tmp_path, *VECTORS, f"{name} 5 5 5")))
    assert_array_equal(table["UNKNOWN"], [5, 5, 5])
    assert found == 3


def test_no_word_found(tmp_path, caplog):
    path = write(tmp_path, "Cat 1 2 3", "ZEBRA 4 5 6")
    with caplog.at_level(logging.WARNING):
        _, table, random, found = build(config_for(path))
    assert found == 0
    assert "has vectors for none of the 10 words" in caplog.text
    for word, vector in table.items():
        assert_array_equal(vector, random[word])


def test_min_count_is_for_the_texts(tmp_path):
    plain, _, _, found = build(config_for(write(tmp_path, *VECTORS), min_count=2))
    assert plain.words == ["a", "cat"] and found == 1


@pytest.mark.parametrize("name", WITH_WORD_DIM)
def test_words_have_the_width_of_the_file(name, tmp_path):
    config = config_for(write(tmp_path, *VECTORS), name, dim=6)
    _, table, *_ = build(config)
    assert_array_equal(table["cat"], [1, 2, 3])
    encoder = make_encoder(config, 4)
    assert (encoder.dim, encoder.input_dim) == (6, 3)
    assert make_encoder(config_for(encoder=name, dim=6), 4).input_dim == 6
    assert make_encoder(config_for(encoder=name, dim=6, input_dim=2), 4).input_dim == 2
    with pytest.raises(ConfigError, match=r"have 3 numbers each, .* 2\. Give --input-dim 3,"):
        check_options(config.replace(input_dim=2))


@pytest.mark.parametrize("name", [name for name in WORD_ENCODERS if name not in WITH_WORD_DIM])
def test_other_widths(name, tmp_path):
    path = write(tmp_path, *VECTORS)
    message = "have 3 numbers each, those of the encoder 300. Give --dim 3, or another file."
    config = config_for(path, name, dim=300)
    with pytest.raises(ConfigError, match=message):
        check_options(config)


def test_bad_lines(tmp_path):
    path = write(tmp_path, "cat 1 2 3", "dog 4 5", "sat 0 nan 0", "the 1 1 1")
    with pytest.raises(DataError, match=rf"{path}:2: expected 3 numbers, found 2"):
        build(config_for(path))
    config = config_for(path, on_bad_line="skip")
    _, table, random, found = build(config)
    assert found == 2
    assert_array_equal(table["sat"], random["sat"])
    bad_lines = BadLines("skip")
    vectorizer = make_vectorizer(config, TEXTS)
    load_pretrained(config, vectorizer, make_encoder(config, vectorizer.num_rows), bad_lines)
    assert bad_lines.count == 2


@pytest.mark.parametrize("name", WORD_ENCODERS)
def test_frozen_words(name, tmp_path):
    config = config_for(write(tmp_path, *VECTORS), name, freeze="words")
    if name == "word_average":
        message = "`freeze` words leaves the encoder 'word_average' nothing to train. Leave it out"
        with pytest.raises(ConfigError, match=message):
            check_options(config)
        return
    check_options(config)
    encoder = make_encoder(config, 5)
    paths = [weight.path for weight in encoder.trainable_variables]
    assert paths and encoder.word_table.path not in paths


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"word_vectors": "-"}, "`word_vectors` must be a file: it is read more than once"),
        (
            {"freeze": "words", "l2_words": 0.1},
            "`l2_words` is for word vectors that are trained, not for `freeze` words.*=0.1",
        ),
        ({"dropout": 1.0}, r"`dropout` must be in \[0, 1\). Received: dropout=1.0"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_options(ParaphraseConfig.from_dict({"encoder": "dan", **settings}))


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_a_run_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    """With all that word vectors have; the initial ones come from the checkpoint."""
    pairs = tmp_path / "pairs.tsv"
    lines = [f"a big {n} cat\tthe large {n} dog\n" for n in "abcdefghij"]
    pairs.write_text("".join(["text1\ttext2\n", *lines]))
    arguments = [
        "--encoder", "dan", "--dim", 3, "--data", pairs, "--batch-size",
        2, "--epochs", 2, "--evaluations-per-epoch", 1, "--checkpoint-every-s", 0, "--l2-words", 1,
        "--l2-composition", 0.01, "--dropout", 0.3, "--word-vectors",
        write(tmp_path, *VECTORS),
    ]  # fmt: skip
    assert call("train", *arguments, "--output", tmp_path / "whole") == 0
    metrics = json.loads((tmp_path / "whole" / "metrics.json").read_text())
    assert metrics["words_found_in_vectors"] == 2
    interrupt_training_at(monkeypatch, 7)
    assert call("train", *arguments, "--output", tmp_path / "run") == 130
    monkeypatch.undo()
    assert call("train", *arguments, "--output", tmp_path / "run", "--resume") == 0
    assert_same_weights(tmp_path / "run", tmp_path / "whole")
