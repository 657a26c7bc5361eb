"""Vocabularies in Keras archives: adapted, written, and read without trusting the file."""

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
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.layers import CharacterVectorizer, NgramVectorizer, WordVectorizer
from tf_charagram.text.assets import VOCABULARY, checksum, read_vocabulary, write_vocabulary

TEXTS = ["A cat", "the dog", "caf\u00e9 au lait"]
KINDS = {
    "ngrams": (NgramVectorizer, {"orders": (1, 3), "lowercase": False}, {"min_count": 1}),
    "characters": (CharacterVectorizer, {"max_chars": 4}, {}),
    "words": (WordVectorizer, {}, {"min_count": 2, "ngram_orders": (2,)}),
}
DATA = {
    "list": lambda texts: texts,
    "array": np.array,
    "tensor": tf.constant,
    "dataset": tf.data.Dataset.from_tensor_slices,
    "batches": lambda texts: tf.data.Dataset.from_tensor_slices(texts).batch(2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_adapt(kind):
    """It is `from_texts`, from any kind of data, and an earlier vocabulary is forgotten."""
    pytest.importorskip("tensorflow_text")
    cls, options, counting = KINDS[kind]
    texts = [*TEXTS, "the cat"]
    expected = cls.from_texts(texts, **options, **counting)
    vectorizer = cls(**options)
    message = rf"The {cls.__name__} 'vectorizer' has no vocabulary yet\. Call `adapt\(texts\)`"
    for use in (lambda: vectorizer(tf.constant(texts)), lambda: vectorizer.num_rows):
        with pytest.raises(ConfigError, match=message):
            use()
    for data in DATA.values():
        vectorizer.adapt(["quite other texts", "other"], **counting)
        vectorizer.adapt(data(texts), **counting)
        assert checksum(vectorizer.state()) == checksum(expected.state())
    ids = vectorizer(tf.constant(["the cat, unseen"]))
    assert ids.to_list() == expected(tf.constant(["the cat, unseen"])).to_list() != [[]]
    assert ids.flat_values.numpy().max() < vectorizer.num_rows
    with pytest.raises(ConfigError, match=r"`data` must be a list of texts\. .* single string"):
        vectorizer.adapt("cat")


@pytest.mark.parametrize("kind", KINDS)
def test_adapted_again(kind, tmp_path):
    """What was saved before keeps the vocabulary it was saved with."""
    pytest.importorskip("tensorflow_text")
    cls, options, counting = KINDS[kind]
    vectorizer = cls(**options)
    vectorizer.adapt(["the cat", "the dog"], **counting)
    config, expected = vectorizer.get_config(), checksum(vectorizer.state())
    assert checksum(cls.from_config(config).state()) == expected
    texts = keras.Input((), dtype="string")
    keras.Model(texts, vectorizer(texts)).save(tmp_path / "model.keras")
    vectorizer.adapt(["other texts", "other"], **counting)
    clone = cls.from_config(config)
    assert not clone.is_adapted
    clone.adapt(["other texts", "other"], **counting)
    assert checksum(clone.state()) == checksum(vectorizer.state())
    assert clone.num_rows == vectorizer.num_rows
    loaded = keras.models.load_model(tmp_path / "model.keras").get_layer("vectorizer")
    assert checksum(loaded.state()) == expected != checksum(vectorizer.state())


def test_hashing_needs_no_vocabulary(tmp_path):
    vectorizer = NgramVectorizer(hash_buckets=8)
    assert vectorizer.num_rows == 8 and "saved_vocabulary" not in vectorizer.get_config()
    with pytest.raises(ConfigError, match="`adapt` is for vocabularies; `hash_buckets` needs none"):
        vectorizer.adapt(TEXTS)
    vectorizer.save_assets(tmp_path)
    assert not list(tmp_path.iterdir())


def vocabulary_file(**arrays):
    """Returns the bytes of a file of arrays, each an array or the bytes of its member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            if not isinstance(array, bytes):
                member = io.BytesIO()
                np.save(member, array, allow_pickle=True)
                array = member.getvalue()
            archive.writestr(f"{name}.npy", array)
    return file.getvalue()


class Canary:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def too_large():
    """Returns an array of ten numbers that says to have 2^60."""
    member = io.BytesIO()
    header = {"descr": "<i8", "fortran_order": False, "shape": (2**60,)}
    np.lib.format.write_array_header_1_0(member, header)
    return member.getvalue() + bytes(80)


BAD_FILES = {
    "objects": (lambda path: {"keys": np.array([Canary(path)])}, "'keys' holds object, no numbers"),
    "too large": (lambda path: {"keys": too_large()}, r"announces [\d,]+ bytes and has 80"),
    "floats": (lambda path: {"keys": np.zeros(3)}, "'keys' holds float64, no numbers"),
    "no array": (lambda path: {"keys": b"import os"}, "is damaged"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_vocabularies(name, tmp_path):
    arrays, message = BAD_FILES[name]
    (tmp_path / VOCABULARY).write_bytes(vocabulary_file(**arrays(tmp_path / "canary")))
    with pytest.raises(RunError, match=rf"{VOCABULARY} is damaged: .*{message}|is damaged"):
        read_vocabulary(tmp_path)
    with pytest.raises(RunError, match=message):
        read_vocabulary(tmp_path)
    assert not (tmp_path / "canary").exists()


def test_damaged_and_compressed(tmp_path):
    state = NgramVectorizer.from_texts(TEXTS).state()
    write_vocabulary(tmp_path, state)
    assert checksum(read_vocabulary(tmp_path)) == checksum(state)
    file = tmp_path / VOCABULARY
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(RunError, match="is damaged: File is not a zip file"):
        read_vocabulary(tmp_path)
    np.savez_compressed(file, **state)
    assert checksum(read_vocabulary(tmp_path)) == checksum(state)


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


def with_config(change):
    def changed(members):
        config = json.loads(members["config.json"])
        change(config)
        return {**members, "config.json": json.dumps(config).encode()}

    return changed


def known_as(num_ids=None, sha256=None):
    """Returns a change of what the config says of the vocabulary."""

    def change(config):
        known = layer_config(config, "NgramVectorizer")["config"]["saved_vocabulary"]
        known |= {key: value for key, value in (("num_ids", num_ids), ("sha256", sha256)) if value}

    return change


def as_lambda(config):
    layer = layer_config(config, "Charagram")
    layer |= {"class_name": "Lambda", "module": "keras.layers", "registered_name": None}
    code = {"class_name": "__lambda__", "config": {"code": "AAAA", "defaults": None}}
    layer["config"] = {"name": "charagram", "function": code}


def without(part):
    return lambda members: {name: data for name, data in members.items() if part not in name}


ARCHIVES = {
    "another": (with_config(known_as(sha256="0" * 64)), "holds another vocabulary than the layer"),
    "past the table": (with_config(known_as(num_ids=10_000)), "at least the number of ids of the"),
    "fewer": (with_config(known_as(num_ids=3, sha256="1" * 64)), "holds another vocabulary"),
    "code": (with_config(as_lambda), "[Ll]ambda"),
}


def load(members, folder):
    """Loads an archive of some members, as a process does that made none of its layers."""
    path = folder / "in" / "here" / "model.keras"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as file:
        for member, data in members.items():
            file.writestr(member, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tf_charagram.text.base._LIVE", {})
        return keras.models.load_model(path)


# Keras looks for a layer that it cannot load in other places of the archive, too.
@pytest.mark.filterwarnings("ignore:Skipping nested container")
@pytest.mark.parametrize("name", ARCHIVES)
def test_bad_archives(name, archive, tmp_path):
    change, message = ARCHIVES[name]
    with pytest.raises(ValueError, match=message):
        load(change(archive), tmp_path)


def test_an_archive_without_vocabulary(archive, tmp_path):
    model = load(without(VOCABULARY)(archive), tmp_path)
    with pytest.raises(RunError, match=r"The archive of the NgramVectorizer .* has no vocabulary"):
        model(tf.constant(TEXTS))


@pytest.mark.filterwarnings("ignore:Skipping invalid path")
def test_members_outside(archive, tmp_path):
    """Versions of Keras leave such members out, or refuse the archive."""
    outside = {"assets/../../../outside.txt": b"x", f"{tmp_path}/outside.txt": b"x"}
    with suppress(ValueError, OSError):
        load({**archive, **outside}, tmp_path)
    assert not list(tmp_path.rglob("outside.txt"))


def test_the_number_of_ids_is_checked(tmp_path):
    """An archive cannot say that its vocabulary is smaller than it is."""
    vectorizer = NgramVectorizer.from_texts(TEXTS)
    vectorizer.save_assets(tmp_path)
    config = vectorizer.get_config()
    config["saved_vocabulary"] = {**config["saved_vocabulary"], "num_ids": 3}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tf_charagram.text.base._LIVE", {})
        restored = NgramVectorizer.from_config(config)
    assert restored.num_rows == 3
    TextEmbedder(restored, Charagram(num_rows=3, dim=2))
    message = rf"'vectorizer' has {vectorizer.num_rows} ids, where the archive announces 3"
    with pytest.raises(RunError, match=message):
        restored.load_assets(str(tmp_path))
