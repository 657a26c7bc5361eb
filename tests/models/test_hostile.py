"""Hostile models: loading runs no code, writes nothing and takes little memory.

Each case changes a saved model, and loading it must be an error that names the folder. Random
changes are made by `tests.campaigns.fuzz`.
"""

from __future__ import annotations

import io
import json
import marshal
import os
import resource
import shutil
import zipfile
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

from tests.models.answers import parts
from tf_charagram.errors import RunError
from tf_charagram.models._storage.locations import load_any
from tf_charagram.models.embedder import TextEmbedder

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.npz", "weights.npz"
TABLE = "ngrams/table"
MORE_BYTES = 400 << 20


def code():
    """Returns the config of a Keras function that writes a file named `canary`."""
    compiled = compile("lambda *_: open('canary', 'w')", "x", "eval").co_consts[0]
    return {"class_name": "__lambda__", "config": {
        "code": b64encode(marshal.dumps(compiled)).decode(), "defaults": None, "closure": None,
    }}  # fmt: skip


class Canary:
    """Writes a file named `canary` when unpickled."""

    def __reduce__(self):
        return open, ("canary", "w")


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([Canary()], object), allow_pickle=True)
    return file.getvalue()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Returns a folder of saved models."""
    folder = tmp_path_factory.mktemp("saved")
    TextEmbedder(*parts(dim=4)).save(folder / "ngrams")
    TextEmbedder(*parts(dim=4)).save(folder / "model.keras")
    TextEmbedder(*parts("cse")).save(folder / "words")
    return folder


@pytest.fixture
def model(saved, tmp_path):
    """Returns a copy of the model of n-grams."""
    return shutil.copytree(saved / "ngrams", tmp_path / "hostile")


@pytest.fixture(autouse=True)
def no_canary(tmp_path, monkeypatch):
    """Fails if a test ran the code that writes a file named `canary`."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not Path("canary").exists()


@pytest.fixture
def little_memory():
    """Limits the memory of this process to little more than it uses."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def set_encoder(**settings):
    return lambda config: config["encoder"]["config"].update(settings)


def assert_refused(model, message):
    with pytest.raises(RunError, match=message) as caught:
        load_any(model)
    assert "hostile" in str(caught.value)
    assert len(str(caught.value)) < 2000


SETTINGS = {
    "too large a table": (set_encoder(num_rows=2**31 - 1), r"'ngrams/table' is .* is expected"),
    "too many bytes": (set_encoder(num_rows=2**62), "is damaged"),
    "negative": (set_encoder(num_rows=-5), "`num_rows` must be at least 1"),
    "a text": (set_encoder(dim="4"), "`dim` must be an integer"),
    "unknown": (set_encoder(callback="os.system"), "is damaged"),
    "function": (set_encoder(activation=code()), "`activation` must be a number, a text or a list"),
    "module": (lambda config: config["encoder"].update(name="os:system"), "Unknown encoder"),
    "other encoder": (lambda config: config["encoder"].update(name="cse"), "is damaged"),
    "kind": (lambda config: config.update(kind="taggr"), r"Unknown kind .* mean 'tagger'\?"),
    "no checksum": (lambda config: config.pop("arrays"), "is damaged: 'arrays'"),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.usefixtures("little_memory")
def test_settings(model, name):
    change, message = SETTINGS[name]
    config = json.loads((model / CONFIG).read_text())
    change(config)
    (model / CONFIG).write_text(json.dumps(config))
    assert_refused(model, message)


def test_dtype_is_not_read(model):
    config = json.loads((model / CONFIG).read_text())
    set_encoder(dtype=code())(config)
    (model / CONFIG).write_text(json.dumps(config))
    assert load_any(model).encoder.ngram_table.dtype == "float32"


@pytest.mark.parametrize(
    ("text", "message"),
    [("[" * 1_000_000, "nested too deep"), ("[]", "TypeError"), ("\0" * 9, "JSONDecodeError")],
    ids=["deep", "list", "nul"],
)
def test_other_config(model, text, message):
    (model / CONFIG).write_text(text)
    assert_refused(model, rf"config\.json is damaged.*{message}")


@pytest.mark.parametrize("file", [VOCABULARY, WEIGHTS])
def test_pickle(model, file):
    with zipfile.ZipFile(model / file, "a") as archive:
        archive.writestr("added.npy", pickled())
    assert_refused(model, "holds object, expected numbers")


def scaled(arrays, shape):
    arrays |= {TABLE: arrays[TABLE].astype("i1"), f"{TABLE}/scales": np.ones(shape, "f4")}


ARRAYS = {
    "keys past the table": (
        VOCABULARY,
        lambda a: a.update(keys=np.arange(1, 9999), counts=np.ones(9998, int)),
        "`num_rows` of the encoder must be at least the number of ids of the vectorizer, 9998",
    ),
    "counts": (VOCABULARY, lambda a: a.update(counts=a["counts"][1:]), "as many counts as keys"),
    "equal keys": (VOCABULARY, lambda a: a.update(keys=a["keys"] * 0 + 5), "is damaged"),
    "orders": (VOCABULARY, lambda a: a.update(orders=np.array([2, 99])), "orders must be integers"),
    "NaN": (WEIGHTS, lambda a: a[TABLE].put([7], np.nan), "'ngrams/table' contains nan"),
    "large": (WEIGHTS, lambda a: a[TABLE].put([7], -1e30), r"'ngrams/table' contains 1\.0"),
    "shape": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE].T}), "'ngrams/table' is .* is expected"),
    "missing": (WEIGHTS, lambda a: a.pop(TABLE), "the array 'ngrams/table' is missing"),
    "no scales": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE].astype("i1")}), "table/scales"),
    "scales": (WEIGHTS, lambda a: scaled(a, (1, 1)), "the scales of 'ngrams/table' are"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.usefixtures("little_memory")
def test_arrays(model, name):
    file, change, message = ARRAYS[name]
    change_arrays(model / file, change)
    assert_refused(model, message)


def change_arrays(path, change):
    with np.load(path) as stored:
        arrays = dict(stored)
    change(arrays)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a["offsets"].put([-1], 10**6), "offsets of the words must ascend"),
        (lambda a: a["utf8"].fill(0xFF), "is damaged: .*codec can't decode"),
    ],
    ids=["offsets", "utf8"],
)
def test_words(saved, tmp_path, change, message):
    model = shutil.copytree(saved / "words", tmp_path / "hostile")
    change_arrays(model / VOCABULARY, change)
    assert_refused(model, message)


@pytest.mark.parametrize("file", [CONFIG, VOCABULARY, WEIGHTS])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "missing"])
def test_not_a_file(model, file, kind):
    path = model / file
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    assert_refused(model, file)
