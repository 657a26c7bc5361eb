"""Texts as arguments and as tensors, checks of text options, and look-up tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any

import keras
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram.errors import ConfigError, check_integers, check_positive, check_switches
from tf_charagram.text._algorithm.batches import to_bytes

_MAX_ORDER = 8
_UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class LookupTable(tf.lookup.StaticHashTable):
    """A table from keys to rows.

    TensorFlow keeps the memory of a table that has a name, even after the table is deleted. A graph
    that is saved needs the name; a table that is used from Python does not, and gets none.

    Args:
        keys: Distinct keys, `(num_keys,)`.
        rows: A row for each key, integers `(num_keys,)`.
        default: The row of all other keys.
        are_mixed: Whether keys are spread evenly. Only a `KeyTable` needs it.
    """

    @on_cpu
    def __init__(self, keys: Any, rows: Any, default: int, *, are_mixed: bool = True) -> None:
        del are_mixed
        super().__init__(tf.lookup.KeyValueTensorInitializer(keys, rows), default)

    def _create_resource(self) -> tf.Tensor:
        if not tf.executing_eagerly():
            return super()._create_resource()
        return tf.raw_ops.AnonymousHashTable(
            key_dtype=self.key_dtype,
            value_dtype=self.value_dtype,
        )


def ragged(values: tf.Tensor, splits: tf.Tensor) -> tf.RaggedTensor:
    """Splits a vector into rows, without the checks of row splits that TensorFlow adds."""
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


@on_cpu
def string_tensor(texts: Sequence[str | bytes]) -> tf.Tensor:
    """Converts texts to a UTF-8 string tensor `(num_texts,)`; surrogates as in `to_bytes`."""
    try:
        return tf.constant(texts, tf.string)  # Takes a third of the time.
    except ValueError:  # A surrogate.
        return tf.constant([to_bytes(text) for text in texts], tf.string)


def tensor_of(texts: Any) -> Any:
    """Converts a list of texts to a string tensor; tensors and arrays stay as they are."""
    if not isinstance(texts, list | tuple):
        return texts
    are_texts = all(isinstance(text, str | bytes) for text in texts)
    return string_tensor(texts) if are_texts else texts


def ids_function(
    vectorize: Callable[[tf.Tensor], tf.RaggedTensor],
) -> Callable[[list[str]], tf.RaggedTensor]:
    """Compiles a function from a list of texts to their ids, int32 `(num_texts, None)`.

    Args:
        vectorize: A vectorizer, or its `training_ids`.
    """
    signature = [tf.TensorSpec([None], tf.string)]
    # A layer is not a function, and TensorFlow cannot refer to `__call__` of a method.
    function = tf.function(
        lambda texts: vectorize(texts), input_signature=signature, autograph=False
    )
    return on_cpu(lambda texts: function(string_tensor(texts)))


def check_shape(texts: tf.Tensor | keras.KerasTensor) -> None:
    """Checks that texts, which may be symbolic, are `(batch,)`.

    Raises:
        ConfigError: They have another rank.
    """
    rank = texts.shape.rank if tf.is_tensor(texts) else len(texts.shape)
    if rank not in (None, 1):
        raise ConfigError(
            f"`texts` must be strings (batch,). Received: shape {tuple(texts.shape)}. The input "
            'of a Keras model is keras.Input((), dtype="string").'
        )


def check_orders(orders: Iterable[int]) -> tuple[int, ...]:
    """Returns n-gram orders sorted and without duplicates.

    Raises:
        ConfigError: There are no orders, or one is not an integer from 1 to 8.
    """
    try:
        ascending = sorted({index(order) for order in orders})
    except TypeError:
        ascending = []
    if not ascending or ascending[0] < 1 or ascending[-1] > _MAX_ORDER:
        raise ConfigError(
            f"n-gram orders must be integers from 1 to {_MAX_ORDER}. Received: {orders}"
        )
    return tuple(ascending)


def check_text_options(lowercase: bool, unicode_form: str | None, max_chars: int | None) -> None:
    """Checks the options that all vectorizers share.

    Raises:
        ConfigError: `lowercase` is not a bool, `unicode_form` is unknown, or `max_chars` is not an
            integer in [1, 2^31).
    """
    check_switches(lowercase=lowercase)
    if unicode_form not in (None, *_UNICODE_FORMS):
        raise ConfigError(
            f"`unicode_form` must be None, NFC, NFD, NFKC or NFKD. Received: {unicode_form!r}"
        )
    check_integers(max_chars=max_chars)
    if max_chars is not None and not 1 <= max_chars < 2**31:
        raise ConfigError(f"`max_chars` must be in [1, 2^31) or None. Received: {max_chars}")


def check_counting(min_count: int, **limits: int | None) -> None:
    """Checks how units are selected by their counts.

    Args:
        min_count: Minimum number of occurrences of a unit.
        **limits: Name and value of each limit on the number of units.

    Raises:
        ConfigError: One is not an integer, or below 1.
    """
    check_positive(min_count=min_count)
    check_integers(**limits)
    for name, value in limits.items():
        if value is not None and value < 1:
            raise ConfigError(f"`{name}` must be at least 1 or None. Received: {value}")
