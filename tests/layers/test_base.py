"""Layers read their config from their attributes; sizes are checked in one place."""

from __future__ import annotations

import json

import keras

from tf_charagram.layers.base import ConfiguredLayer


class Base(ConfiguredLayer):
    def __init__(self, size, *, num_outputs, scale=1.0, **kwargs):
        super().__init__(**kwargs)
        self.size = size
        self.scale = scale


class Derived(Base):
    def __init__(self, *, labels, start="zeros", **kwargs):
        super().__init__(num_outputs=len(labels), **kwargs)
        self.labels = tuple(labels)
        self.start = keras.initializers.get(start)


def test_config_holds_the_arguments_of_all_classes():
    config = Derived(size=3, labels=["a", "b"], name="x").get_config()
    assert list(config)[-4:] == ["size", "scale", "labels", "start"]
    assert (config["size"], config["labels"], config["name"]) == (3, ["a", "b"], "x")
    # `num_outputs` is set by the subclass and has no attribute.
    assert "num_outputs" not in config
    restored = Derived.from_config(json.loads(json.dumps(config)))
    assert restored.labels == ("a", "b") and isinstance(restored.start, keras.initializers.Zeros)
    assert restored.get_config() == config
