"""Tests of model folders, with embedding tables of all types."""

from __future__ import annotations

import itertools
import json
import shutil

import keras
import numpy as np
import pytest

from tests.commands import full_disk
from tests.models.answers import TEXTS, parts, randomized
from tests.variants import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.characters import CharLstm
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage import locations
from tf_charagram.models._storage.model_folder import save_model
from tf_charagram.models._storage.stored_tables import stored_table
from tf_charagram.models._storage.weights import _BLOCK_ROWS
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text import vectorizer_class
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer

TABLE = "ngrams/table"


@pytest.fixture(scope="module")
def embedder():
    return TextEmbedder(*parts(dim=16))


def arrays(folder):
    with np.load(folder / "weights.npz") as file:
        return dict(file)


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


@pytest.mark.parametrize("dtype", ["float16", "int8", "int4"])
def test_load_restores_the_table(embedder, tmp_path, dtype):
    table = embedder.encoder.ngram_table.numpy()
    embedder.save(tmp_path / "small", table_dtype=dtype)
    loaded = TextEmbedder.load(tmp_path / "small")
    assert loaded.encoder.ngram_table.dtype == "float32"
    np.testing.assert_array_equal(
        loaded.encoder.ngram_table.numpy(), stored_table(table, dtype).restored(16)
    )
    np.testing.assert_array_equal(loaded.encoder.bias.numpy(), embedder.encoder.bias.numpy())
    vocabularies = (model.vectorizer.vocabulary for model in (embedder, loaded))
    for expected, actual in zip(*(v.to_arrays().values() for v in vocabularies), strict=True):
        np.testing.assert_array_equal(actual, expected)
    vectors = [model.encode(TEXTS).ravel() for model in (loaded, embedder)]
    assert np.corrcoef(*vectors)[0, 1] > {"float16": 0.999999, "int8": 0.9999, "int4": 0.98}[dtype]


@pytest.mark.parametrize("name", some_now(list(ENCODERS), "cse"))
def test_every_encoder(name, tmp_path):
    vectorizer = vectorizer_class(encoder_class(name).vectorizer).from_texts(TEXTS)
    embedder = TextEmbedder(vectorizer, encoder_class(name)(num_rows=vectorizer.num_rows, dim=6))
    embedder.save(tmp_path)
    loaded = TextEmbedder.load(tmp_path)
    assert loaded.encoder.get_config() == embedder.encoder.get_config()
    np.testing.assert_array_equal(loaded.encode(TEXTS), embedder.encode(TEXTS))


def test_config_of_something_else(embedder, tmp_path):
    (tmp_path / "config.json").write_text('{"name": "my web app"}')
    with pytest.raises(RunError, match=r"config\.json does not belong to a model\. Move it, or"):
        embedder.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


def test_other_formats(embedder, tmp_path):
    embedder.export(tmp_path / "exported")
    with pytest.raises(RunError, match=r"no config\.json\. Use `tf\.saved_model\.load`"):
        TextEmbedder.load(tmp_path / "exported")
    with pytest.raises(RunError, match=r"Use `keras\.models\.load_model`"):
        TextEmbedder.load(tmp_path / "model.keras")


def test_only_embedding_tables_are_rounded(tmp_path):
    vectorizer = CharacterVectorizer.from_texts(TEXTS)
    encoder = randomized(CharLstm(num_rows=vectorizer.num_rows, dim=6))
    TextEmbedder(vectorizer, encoder).save(tmp_path, table_dtype="int8")
    stored = arrays(tmp_path)
    tables = [name for name, array in stored.items() if array.dtype == np.int8]
    assert tables == [encoder.characters.table.path]
    loaded = TextEmbedder.load(tmp_path)
    for weight, expected in zip(loaded.encoder.weights, encoder.weights, strict=True):
        if weight.path not in tables:
            np.testing.assert_array_equal(weight.numpy(), expected.numpy())


