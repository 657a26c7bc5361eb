"""Embedding tables as model folders and SavedModels store them: float32, or in fewer bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tf_charagram.errors import ConfigError

#: Suffix of the array with the scales of an integer table.
SCALES = "/scales"
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


class StoredTable(NamedTuple):
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


def stored_table(table: np.ndarray, dtype: str) -> StoredTable:
    """Converts a table to another type.

    An integer row is the float32 row divided by its scale and rounded. The scale is the row's
    largest absolute value divided by 127 (int8) or 7 (int4), so errors are at most half a scale.
    Storing a restored table gives the same bytes.

    Args:
        table: float32 `(num_rows, dim)`.
        dtype: One of `TABLE_DTYPES`.

    Raises:
        ConfigError: A number is not finite, or is too large for float16.

    Examples:
        >>> stored_table(np.array([[1.27, -0.64], [0, 0]], np.float32), "int8").rows.tolist()
        [[127, -64], [0, 0]]
    """
    if dtype == "float32":
        return StoredTable(table)
    if dtype in _MAX_LEVEL:
        rows, scales = whole_numbers(table, dtype)
        return StoredTable(_packed(rows) if dtype == "int4" else rows, scales)
    if _row_maxima(table, dtype).max() > np.finfo(np.float16).max:
        raise ConfigError("The table has numbers too large for float16. Use dtype=int8.")
    return StoredTable(table.astype(np.float16))


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
