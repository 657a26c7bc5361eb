"""The base of the layers: float32, and a config of constructor arguments."""

from __future__ import annotations

import inspect
from typing import Any, Self

import keras

from tf_charagram.errors import ConfigError


class ConfiguredLayer(keras.layers.Layer):
    """A float32 Keras layer that keeps each constructor argument as an attribute of the same name.

    Its config is read from these attributes, those of base classes first. Arguments without an
    attribute are left out: a subclass sets them itself.

    It computes in float32 even under a global policy of mixed precision. In 16 bits, sums of many
    rows lose precision and small updates of a table are lost altogether. Layers that follow cast
    their inputs, as every Keras layer does.

    Args:
        **kwargs: Arguments of `keras.layers.Layer`; `dtype` may be `None` or `"float32"`.

    Raises:
        ConfigError: `dtype` is another type.
    """

    # Not a parameter, because parameters are the options of an encoder.
    def __init__(self, **kwargs: Any) -> None:
        dtype = kwargs.pop("dtype", None)
        policy = keras.dtype_policies.get("float32" if dtype is None else dtype)
        if policy.compute_dtype != "float32" or policy.variable_dtype != "float32":
            raise ConfigError(
                f"`dtype` must be float32 for {type(self).__name__}. Received: "
                f"dtype={policy.name}. Leave it out: later layers cast their inputs."
            )
        super().__init__(dtype=policy, **kwargs)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Restores a layer from `get_config()`."""
        layer = cls(**{**config, "trainable": True})
        # After the constructor, so that it applies to sublayers, too.
        layer.trainable = config.get("trainable", True)
        return layer

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
    if isinstance(value, tuple | list):
        return [_to_json(part) for part in value]
    return value


def make_dense(
    input_dim: int, units: int, *, activation: str, seed: int, name: str
) -> keras.layers.Dense:
    """Builds a float32 dense layer with a Glorot uniform kernel (Glorot and Bengio, 2010).

    Args:
        input_dim: Width of the inputs.
        units: Width of the outputs.
        activation: Name of the non-linearity.
        seed: Seed of the initial weights.
        name: Name of the layer.
    """
    dense = keras.layers.Dense(
        units,
        activation=activation,
        kernel_initializer=keras.initializers.GlorotUniform(seed=seed),
        name=name,
        dtype="float32",
    )
    dense.build((None, input_dim))
    return dense
