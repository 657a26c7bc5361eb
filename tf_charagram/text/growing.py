"""Vocabularies that grow: a second stage of training adds the units of new texts."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from tf_charagram.errors import ConfigError
from tf_charagram.text.keys import (
    exact_digits,
    join_digits,
    mixed_keys,
    symbol_bits,
    warn_of_mixed_keys,
)
from tf_charagram.text.symbols import Alphabet

#: What every layer has, and no ids depend on.
_OF_EVERY_LAYER = ("name", "trainable", "dtype", "frozen")


def settings_of(layer: keras.layers.Layer) -> dict[str, Any]:
    """Returns the settings of a layer that its class adds to those of every layer."""
    config = layer.settings() if hasattr(layer, "settings") else layer.get_config()
    return {name: value for name, value in config.items() if name not in _OF_EVERY_LAYER}


def check_growable(old: keras.layers.Layer, other: keras.layers.Layer) -> None:
    """Checks that two vectorizers read texts in the same way.

    Raises:
        ConfigError: They are of different classes, or settings differ; all are named.
    """
    if type(old) is not type(other):
        raise ConfigError(
            "A vectorizer grows by one of its own class only. "
            f"Received: {type(old).__name__} and {type(other).__name__}"
        )
    settings, other_settings = settings_of(old), settings_of(other)
    differing = [
        f"{name}={value!r} and {name}={other_settings[name]!r}"
        for name, value in settings.items()
        if other_settings[name] != value
    ]
    if differing:
        raise ConfigError(
            "A vectorizer grows by one with the same settings only. "
            f"Received: {'; '.join(differing)}"
        )


def common_keys(
    max_order: int,
    keys: np.ndarray,
    alphabet: Alphabet | None,
    other_keys: np.ndarray,
    other_alphabet: Alphabet | None,
) -> tuple[Alphabet | None, np.ndarray, np.ndarray]:
    """Returns the keys of two vocabularies in one code, in which equal n-grams have equal keys.

    Args:
        max_order: The highest order of both.
        keys: int64 `(size,)`, exact or mixed.
        alphabet: What `keys` are made of, or `None` for mixed keys.
        other_keys: int64 `(other_size,)`, exact or mixed.
        other_alphabet: What `other_keys` are made of, or `None` for mixed keys.

    Returns:
        The alphabet of all, or `None` where the keys of one vocabulary are mixed or the alphabet
        is too large for exact keys, which is logged; `keys`, unchanged as long as they are exact;
        and `other_keys`.
    """
    bits = symbol_bits(max_order)
    if alphabet is not None and other_alphabet is not None:
        both = alphabet.extended(other_alphabet.characters)
        if len(both) <= Alphabet.capacity(bits):
            digits = exact_digits(other_keys, bits, max_order)
            return both, keys, join_digits(both.symbols_of(other_alphabet)[digits], bits)
        warn_of_mixed_keys(len(both), max_order)
    return None, _mixed(keys, alphabet, max_order), _mixed(other_keys, other_alphabet, max_order)


def joined(keys: np.ndarray, other_keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joins keys: each distinct one once, in the order of first occurrence.

    Returns:
        The joined keys, int64 `(size,)`, and the position there of each given key, int64
        `(len(keys) + len(other_keys),)`.
    """
    together = np.concatenate([keys, other_keys])
    distinct, first, inverse = np.unique(together, return_index=True, return_inverse=True)
    order = np.argsort(first)
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order))
    return distinct[order], positions[inverse]


def _mixed(keys: np.ndarray, alphabet: Alphabet | None, max_order: int) -> np.ndarray:
    if alphabet is None:
        return keys
    digits = exact_digits(keys, symbol_bits(max_order), max_order)
    orders = np.count_nonzero(digits, axis=1)
    mixed = np.empty_like(keys)
    for order in np.unique(orders).tolist():
        of_order = orders == order
        mixed[of_order] = mixed_keys(alphabet.code_points(digits[of_order, -order:]))
    return mixed
