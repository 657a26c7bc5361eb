"""Texts as arguments: lists, columns, arrays, tensors and data sets; distinct texts."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.batches import check_texts, checked_texts, decoded

T = TypeVar("T", bound=Hashable)


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
        data: The texts; a column may be of Arrow; texts of a tensor or a data set are returned as
            bytes.
        name: Name of the argument in errors.

    Returns:
        A list, or a stream that is checked as it is read.

    Raises:
        ConfigError: `data` is a single string, a mapping or a data frame, is not iterable, or has a
            row that is missing or of another type.
    """
    check_texts(data, name)
    # A column of Arrow.
    data = data.to_pylist() if hasattr(data, "to_pylist") else data
    # There are tensors and data sets only where TensorFlow is imported.
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(data, tensorflow.data.Dataset):
        return checked_texts(_elements(data), name)
    is_tensor = tensorflow is not None and tensorflow.is_tensor(data)
    if is_tensor or isinstance(data, np.ndarray):
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


def _elements(data: Any) -> Iterator[Any]:
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

    Examples:
        >>> texts, row_indices = distinct(["a", "b", "a"])
        >>> texts, row_indices.tolist()
        (['a', 'b'], [0, 1, 0])
    """
    index: dict[T, int] = {}
    row_indices = [index.setdefault(text, len(index)) for text in texts]
    return list(index), np.array(row_indices, np.int64)
