"""Vocabularies in Keras archives, read without trusting the file."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress

import keras
import numpy as np
import pytest
import tensorflow as tf

from tf_charagram import TextEmbedder
from tf_charagram.encoders import Charagram
from tf_charagram.errors import RunError
from tf_charagram.layers import NgramVectorizer
from tf_charagram.text.base import VOCABULARY, checksum

TEXTS = ["A cat", "the dog", "caf\u00e9 au lait"]


class Canary:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def member(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def too_large():
    """Returns an array of ten numbers that claims to have 2^60."""
    file = io.BytesIO()
    header = {"descr": "<i8", "fortran_order": False, "shape": (2**60,)}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + bytes(80)


def unloaded(vectorizer, **changes):
    """Restores a vectorizer from its config, as a process does that never had the original."""
    config = vectorizer.get_config()
    config["saved_vocabulary"] = {**config["saved_vocabulary"], **changes}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tf_charagram.text.base._LIVE", {})
        return NgramVectorizer.from_config(config)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (lambda path: member(np.array([Canary(path)])), "holds object"),
        (lambda path: too_large(), "bytes"),
        (lambda path: member(np.zeros(3)), "holds float64"),
        (lambda path: b"import os", ""),
    ],
    ids=["objects", "too large", "floats", "no array"],
)
def test_hostile_vocabularies(keys, message, tmp_path):
    with zipfile.ZipFile(tmp_path / VOCABULARY, "w") as archive:
        archive.writestr("keys.npy", keys(tmp_path / "canary"))
    vectorizer = unloaded(NgramVectorizer.from_texts(TEXTS))
    with pytest.raises(RunError, match=rf"{VOCABULARY} is damaged: .*{message}.* Save the model"):
        vectorizer.load_assets(str(tmp_path))
    assert not (tmp_path / "canary").exists()


def test_truncated_and_compressed(tmp_path):
    original = NgramVectorizer.from_texts(TEXTS)
    original.save_assets(str(tmp_path))
    file = tmp_path / VOCABULARY
    file.write_bytes(file.read_bytes()[:-30])
    restored = unloaded(original)
    with pytest.raises(RunError, match="is damaged: File is not a zip file"):
        restored.load_assets(str(tmp_path))
    np.savez_compressed(file, **original.state())
    restored.load_assets(str(tmp_path))
    assert checksum(restored.state()) == checksum(original.state())


def test_the_number_of_ids_is_checked(tmp_path):
    """An archive cannot claim that its vocabulary is smaller than it is."""
    original = NgramVectorizer.from_texts(TEXTS)
    original.save_assets(str(tmp_path))
    restored = unloaded(original, num_ids=3)
    assert restored.num_rows == 3
    TextEmbedder(restored, Charagram(num_rows=3, dim=2))
    message = rf"has {original.num_rows} ids, and the config says 3"
    with pytest.raises(RunError, match=message):
        restored.load_assets(str(tmp_path))


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


def with_vocabulary(**values):
    def change(config):
        layer_config(config, "NgramVectorizer")["config"]["saved_vocabulary"] |= values

    return change


def as_lambda(config):
    layer = layer_config(config, "Charagram")
    layer |= {"class_name": "Lambda", "module": "keras.layers", "registered_name": None}
    code = {"class_name": "__lambda__", "config": {"code": "AAAA", "defaults": None}}
    layer["config"] = {"name": "charagram", "function": code}


def load(members, folder):
    """Loads an archive in a process that made none of its layers."""
    path = folder / "in" / "here" / "model.keras"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tf_charagram.text.base._LIVE", {})
        return keras.models.load_model(path)


# Keras looks for a layer that it cannot load in other places of the archive, too.
@pytest.mark.filterwarnings("ignore:Skipping nested container")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_vocabulary(sha256="0" * 64), "not the one that the layer 'vectorizer' was saved"),
        (with_vocabulary(num_ids=10_000), "at least the number of ids of the"),
        (as_lambda, "[Ll]ambda"),
    ],
    ids=["another", "past the table", "code"],
)
def test_bad_archives(change, message, archive, tmp_path):
    config = json.loads(archive["config.json"])
    change(config)
    with pytest.raises(ValueError, match=message):
        load({**archive, "config.json": json.dumps(config)}, tmp_path)


def test_an_archive_without_vocabulary(archive, tmp_path):
    members = {name: data for name, data in archive.items() if VOCABULARY not in name}
    model = load(members, tmp_path)
    with pytest.raises(RunError, match=r"The archive of the NgramVectorizer .* has no vocabulary"):
        model(tf.constant(TEXTS))


@pytest.mark.filterwarnings("ignore:Skipping invalid path")
def test_members_outside_the_archive(archive, tmp_path):
    """Versions of Keras skip such members, or refuse the archive."""
    outside = {"assets/../../../outside.txt": b"x", f"{tmp_path}/outside.txt": b"x"}
    with suppress(ValueError, OSError):
        load({**archive, **outside}, tmp_path)
    assert not list(tmp_path.rglob("outside.txt"))
