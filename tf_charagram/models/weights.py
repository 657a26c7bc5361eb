"""Weights as arrays of a model folder: float32, or embedding tables in fewer bits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.files.arrays import ArrayFile
from tf_charagram.layers.embedding_table import embedding_tables

#: Types of tables in model folders.
TABLE_DTYPES = ("float32", "float16", "int8", "int4")
#: Types of tables in SavedModels.
SERVED_DTYPES = ("float32", "float16", "int8")
_MAX_LEVEL = {"int8": np.float32(127), "int4": np.float32(7)}
#: The types that store integers and a scale per row.
INTEGER_DTYPES = tuple(_MAX_LEVEL)
# Makes four-bit integers non-negative.
_ZERO = 8
# Rows with smaller numbers are stored as zeros.
_TINY = np.float32(1e-30)


class _StoredTable(NamedTuple):
    """A stored table.

    Attributes:
        rows: float32, float16 or int8 `(num_rows, dim)`; or uint8 `(num_rows, ceil(dim / 2))`, two
            four-bit integers per byte, the first integer in the low bits.
        scales: Factors of integer rows, float32 `(num_rows, 1)`; `None` for floats.
    """

    rows: np.ndarray
    scales: np.ndarray | None = None

    def restored(self, dim: int | None = None) -> np.ndarray:
        """Returns the table, float32 `(num_rows, dim)`.

        Args:
            dim: Width; required for four-bit integers.
        """
        rows = _unpacked(self.rows, dim) if self.rows.dtype == np.uint8 else self.rows
        table = rows.astype(np.float32, copy=False)
        if self.scales is not None:
            # In place: a copy would take the memory of a second table.
            np.multiply(table, self.scales, out=table)
        return table


def stored_table(table: np.ndarray, dtype: str) -> _StoredTable:
    """Converts a table to another type.

    An integer row is the float32 row divided by its scale and rounded. The scale is the row's
    largest absolute value divided by 127 (int8) or 7 (int4), so errors are at most half a scale.
    Storing a restored table gives the same bytes.

    Args:
        table: float32 `(num_rows, dim)`.
        dtype: One of `TABLE_DTYPES`.

    Raises:
        ConfigError: A number is not finite, or is too large for float16.

    Example:
        >>> stored_table(np.array([[1.27, -0.64], [0, 0]], np.float32), "int8").rows.tolist()
        [[127, -64], [0, 0]]
    """
    if dtype == "float32":
        return _StoredTable(table)
    if dtype in _MAX_LEVEL:
        rows, scales = whole_numbers(table, dtype)
        return _StoredTable(_packed(rows) if dtype == "int4" else rows, scales)
    if _row_maxima(table, dtype).max() > np.finfo(np.float16).max:
        raise ConfigError("The table has numbers too large for float16. Use dtype=int8.")
    return _StoredTable(table.astype(np.float16))


def whole_numbers(table: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Rounds a table to integers and a scale per row.

    Each row is divided by its scale: its largest absolute value divided by 127 (int8) or 7 (int4).

    Args:
        table: float32 `(num_rows, dim)`.
        dtype: One of `INTEGER_DTYPES`.

    Returns:
        Integers, int8 `(num_rows, dim)`, and scales, float32 `(num_rows, 1)`.

    Raises:
        ConfigError: A number is not finite.
    """
    levels = _MAX_LEVEL[dtype]
    scales = np.maximum(_row_maxima(table, dtype), _TINY) / levels
    # Rounded twice, so that restored tables give the same scales again.
    scales = scales * levels / levels
    numbers = np.rint(table / scales)
    return numbers.astype(np.int8), scales


def _row_maxima(table: np.ndarray, dtype: str) -> np.ndarray:
    """Returns the largest absolute value of each row, `(num_rows, 1)`.

    Raises:
        ConfigError: A number is not finite.
    """
    largest = np.abs(table).max(axis=1, keepdims=True)
    # The maximum of a row with NaN is NaN.
    num_bad = np.count_nonzero(~np.isfinite(largest))
    if num_bad:
        raise ConfigError(
            f"A table must be finite to be stored as {dtype}. Received: NaN or infinity in "
            f"{num_bad} of {len(table)} rows. Train again with a smaller learning rate."
        )
    return largest


def _packed(rows: np.ndarray) -> np.ndarray:
    """Packs two integers from -8 to 7 into each byte."""
    shifted = (rows + _ZERO).astype(np.uint8)
    if shifted.shape[1] % 2:
        # A last column of zeros, which `_unpacked` cuts off.
        shifted = np.pad(shifted, ((0, 0), (0, 1)), constant_values=_ZERO)
    low_bits = shifted[:, 0::2]
    high_bits = shifted[:, 1::2] << 4
    return low_bits | high_bits


def _unpacked(rows: np.ndarray, dim: int | None) -> np.ndarray:
    """Inverts `_packed`; returns float32 `(num_rows, dim)`."""
    # One look-up of both numbers of a byte.
    all_bytes = np.arange(256)
    low_bits = all_bytes & 15
    high_bits = all_bytes >> 4
    pairs = np.stack([low_bits, high_bits], axis=1).astype(np.float32)
    pairs -= _ZERO
    table = pairs.take(rows, axis=0).reshape(len(rows), -1)
    return table[:, :dim]


# Suffix of the array with the scales of an integer table.
_SCALES = "/scales"
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
    if table_dtype not in TABLE_DTYPES:
        raise ConfigError(unknown_name("table_dtype", table_dtype, TABLE_DTYPES))
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
            arrays[name + _SCALES] = scales
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
            scales = stored.infos[name + _SCALES]
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
        scales = stored.read(name + _SCALES)
        largest = _largest(scales)
        dim = weight.shape[-1]
        for first in range(0, len(rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            part = _StoredTable(rows[block], scales[block])
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
    """Returns a tensor that shares the memory of an array of `_aligned_empty`, to be left as is."""
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
