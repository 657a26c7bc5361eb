"""Keras archives made to run code, or with another vocabulary than they were saved with."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import keras
import numpy as np
import pytest

from tests.models.answers import parts
from tests.models.hostile import code
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.base import VOCABULARY, checksum


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Returns a folder with an archive."""
    folder = tmp_path_factory.mktemp("saved")
    TextEmbedder(*parts(dim=4)).save(folder / "model.keras")
    return folder


def archive_with(saved, path, change):
    """Writes the Keras archive with a changed config."""
    with (
        zipfile.ZipFile(saved / "model.keras") as old,
        zipfile.ZipFile(path, "w") as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            if name == "config.json":
                config = json.loads(data)
                change(config)
                data = json.dumps(config).encode()
            new.writestr(name, data)


@pytest.mark.parametrize(
    "hostile",
    [
        {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "x"}},
        {"module": "os", "class_name": "system", "config": "touch canary"},
        {"module": "builtins", "class_name": "eval", "config": "open('canary', 'w')"},
    ],
    ids=["lambda", "system", "eval"],
)
def test_archive(saved, tmp_path, monkeypatch, hostile):
    monkeypatch.chdir(tmp_path)
    if hostile["class_name"] == "Lambda":
        hostile["config"]["function"] = code("canary")
    hostile["registered_name"] = hostile["class_name"]
    for name in ("encoder", "vectorizer"):
        archive_with(saved, "a.keras", lambda config, n=name: config["config"].update({n: hostile}))
        with pytest.raises((TypeError, ValueError)):
            keras.models.load_model("a.keras")
    assert not Path("canary").exists()


def test_archive_with_another_vocabulary(saved, tmp_path):
    """Whose checksum is right, so that only its numbers tell."""
    with zipfile.ZipFile(saved / "model.keras") as old:
        (member,) = (name for name in old.namelist() if name.endswith(VOCABULARY))
        with np.load(io.BytesIO(old.read(member))) as stored:
            arrays = {**stored, "alphabet": np.array([2**30])}
        with zipfile.ZipFile(tmp_path / "a.keras", "w") as new:
            for name in old.namelist():
                data = old.read(name)
                if name == member:
                    file = io.BytesIO()
                    np.savez(file, **arrays)
                    data = file.getvalue()
                if name == "config.json":
                    config = json.loads(data)
                    config["config"]["vectorizer"]["config"]["saved_vocabulary"]["sha256"] = (
                        checksum(arrays)
                    )
                    data = json.dumps(config).encode()
                new.writestr(name, data)
    # Keras tries again without the vocabulary, and says what that gave.
    with pytest.raises(ValueError, match=r"1 objects could not be loaded.*NgramVectorizer"):
        keras.models.load_model(tmp_path / "a.keras")
