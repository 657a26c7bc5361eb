"""Model folders as the reader opens them: mapped, damaged, and of other kinds."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.models.answers import KNOWN, parts
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.npz", "weights.npz"
TABLE = "ngrams/table"


@pytest.fixture
def folder(tmp_path):
    TextEmbedder(*parts(dim=4)).save(tmp_path)
    return tmp_path


def change_config(folder, change):
    config = json.loads((folder / CONFIG).read_text())
    change(config)
    (folder / CONFIG).write_text(json.dumps(config))


def change_arrays(folder, file, change):
    with np.load(folder / file) as arrays:
        changed = dict(arrays)
    change(changed)
    np.savez(folder / file, **changed)


def set_encoder(**settings):
    return lambda config: config["encoder"]["config"].update(settings)


def test_uncompressed_weights_are_mapped(folder):
    reader = TextReader.load(folder)
    assert isinstance(reader._table._stored.rows, np.memmap)
    expected = TextEmbedder.load(folder).encode(KNOWN)
    assert_allclose(reader.encode(KNOWN), expected, rtol=0, atol=1e-6)
    assert_allclose(reader.encode(KNOWN * 300), np.tile(expected, (300, 1)), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_encoder(dim=5), r"'ngrams/table' is \(.*, 4\), where \(.*, 5\) is expected"),
        (set_encoder(num_rows=3), "3 rows, too few"),
        (set_encoder(num_rows="3"), "is damaged"),
        (set_encoder(activation={}), "is damaged"),
        (set_encoder(num_layers=2), "dense/kernel"),
        (lambda config: config.pop("arrays"), "is damaged: 'arrays'"),
        (lambda config: config.update(arrays="0"), "belong to different models"),
        (lambda config: config.update(kind="tagger"), "kind 'tagger'. Expected: 'embedder'"),
        (lambda config: config.update(format_version=99), "format version 99"),
        (lambda config: config.pop("vectorizer"), "is damaged: 'vectorizer'"),
    ],
)
def test_bad_settings(folder, change, message):
    change_config(folder, change)
    with pytest.raises(RunError, match=message):
        TextReader.load(folder)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (VOCABULARY, lambda arrays: arrays.update(keys=arrays["keys"] - 10**9), "keys above 0"),
        (VOCABULARY, lambda arrays: arrays.pop("keys"), "'keys'"),
        (WEIGHTS, lambda arrays: arrays.pop("charagram/bias"), "charagram/bias"),
        (WEIGHTS, lambda arrays: arrays.update({TABLE: arrays[TABLE].astype("i1")}), "scales"),
        (WEIGHTS, lambda arrays: arrays.update({TABLE: arrays[TABLE] + 1}), "different models"),
    ],
)
def test_damaged_arrays(folder, file, change, message):
    change_arrays(folder, file, change)
    with pytest.raises(RunError, match=message):
        TextReader.load(folder)


def test_truncated_file(folder):
    os.truncate(folder / WEIGHTS, 300)
    with pytest.raises(RunError, match="is damaged"):
        TextReader.load(folder)


def test_other_encoder(tmp_path):
    TextEmbedder(*parts("cse")).save(tmp_path)
    with pytest.raises(ConfigError, match="'cse', which needs TensorFlow"):
        TextReader.load(tmp_path)


def test_wrong_arguments(folder):
    reader = TextReader.load(folder)
    with pytest.raises(ConfigError, match="Received a single string"):
        reader.encode("a cat")
    with pytest.raises(ConfigError, match="Row 1 is missing"):
        reader.encode(["a", None])
    with pytest.raises(ConfigError, match="does not match number of right texts"):
        reader.similarity(["a"], [])
    with pytest.raises(RunError, match="Cannot read"):
        TextReader.load(folder, keep_words="no such file")
    for counts in (["cat"], {"cat": -1}, {"cat": "two"}):
        with pytest.raises(ConfigError, match="`word_counts` must map words to how often they"):
            TextReader.load(folder, word_counts=counts)
