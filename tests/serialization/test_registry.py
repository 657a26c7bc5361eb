"""Each kind of model has its class, and `load_any` finds it."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from tests.models.answers import parts
from tf_charagram.errors import RunError
from tf_charagram.models.base import HeadedModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.serialization.registry import MODELS, load_any


def subclasses(cls):
    return {cls, *(found for below in cls.__subclasses__() for found in subclasses(below))}


def test_every_kind():
    found = {kind: getattr(import_module(f"tf_charagram.models.{module}"), name)
             for kind, (module, name) in MODELS.items()}  # fmt: skip
    assert found.pop("embedder") is TextEmbedder
    ours = {cls for cls in subclasses(HeadedModel)
            if hasattr(cls, "kind") and cls.__module__.startswith("tf_charagram.")}  # fmt: skip
    assert found == {cls.kind: cls for cls in ours}


def test_an_embedder(tmp_path):
    TextEmbedder(*parts()).save(tmp_path)
    assert type(load_any(tmp_path)) is TextEmbedder


def test_an_unknown_kind(tmp_path):
    TextEmbedder(*parts()).save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "kind": "taggr"}))
    with pytest.raises(RunError, match=r"Unknown kind of model 'taggr'. Did you mean 'tagger'\?"):
        load_any(tmp_path)
