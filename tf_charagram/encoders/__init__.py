"""Encoders turn ids into vectors; each is a Keras layer, `ids -> (batch, dim)`, found by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.lazy import lazy_names

if TYPE_CHECKING:
    import keras

#: Name -> module and class. Only names: TensorFlow takes seconds to import.
ENCODERS = {
    "charagram": "tf_charagram.encoders.charagram:Charagram",
    "char_cnn": "tf_charagram.encoders.char_cnn:CharCnn",
    "char_lstm": "tf_charagram.encoders.char_lstm:CharLstm",
    "word_average": "tf_charagram.encoders.averaging:WordAverage",
    "projection": "tf_charagram.encoders.averaging:Projection",
    "dan": "tf_charagram.encoders.averaging:Dan",
    "rnn": "tf_charagram.encoders.recurrent:Rnn",
    "identity_rnn": "tf_charagram.encoders.recurrent:IdentityRnn",
    "lstm": "tf_charagram.encoders.recurrent:Lstm",
    "cse": "tf_charagram.encoders.cse:Cse",
    "gran": "tf_charagram.encoders.gran:Gran",
}


#: Class -> module: each encoder is a name of this package, too.
CLASSES = {cls: module for module, _, cls in (path.partition(":") for path in ENCODERS.values())}
__getattr__ = lazy_names(__name__, CLASSES)


def encoder_location(name: str) -> tuple[str, str]:
    """Returns the module of an encoder and the name of its class there; imports neither.

    Raises:
        ConfigError: There is no encoder of that name.
    """
    if name not in ENCODERS:
        raise ConfigError(unknown_name("encoder", name, ENCODERS))
    module, _, cls = ENCODERS[name].partition(":")
    return module, cls


def encoder_class(name: str) -> type[keras.layers.Layer]:
    """Returns the class of an encoder.

    Raises:
        ConfigError: There is no encoder of that name.
    """
    module, cls = encoder_location(name)
    return getattr(import_module(module), cls)


def registered_name(cls: type) -> str | None:
    """Returns the name a class is registered by; `None` if it is not."""
    location = f"{cls.__module__}:{cls.__qualname__}"
    return next((name for name, known in ENCODERS.items() if known == location), None)


def encoder_name(encoder: keras.layers.Layer) -> str:
    """Returns the name an encoder is registered by.

    Raises:
        ConfigError: It is not; such as that of a model that was made smaller, which is exported,
            not saved.
    """
    name = registered_name(type(encoder))
    if name is None:
        raise ConfigError(
            f"{type(encoder).__name__} is no registered encoder, so it cannot be saved. A model "
            "that was made smaller is exported; keep the one it was made from."
        )
    return name


def encoder_from_config(name: str, config: dict[str, Any]) -> keras.layers.Layer:
    """Restores an encoder from its registered name and its `get_config()`."""
    return encoder_class(name).from_config(config)
