"""Small model folders: tables of fewer bits on disk, float32 and no special case once loaded."""

from __future__ import annotations

import errno
import json
import os
import shutil

import keras
import numpy as np
import pytest

from tests.models.answers import TEXTS, parts, randomized
from tf_charagram.encoders.char_lstm import CharLstm
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models import locations
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.model_folder import save_model
from tf_charagram.models.weights import _BLOCK_ROWS, stored_table
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
def test_loaded_again_is_the_restored_table(embedder, tmp_path, dtype):
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


def test_settings_that_load_would_refuse(tmp_path):
    vectorizer = NgramVectorizer(hash_buckets=8)
    encoder = Charagram(num_rows=8, dim=2, seed=3_000_000_000)
    with pytest.raises(ConfigError, match=r"cannot be saved: `seed` of the Charagram has a value"):
        TextEmbedder(vectorizer, encoder).save(tmp_path / "model")
    assert not (tmp_path / "model" / "config.json").exists()


def test_files_of_something_else_are_not_written_over(embedder, tmp_path):
    (tmp_path / "config.json").write_text('{"name": "my web app"}')
    with pytest.raises(RunError, match=r"config\.json does not belong to a model\. Move it, or"):
        embedder.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


def test_what_is_no_model_folder(embedder, tmp_path):
    embedder.export(tmp_path / "exported")
    with pytest.raises(RunError, match=r"no config\.json\. Use `tf\.saved_model\.load`"):
        TextEmbedder.load(tmp_path / "exported")
    with pytest.raises(RunError, match=r"Use `keras\.models\.load_model`"):
        TextEmbedder.load(tmp_path / "model.keras")


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_saved_again_gives_the_same_bytes(embedder, tmp_path, dtype):
    embedder.save(tmp_path / "first", table_dtype=dtype)
    TextEmbedder.load(tmp_path / "first").save(tmp_path / "again", table_dtype=dtype)
    for name in locations.FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_what_is_in_the_folder(embedder, tmp_path):
    """Tables are small, other weights as they are; an older version refuses such a folder."""
    embedder.save(tmp_path, table_dtype="int8")
    stored = arrays(tmp_path)
    assert {name: str(array.dtype) for name, array in stored.items()} == {
        TABLE: "int8", f"{TABLE}/scales": "float32", "charagram/bias": "float32",
    }  # fmt: skip
    config = config_of(tmp_path)
    assert (config["format_version"], config["table_dtype"]) == (2, "int8")


def test_float32_folders_stay_at_the_first_version(embedder, tmp_path, monkeypatch):
    embedder.save(tmp_path)
    assert config_of(tmp_path)["format_version"] == 1
    assert "table_dtype" not in config_of(tmp_path)
    # What a version says that knows no other.
    embedder.save(tmp_path / "small", table_dtype="int8")
    monkeypatch.setattr(locations, "FORMAT_VERSION", 1)
    TextEmbedder.load(tmp_path)
    with pytest.raises(RunError, match=r"format version 2, .* Please upgrade: pip install"):
        TextEmbedder.load(tmp_path / "small")


def test_only_embedding_tables_are_rounded(tmp_path):
    """The matrices of an LSTM are not, for a row of them is nothing of its own."""
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
    without = embedder.parts._replace(encoder=type("Bare", (), {"weights": []})())
    with pytest.raises(ConfigError, match=r"must be float32 for Bare, which has no embedding"):
        save_model(tmp_path / "none", without, table_dtype="int8")


@pytest.mark.parametrize(
    ("dtype", "message"),
    [("int9", "Unknown table_dtype 'int9'. Did you mean 'int"), ("int8", "cannot be saved: its")],
)
def test_what_cannot_be_stored_leaves_no_folder(tmp_path, dtype, message):
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


def test_scales_are_missing(embedder, tmp_path):
    embedder.save(tmp_path, table_dtype="int8")
    stored = arrays(tmp_path)
    del stored[f"{TABLE}/scales"]
    np.savez(tmp_path / "weights.npz", **stored)
    with pytest.raises(RunError, match=r"is damaged: .*scales"):
        TextEmbedder.load(tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "int4"])
@pytest.mark.parametrize(
    ("name", "shape"),
    [(TABLE, lambda rows, dim: (rows - 1, dim)), (TABLE, lambda rows, dim: (rows, dim - 1)),
     (f"{TABLE}/scales", lambda rows, dim: (rows, dim)), (TABLE, lambda rows, dim: (0, dim))],
)  # fmt: skip
def test_a_table_of_another_shape(embedder, tmp_path, dtype, name, shape):
    embedder.save(tmp_path, table_dtype=dtype)
    stored = arrays(tmp_path)
    stored[name] = np.zeros(shape(*stored[TABLE].shape), stored[name].dtype)
    np.savez(tmp_path / "weights.npz", **stored)
    with pytest.raises(RunError, match=rf"is damaged: the (array|scales of) '{TABLE}' (is|are) "):
        TextEmbedder.load(tmp_path)


@pytest.mark.parametrize("dtype", ["float32", "int4"])
@pytest.mark.parametrize("folded", [False, True])
def test_no_first_weights_are_drawn(embedder, tmp_path, monkeypatch, dtype, folded):
    """For a large table that takes longer than all else."""
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
    """Returns models with as many rows each, so that the table of one fits the other."""
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


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_disk_that_is_full_leaves_the_model_before(tmp_path, monkeypatch, number):
    """Whichever file it has no room for."""
    old, new = two_models()
    old.save(tmp_path)
    fsync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patch, pytest.raises(RunError, match="No space left"):
        patch.setattr("tf_charagram.models.model_folder.os.fsync", full)
        new.save(tmp_path)
    np.testing.assert_array_equal(TextEmbedder.load(tmp_path).encode(TEXTS), old.encode(TEXTS))
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.json", "vocabulary.npz", "weights.npz",
    }  # fmt: skip


def test_integers_that_are_no_table(embedder, tmp_path):
    embedder.save(tmp_path)
    stored = arrays(tmp_path)
    bias = stored["charagram/bias"]
    stored |= {"charagram/bias": bias.astype(np.uint8), "charagram/bias/scales": bias[:, None]}
    np.savez(tmp_path / "weights.npz", **stored)
    with pytest.raises(RunError, match=r"'charagram/bias' holds integers, but is not a table"):
        TextEmbedder.load(tmp_path)
