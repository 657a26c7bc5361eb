"""Vocabularies in Keras archives, read without trusting the file."""

from __future__ import annotations

import json
import zipfile
from base64 import b64encode
from contextlib import suppress

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


def as_lambda(config):
    layer = layer_config(config, "Charagram")
    layer |= {"class_name": "Lambda", "module": "keras.layers", "registered_name": None}
    code = {"class_name": "__lambda__", "config": {"code": "AAAA", "defaults": None}}
    layer["config"] = {"name": "charagram", "function": code}


def load(members, folder):
    path = folder / "in" / "here" / "model.keras"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return keras.models.load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [(larger, "at least the number of ids of the"), (as_lambda, "[Ll]ambda")],
)
def test_bad_archives(change, message, archive, tmp_path):
    config = json.loads(archive["config.json"])
    change(config)
    with pytest.raises(ValueError, match=message):
        load({**archive, "config.json": json.dumps(config)}, tmp_path)


@pytest.mark.filterwarnings("ignore:Skipping invalid path")
def test_members_outside_the_archive(archive, tmp_path):
    """Versions of Keras skip such members, or refuse the archive."""
    outside = {"assets/../../../outside.txt": b"x", f"{tmp_path}/outside.txt": b"x"}
    with suppress(ValueError, OSError):
        load({**archive, **outside}, tmp_path)
    assert not list(tmp_path.rglob("outside.txt"))
