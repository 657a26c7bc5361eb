"""Each kind of model has its class, and `load_any` finds it."""

from __future__ import annotations

import json

import pytest

from tests.models.answers import parts
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.base import TextModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.registry import MODELS, load_any, model_class


def subclasses(cls):
    return {cls, *(lower for below in cls.__subclasses__() for lower in subclasses(below))}


def test_every_kind():
    registered = {kind: model_class(kind) for kind in MODELS}
    assert registered["embedder"] is TextEmbedder
    ours = {cls for cls in subclasses(TextModel)
            if hasattr(cls, "kind") and cls.__module__.startswith("tf_charagram.")}  # fmt: skip
    assert registered == {cls.kind: cls for cls in ours}


def test_an_embedder(tmp_path):
    TextEmbedder(*parts()).save(tmp_path)
    assert type(load_any(tmp_path)) is TextEmbedder


def test_an_unknown_kind(tmp_path):
    TextEmbedder(*parts()).save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "kind": "taggr"}))
    with pytest.raises(RunError, match=r"Unknown kind of model 'taggr'. Did you mean 'tagger'\?"):
        load_any(tmp_path)
    with pytest.raises(ConfigError, match=r"Unknown kind of model 'taggr'. Did you mean 'tagger'"):
        model_class("taggr")
