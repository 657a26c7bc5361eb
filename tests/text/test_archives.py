"""Vocabularies in Keras archives, read without trusting the file."""

from __future__ import annotations

import json
import zipfile
from base64 import b64encode

import keras
import numpy as np
import pytest

from tf_charagram.encoders import Charagram
from tf_charagram.errors import RunError
from tf_charagram.layers import NgramVectorizer

TEXTS = ["A cat", "the dog", "caf\u00e9 au lait"]


def packed(array):
    return [array.dtype.str, b64encode(array.tobytes()).decode()]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["|O", "AAAAAAAAAAA="], r"it holds \|O, expected integers"),
        (packed(np.zeros(3)), "it holds <f8, expected integers"),
        (["<i8", "AAAA"], "buffer size must be a multiple"),
        (["<i8", "\u00e9"], "ASCII"),
        ([1, 2, 3], "positional argument"),
        (packed(np.arange(3)), "as many counts as keys"),
    ],
)
def test_damaged_vocabularies(keys, message):
    config = NgramVectorizer.from_texts(TEXTS).get_config()
    config["vocabulary_arrays"]["keys"] = keys
    with pytest.raises(RunError, match=rf"The vocabulary of .* is damaged: .*{message}"):
        NgramVectorizer.from_config(config)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Returns the members of the archive of a functional model."""
    vectorizer = NgramVectorizer.from_texts(TEXTS)
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=2)
    texts = keras.Input((), dtype="string")
    path = tmp_path_factory.mktemp("archive") / "model.keras"
    keras.Model(texts, encoder(vectorizer(texts))).save(path)
    with zipfile.ZipFile(path) as members:
        return {name: members.read(name) for name in members.namelist()}


def layer_config(config, name):
    (found,) = (layer for layer in config["config"]["layers"] if layer["class_name"] == name)
    return found


def larger(config):
    larger = NgramVectorizer.from_texts([*TEXTS, "other texts"]).get_config()
    layer_config(config, "NgramVectorizer")["config"] |= larger


def load(members, folder):
    path = folder / "in" / "here" / "model.keras"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return keras.models.load_model(path)


def test_a_vocabulary_that_does_not_fit(archive, tmp_path):
    config = json.loads(archive["config.json"])
    larger(config)
    with pytest.raises(ValueError, match="at least the number of ids of the"):
        load({**archive, "config.json": json.dumps(config)}, tmp_path)
