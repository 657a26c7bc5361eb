"""Weights as arrays of a model folder: float32, or embedding tables in fewer bits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._files.arrays import ArrayFile
from tf_charagram.errors import ConfigError, check_name
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.models._storage.stored_tables import (
    SCALES,
    TABLE_DTYPES,
    StoredTable,
    stored_table,
)

# Rows converted to float32 at a time, so that they stay in the cache.
_BLOCK_ROWS = 1024
# TensorFlow expects tensors to begin at a multiple of this many bytes.
_ALIGNMENT = 64
# Sums of larger weights may overflow.
_MAX_WEIGHT = 1e20


def weights_of(layers: Iterable[keras.layers.Layer]) -> list[keras.Variable]:
    """Returns the weights of layers, in order."""
    return [weight for layer in layers for weight in layer.weights]


def weight_arrays(layers: Sequence[keras.layers.Layer], table_dtype: str) -> dict[str, np.ndarray]:
    """Returns weight path -> array to store.

    Args:
        layers: The encoder, whose embedding tables are stored as `table_dtype`, and any head.
        table_dtype: One of `TABLE_DTYPES`.

    Raises:
        ConfigError: `table_dtype` is unknown or does not fit a table, or a weight is not finite.
    """
    check_name("table_dtype", table_dtype, TABLE_DTYPES)
    encoder = layers[0]
    arrays = {weight.path: _view(weight) for weight in weights_of(layers)}
    for name, numbers in arrays.items():
        largest = _largest(numbers)
        # True for NaN as well, because no comparison with NaN holds.
        if not largest <= _MAX_WEIGHT:
            raise ConfigError(
                f"The model cannot be saved: its weights '{name}' contain {largest}. Train again "
                "with a smaller learning rate."
            )
    if table_dtype == "float32":
        return arrays
    tables = [table.path for table in embedding_tables(encoder)]
    if not tables:
        raise ConfigError(
            f"`table_dtype` must be float32 for {type(encoder).__name__}, which has no "
            f"embedding table. Received: table_dtype={table_dtype}"
        )
    for name in tables:
        arrays[name], scales = stored_table(arrays[name], table_dtype)
        if scales is not None:
            arrays[name + SCALES] = scales
    return arrays


def check_shapes(weights: Sequence[keras.Variable], stored: ArrayFile) -> None:
    """Checks that each weight has a stored array of its shape.

    Raises:
        KeyError: The scales of an integer table are missing.
        ValueError: Another array is missing or has another shape.
    """
    for weight in weights:
        name = weight.path
        if name not in stored.infos:
            raise ValueError(f"the array '{name}' is missing")
        info = stored.infos[name]
        expected = tuple(weight.shape)
        if info.dtype.kind in "iu":
            if len(expected) != 2:
                raise ValueError(f"the array '{name}' holds integers, but is not a table")
            num_rows, dim = expected
            scales = stored.infos[name + SCALES]
            if scales.shape != (num_rows, 1):
                raise ValueError(f"the scales of '{name}' are {scales.shape}")
            if info.dtype == np.uint8:
                # Two four-bit integers per byte.
                expected = (num_rows, (dim + 1) // 2)
        if info.shape != expected:
            raise ValueError(f"the array '{name}' is {info.shape}, where {expected} is expected")


def restore(weight: keras.Variable, stored: ArrayFile) -> None:
    """Assigns the stored array to a weight.

    Raises:
        ValueError: It contains NaN, infinity, or too large a number.
    """
    name = weight.path
    rows = stored.read(name)
    table = _aligned_empty(weight.shape)
    if rows.dtype.kind in "iu":
        # Integers are finite, but their scales may be too large.
        scales = stored.read(name + SCALES)
        largest = _largest(scales)
        dim = weight.shape[-1]
        for first in range(0, len(rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            part = StoredTable(rows[block], scales[block])
            table[block] = part.restored(dim)
    else:
        largest = _largest(rows)
        table[...] = rows
    if not largest <= _MAX_WEIGHT:
        raise ValueError(f"the array '{name}' contains {largest}")
    weight.assign(_shared_tensor(table))


def _aligned_empty(shape: Sequence[int]) -> np.ndarray:
    """Returns an uninitialized float32 array for `_shared_tensor`.

    NumPy asks for huge pages before the memory is used, so that nothing is moved later.
    """
    size = math.prod(shape)
    room = np.empty(size + _ALIGNMENT, np.float32)
    # Bytes from the start of the memory to the next multiple of the alignment.
    num_skipped = -room.ctypes.data % _ALIGNMENT
    first = num_skipped // room.itemsize
    return room[first : first + size].reshape(shape)


def _shared_tensor(array: np.ndarray) -> tf.Tensor:
    """Wraps an array of `_aligned_empty` in a tensor without a copy; the array must not change."""
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def _largest(numbers: np.ndarray) -> float:
    """Returns the largest absolute value; NaN if there is any; 0 for integers."""
    if numbers.dtype.kind != "f" or not numbers.size:
        return 0.0
    # `min` and `max` propagate NaN.
    return float(max(-numbers.min(), numbers.max()))


def _view(weight: keras.Variable) -> np.ndarray:
    """Returns the values of a weight, float32, without the copy of `numpy()`."""
    return np.asarray(memoryview(tf.convert_to_tensor(weight)))
