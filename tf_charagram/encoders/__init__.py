"""Encoders turn ids into vectors; each is a Keras layer, `ids -> (batch, dim)`, found by name."""

from __future__ import annotations

from typing import Any

import keras

from tf_charagram.encoders.averaging import Dan, Projection, WordAverage
from tf_charagram.encoders.char_cnn import CharCnn
from tf_charagram.encoders.char_lstm import CharLstm
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.cse import Cse
from tf_charagram.encoders.gran import Gran
from tf_charagram.encoders.recurrent import IdentityRnn, Lstm, Rnn
from tf_charagram.errors import ConfigError, unknown_name

ENCODERS: dict[str, type[keras.layers.Layer]] = {
    "charagram": Charagram,
    "char_cnn": CharCnn,
    "char_lstm": CharLstm,
    "word_average": WordAverage,
    "projection": Projection,
    "dan": Dan,
    "rnn": Rnn,
    "identity_rnn": IdentityRnn,
    "lstm": Lstm,
    "cse": Cse,
    "gran": Gran,
}


def encoder_class(name: str) -> type[keras.layers.Layer]:
    """Returns the class of an encoder.

    Raises:
        ConfigError: There is no encoder of that name.
    """
    if name not in ENCODERS:
        raise ConfigError(unknown_name("encoder", name, ENCODERS))
    return ENCODERS[name]


def encoder_name(encoder: keras.layers.Layer) -> str:
    """Returns the name an encoder is registered by.

    Raises:
        ConfigError: It is not; such as that of a model that was made smaller, which is exported,
            not saved.
    """
    for name, cls in ENCODERS.items():
        if type(encoder) is cls:
            return name
    raise ConfigError(
        f"{type(encoder).__name__} is no registered encoder, so it cannot be saved. A model that "
        "was made smaller is exported; keep the one it was made from."
    )


def encoder_from_config(name: str, config: dict[str, Any]) -> keras.layers.Layer:
    """Restores an encoder from its registered name and its `get_config()`."""
    return encoder_class(name).from_config(config)
