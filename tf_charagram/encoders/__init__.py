"""Encoders turn ids into vectors; each is a Keras layer, `ids -> (batch, dim)`, found by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tf_charagram._common.lazy import lazy_names
from tf_charagram.encoders import options
from tf_charagram.encoders.options import EncoderOptions
from tf_charagram.errors import ConfigError, check_name
from tf_charagram.settings import typed, types_of

if TYPE_CHECKING:
    import keras

    from tf_charagram.encoders.averaging import Dan, Projection, WordAverage
    from tf_charagram.encoders.base import Encoder
    from tf_charagram.encoders.characters import CharCnn, CharLstm
    from tf_charagram.encoders.charagram import Charagram
    from tf_charagram.encoders.cse import Cse
    from tf_charagram.encoders.recurrent import Gran, IdentityRnn, Lstm, Rnn

__all__ = [
    "CharCnn",
    "CharLstm",
    "Charagram",
    "Cse",
    "Dan",
    "Encoder",
    "Gran",
    "IdentityRnn",
    "Lstm",
    "Projection",
    "Rnn",
    "WordAverage",
]


class EncoderEntry(NamedTuple):
    """An encoder in the registry; its class is imported only when needed.

    Attributes:
        module: Module of this package with the class.
        class_name: Name of the class.
        options: Class of its options.
    """

    module: str
    class_name: str
    options: type[EncoderOptions]


ENCODERS = {
    "charagram": EncoderEntry("charagram", "Charagram", options.CharagramOptions),
    "char_cnn": EncoderEntry("characters", "CharCnn", options.CharCnnOptions),
    "char_lstm": EncoderEntry("characters", "CharLstm", options.CharLstmOptions),
    "word_average": EncoderEntry("averaging", "WordAverage", options.WordOptions),
    "projection": EncoderEntry("averaging", "Projection", options.ProjectionOptions),
    "dan": EncoderEntry("averaging", "Dan", options.DanOptions),
    "rnn": EncoderEntry("recurrent", "Rnn", options.RnnOptions),
    "identity_rnn": EncoderEntry("recurrent", "IdentityRnn", options.WordOptions),
    "lstm": EncoderEntry("recurrent", "Lstm", options.LstmOptions),
    "cse": EncoderEntry("cse", "Cse", options.CseOptions),
    "gran": EncoderEntry("recurrent", "Gran", options.LstmOptions),
}


#: Class -> module: each encoder can be imported from this package, too.
CLASSES = {entry.class_name: f"{__name__}.{entry.module}" for entry in ENCODERS.values()}
if not TYPE_CHECKING:
    _BASE = {"Encoder": "tf_charagram.encoders.base"}
    __getattr__ = lazy_names(__name__, {**CLASSES, **_BASE}, needs_tensorflow=True)


def _entry(name: str) -> EncoderEntry:
    check_name("encoder", name, ENCODERS)
    return ENCODERS[name]


def options_class(name: str) -> type[EncoderOptions]:
    """Returns the class of the options of an encoder; needs no TensorFlow.

    Raises:
        ConfigError: There is no encoder of that name.
    """
    return _entry(name).options


def vectorizer_of(name: str) -> str:
    """Returns the kind of ids an encoder takes, a key of `text.VECTORIZERS`."""
    return options_class(name).vectorizer


def _encoders_with(option: str) -> tuple[str, ...]:
    """Returns the names of the encoders that have an option."""
    return tuple(name for name, entry in ENCODERS.items() if option in types_of(entry.options))


def make_options(encoder: str, values: Mapping[str, Any]) -> EncoderOptions:
    """Returns the options of an encoder from some of their values.

    Raises:
        ConfigError: The encoder lacks an option, or a value is not allowed.
    """
    types = types_of(options_class(encoder))
    for name, value in values.items():
        if name not in types:
            having = _encoders_with(name)
            elsewhere = f" `{name}` is an option of {', '.join(having)}." if having else ""
            raise ConfigError(
                f"`{name}` is not an option of the encoder '{encoder}'. Received: {name}={value!r}."
                f" Options of '{encoder}': {', '.join(types)}.{elsewhere}"
            )
    return options_class(encoder)(**{n: typed(n, v, types[n]) for n, v in values.items()})


def encoder_class(name: str) -> type[keras.layers.Layer]:
    """Returns the class of an encoder.

    Raises:
        ConfigError: There is no encoder of that name.
    """
    entry = _entry(name)
    return getattr(import_module(f"{__name__}.{entry.module}"), entry.class_name)


def registered_name(cls: type) -> str | None:
    """Returns the name a class is registered by; `None` if it is not registered."""
    module, _, _ = cls.__module__.rpartition(".")
    if module != __name__:
        return None
    return next((n for n, entry in ENCODERS.items() if entry.class_name == cls.__qualname__), None)


def encoder_name(encoder: keras.layers.Layer) -> str:
    """Returns the name an encoder is registered by.

    Raises:
        ConfigError: It is not registered, such as the encoder of a model that was made smaller,
            which can be exported but not saved.
    """
    name = registered_name(type(encoder))
    if name is None:
        raise ConfigError(
            f"{type(encoder).__name__} is not a registered encoder, so it cannot be saved. A model "
            "that was made smaller can be exported; keep the model it was made from."
        )
    return name
