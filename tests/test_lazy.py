"""Names that are imported when they are used, and classes that Keras finds without that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import ChainMap
from importlib import import_module

import keras
import pytest

import tf_charagram
from tests.variants import some_now
from tf_charagram import encoders, layers
from tf_charagram._common.lazy import lazy_names, register_with_keras
from tf_charagram.errors import ConfigError
from tf_charagram.text import splitting


def test_every_name_is_there():
    for module, names in ((layers, layers.LAYERS), (encoders, encoders.CLASSES)):
        for name in names:
            assert getattr(module, name).__name__ == name
    for name in tf_charagram.__all__:
        assert getattr(tf_charagram, name)
    with pytest.raises(
        AttributeError, match=r"module 'tf_charagram\.layers' has no attribute 'No'"
    ):
        layers.No  # noqa: B018
    assert lazy_names("m", {"json": "json"})("json") is sys.modules["json"]


def test_every_registered_class_is_known_before_it_is_imported():
    others = (tf_charagram._MODELS, tf_charagram._TRAINING, tf_charagram._VECTORIZERS)
    known = dict(ChainMap(layers.LAYERS, encoders.CLASSES, *others))
    for name in known:
        import_module(known[name])
    registered = keras.saving.get_custom_objects()
    ours = {name.partition(">")[2] for name in registered if name.startswith("tf_charagram>")}
    assert ours == set(known)
    assert all(isinstance(registered[f"tf_charagram>{name}"], type) for name in known)


def test_a_class_is_imported_for_a_config(monkeypatch):
    registered: dict[str, object] = {}
    monkeypatch.setattr(keras.saving, "get_custom_objects", lambda: registered)
    register_with_keras("tf_charagram", {"TextHead": "tf_charagram.tasks.labels._heads.heads"})
    head = tf_charagram.TextHead(dim=3, labels=["a", "b"])
    restored = registered["tf_charagram>TextHead"].from_config(head.get_config())
    assert type(restored) is type(head) and restored.get_config() == head.get_config()


@pytest.mark.parametrize(
    "start",
    some_now(
        starts := [
            "from tf_charagram import TextEmbedder",
            "import tf_charagram.layers; tf_charagram.layers.BiLstm",
        ],
        starts[0],
    ),
)
def test_a_session_starts_without_messages_of_tensorflow(start):
    program = f"{start}\nimport tensorflow\ntensorflow.constant(1) + 1"
    environment = {name: value for name, value in os.environ.items() if name[:6] != "TF_CPP"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_without_tensorflow_text(monkeypatch):
    """Where it has no wheel, models of n-grams work, and the others say what they need."""
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    splitting._whitespace_tokenizer.cache_clear()
    assert tf_charagram.NgramVectorizer.from_texts(["a cat"])(["cats"]).nrows() == 1
    words = tf_charagram.WordVectorizer(words=["a", "cat"])
    message = "Encoders of words, taggers .* need tensorflow-text, .* It cannot be imported: "
    with pytest.raises(ConfigError, match=message):
        words(["a cat"])
    with pytest.raises(ConfigError, match=message):
        splitting.split_tokens(["a cat"])
