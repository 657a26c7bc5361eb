"""The base of the layers: a config that is read from the constructor's arguments."""

from __future__ import annotations

import inspect
from typing import Any

import keras

from tf_charagram.errors import ConfigError


class ConfiguredLayer(keras.layers.Layer):
    """A Keras layer that keeps each constructor argument as an attribute of the same name.

    Its config is read from these attributes, those of its base classes first. An argument without
    an attribute is one that a subclass sets itself.
    """

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        names: dict[str, None] = {}
        for layer_class in reversed(type(self).__mro__):
            if issubclass(layer_class, ConfiguredLayer) and "__init__" in vars(layer_class):
                names |= dict.fromkeys(inspect.signature(layer_class.__init__).parameters)
        config = super().get_config()
        for name in names:
            if name not in {"self", "kwargs"} and hasattr(self, name):
                config[name] = _to_json(getattr(self, name))
        return config


def _to_json(value: Any) -> Any:
    if isinstance(value, keras.initializers.Initializer):
        return keras.initializers.serialize(value)
    return [_to_json(part) for part in value] if isinstance(value, tuple | list) else value


def check_sizes(**sizes: int) -> None:
    """Checks that sizes are at least 1.

    Args:
        **sizes: Name and value of each argument.

    Raises:
        ConfigError: One is below 1; it is named.
    """
    for name, value in sizes.items():
        if value < 1:
            raise ConfigError(f"`{name}` must be at least 1. Received: {name}={value}")
