"""Texts as arguments and as tensors, checks of text options, and look-up tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import index
from typing import Any, TypeVar

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.devices import on_cpu
from tf_charagram.errors import ConfigError, check_integers, check_positive, check_switches
from tf_charagram.text.batches import check_texts, checked_texts, decoded, to_bytes

_MAX_ORDER = 8
_UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")

T = TypeVar("T", bound=Hashable)


class LookupTable(tf.lookup.StaticHashTable):
    """A table from keys to rows.

    TensorFlow keeps the memory of a table that has a name, even after the table is deleted. A graph
    that is saved needs the name; a table that is used from Python does not, and gets none.

    Args:
        keys: Distinct keys, `(num_keys,)`.
        rows: A row for each key, integers `(num_keys,)`.
        default: The row of all other keys.
    """

    @on_cpu
    def __init__(self, keys: Any, rows: Any, default: int) -> None:
        super().__init__(tf.lookup.KeyValueTensorInitializer(keys, rows), default)

    def _create_resource(self) -> tf.Tensor:
        if not tf.executing_eagerly():
            return super()._create_resource()
        return tf.raw_ops.AnonymousHashTable(
            key_dtype=self.key_dtype,
            value_dtype=self.value_dtype,
        )


@on_cpu
def string_tensor(texts: Sequence[str | bytes]) -> tf.Tensor:
    """Converts texts to a UTF-8 string tensor `(num_texts,)`; surrogates as in `to_bytes`."""
    try:
        return tf.constant(texts, tf.string)  # Takes a third of the time.
    except ValueError:  # A surrogate.
        return tf.constant([to_bytes(text) for text in texts], tf.string)


def ids_function(vectorizer: keras.layers.Layer) -> Callable[[list[str]], tf.RaggedTensor]:
    """Returns a compiled function from a list of texts to their ids, int32 `(num_texts, None)`."""
    signature = [tf.TensorSpec([None], tf.string)]
    function = tf.function(vectorizer.__call__, input_signature=signature, autograph=False)
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


def paired_texts(left: Any, right: Any) -> tuple[list[str | bytes], list[str | bytes]]:
    """Returns the texts of both sides of pairs.

    Raises:
        ConfigError: A side is not a list of texts, or the two differ in length.
    """
    lefts = list(texts_of(left, "left"))
    rights = list(texts_of(right, "right"))
    if len(lefts) != len(rights):
        raise ConfigError(
            f"Number of left texts ({len(lefts)}) does not match number of right texts "
            f"({len(rights)})."
        )
    return lefts, rights


def texts_of(data: Any, name: str = "data") -> Iterable[Any]:
    """Returns the texts of a list, a column, an array, a tensor or a `tf.data.Dataset`, in order.

    Args:
        data: The texts; those of a tensor or a data set are returned as bytes.
        name: Name of the argument in errors.

    Returns:
        A list, or a stream that is checked as it is read.

    Raises:
        ConfigError: `data` is a single string, a mapping or a data frame, is not iterable, or has a
            row that is missing or of another type.
    """
    check_texts(data, name)
    if isinstance(data, tf.data.Dataset):
        return checked_texts(_elements(data), name)
    if tf.is_tensor(data) or isinstance(data, np.ndarray):
        if not np.ndim(data) or np.size(data) != len(data):
            raise ConfigError(f"`{name}` must be texts (n,). Received: shape {tuple(data.shape)}")
        data = np.ravel(data).tolist()
    if isinstance(data, list | tuple):
        kinds = set(map(type, data))
        # A look at each text is only needed for subclasses of strings, and to name a bad row.
        if not kinds <= {str, bytes}:
            list(checked_texts(data, name))
        return data
    if not isinstance(data, Iterable):
        raise ConfigError(f"`{name}` must be a list of texts. Received: {data!r}")
    return checked_texts(data, name)


def _elements(data: tf.data.Dataset) -> Iterator[Any]:
    """Yields the elements of a data set, batched or not."""
    for array in data.as_numpy_iterator():
        yield from np.ravel(array).tolist()


def strings_of(data: Any, name: str = "texts") -> list[str]:
    """Returns the texts of `texts_of`, decoded from UTF-8.

    Raises:
        ConfigError: `data` is not texts.
    """
    return [decoded(text) for text in texts_of(data, name)]


def distinct(texts: Iterable[T]) -> tuple[list[T], NDArray[np.int64]]:
    """Returns the distinct texts, in order, and the index of each text among them.

    Example:
        >>> texts, row_indices = distinct(["a", "b", "a"])
        >>> texts, row_indices.tolist()
        (['a', 'b'], [0, 1, 0])
    """
    index: dict[T, int] = {}
    row_indices = [index.setdefault(text, len(index)) for text in texts]
    return list(index), np.array(row_indices, np.int64)


def rows_by_text(texts: Iterable[T]) -> dict[T, list[int]]:
    """Returns the rows of each distinct text, in order.

    Example:
        >>> rows_by_text(["a", "b", "a"])
        {'a': [0, 2], 'b': [1]}
    """
    rows: dict[T, list[int]] = {}
    for row, text in enumerate(texts):
        rows.setdefault(text, []).append(row)
    return rows


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