def test_an_encoder_without_a_table(embedder, tmp_path):
    without = embedder.vectorizer, type("Bare", (), {"weights": []})()
    with pytest.raises(ConfigError, match=r"must be float32 for Bare, which has no embedding"):
        save_model(tmp_path / "none", without, table_dtype="int8")


@pytest.mark.parametrize(
    ("dtype", "message"),
    [("int9", "Unknown table_dtype 'int9'. Did you mean 'int"), ("int8", "cannot be saved: its")],
)
def test_failed_save_leaves_no_folder(tmp_path, dtype, message):
    embedder = TextEmbedder(*parts())
    embedder.encoder.ngram_table.assign(embedder.encoder.ngram_table.numpy() * np.nan)
    with pytest.raises(ConfigError, match=message):
        embedder.save(tmp_path / "none", table_dtype=dtype)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e30])
def test_a_weight_that_could_not_be_loaded(tmp_path, value):
    embedder = TextEmbedder(*parts())
    embedder.encoder.bias.assign(np.full(embedder.dim, value))
    with pytest.raises(ConfigError, match=r"'charagram/bias' contain .*smaller learning rate"):
        embedder.save(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_vectorizer_of_another_kind(tmp_path):
    vectorizer = CharacterVectorizer.from_texts(TEXTS)
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4))
    message = "Charagram reads the ids of NgramVectorizer. Received: CharacterVectorizer"
    with pytest.raises(ConfigError, match=message):
        embedder.save(tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("dtype", "folded"),
    some_now(
        [*itertools.product(["float32", "int4"], [False, True])], ("float32", True), ("int4", False)
    ),
)
def test_loading_draws_no_initial_weights(embedder, tmp_path, monkeypatch, dtype, folded):
    embedder.save(tmp_path, table_dtype=dtype)
    expected = TextEmbedder.load(tmp_path, folded=folded).encode(TEXTS)
    monkeypatch.delattr(keras.initializers.RandomUniform, "__call__")
    loaded = TextEmbedder.load(tmp_path, folded=folded)
    np.testing.assert_array_equal(loaded.encode(TEXTS), expected)
    assert not folded or loaded.folded() is loaded


def test_tables_of_several_blocks(tmp_path):
    vectorizer = NgramVectorizer(hash_buckets=2 * _BLOCK_ROWS + 3)
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=3)
    TextEmbedder(vectorizer, encoder).save(tmp_path, table_dtype="int8")
    stored = stored_table(encoder.ngram_table.numpy(), "int8")
    table = TextEmbedder.load(tmp_path).encoder.ngram_table
    np.testing.assert_array_equal(table.numpy(), stored.restored())


def two_models():
    """Returns two models of the same size."""
    embedders = []
    for seed, text in enumerate(["abc", "uvw"]):
        vectorizer = NgramVectorizer.from_texts([text])
        encoder = randomized(Charagram(num_rows=vectorizer.num_rows, dim=3), seed=seed)
        embedders.append(TextEmbedder(vectorizer, encoder))
    return embedders


@pytest.mark.parametrize("name", ["vocabulary.npz", "weights.npz"])
def test_files_of_two_models(tmp_path, name):
    for place, embedder in zip("ab", two_models(), strict=True):
        embedder.save(tmp_path / place)
    shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
    with pytest.raises(RunError, match=r"its files belong to different models"):
        TextEmbedder.load(tmp_path / "a")


@pytest.mark.parametrize("name", some_now(locations.FILES, "weights.npz"))
def test_full_disk_keeps_the_old_model(tmp_path, name):
    old, new = two_models()
    old.save(tmp_path)
    size = (tmp_path / name).stat().st_size
    with full_disk(size - 1), pytest.raises(RunError, match="Cannot write"):
        new.save(tmp_path)
    np.testing.assert_array_equal(TextEmbedder.load(tmp_path).encode(TEXTS), old.encode(TEXTS))
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.json", "vocabulary.npz", "weights.npz",
    }  # fmt: skip
