"""Tables in fewer bits: how their rows are stored, and restored to float32."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tf_charagram.errors import ConfigError

#: What a model folder can store.
TABLE_DTYPES = ("float32", "float16", "int8", "int4")
#: What an exported model can compute with.
SERVED_DTYPES = ("float32", "float16", "int8")
_LARGEST = {"int8": np.float32(127), "int4": np.float32(7)}
#: Those of them that are whole numbers times a scale per row.
INTEGER_DTYPES = tuple(_LARGEST)
#: Added to a four-bit number, so that none is negative.
_ZERO = 8
#: Smaller rows than this are stored as zeros rather than divided by next to nothing.
_TINY = np.float32(1e-30)


class StoredTable(NamedTuple):
    """A table as it is stored.

    Attributes:
        rows: float32, float16 or int8 `(num_rows, dim)`; or uint8 `(num_rows, ceil(dim / 2))`, two
            four-bit numbers per byte, the first one in the low bits.
        scales: What integers are multiplied by, float32 `(num_rows, 1)`; else `None`.
    """

    rows: np.ndarray
    scales: np.ndarray | None = None

    def restored(self, dim: int | None = None) -> np.ndarray:
        """Returns the table, float32 `(num_rows, dim)`.

        Args:
            dim: Needed where a byte holds two numbers.
        """
        rows = _unpacked(self.rows, dim) if self.rows.dtype == np.uint8 else self.rows
        table = rows.astype(np.float32, copy=False)
        return table if self.scales is None else np.multiply(table, self.scales, out=table)


def stored_table(table: np.ndarray, dtype: str) -> StoredTable:
    """Stores a table in another type.

    A row of integers is the float32 row divided by its scale and rounded; the scale is a 127th of
    the largest absolute value of the row as int8, a 7th as int4, so no number is off by more than
    half a scale. A restored table is stored as the same bytes again.

    Args:
        table: float32 `(num_rows, dim)`.
        dtype: One of `TABLE_DTYPES`.

    Raises:
        ConfigError: A number is not finite, or too large for float16.

    Example:
        >>> stored_table(np.array([[1.27, -0.64], [0, 0]], np.float32), "int8").rows.tolist()
        [[127, -64], [0, 0]]
    """
    if dtype == "float32":
        return StoredTable(table)
    if dtype in _LARGEST:
        rows, scales = whole_numbers(table, dtype)
        return StoredTable(_packed(rows) if dtype == "int4" else rows, scales)
    if _row_maxima(table, dtype).max() > np.finfo(np.float16).max:
        raise ConfigError("The table has numbers too large for float16. Use dtype=int8.")
    return StoredTable(table.astype(np.float16))


def whole_numbers(table: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Rounds a table to whole numbers times a scale per row, as `stored_table` stores it.

    Args:
        table: float32 `(num_rows, dim)`.
        dtype: One of `INTEGER_DTYPES`.

    Returns:
        int8 `(num_rows, dim)`, and the scales, float32 `(num_rows, 1)`.

    Raises:
        ConfigError: A number is not finite.
    """
    levels = _LARGEST[dtype]
    scales = np.maximum(_row_maxima(table, dtype), _TINY) / levels
    # For one scale in 128, a 127th of 127 times the scale rounds to the next number.
    scales = scales * levels / levels
    return np.rint(table / scales).astype(np.int8), scales


def _row_maxima(table: np.ndarray, dtype: str) -> np.ndarray:
    """Returns the largest absolute value of each row; raises as `stored_table`."""
    largest = np.abs(table).max(axis=1, keepdims=True)
    if num_bad := np.count_nonzero(~np.isfinite(largest)):
        raise ConfigError(
            f"A table is stored as {dtype} only if all its numbers are finite. Received: NaN or "
            f"infinity in {num_bad} of {len(table)} rows. Train again with a smaller learning rate."
        )
    return largest


def _packed(rows: np.ndarray) -> np.ndarray:
    """Returns int8 rows of numbers from -8 to 7, two numbers in a byte."""
    shifted = (rows + _ZERO).astype(np.uint8)
    if shifted.shape[1] % 2:
        shifted = np.pad(shifted, ((0, 0), (0, 1)), constant_values=_ZERO)
    return shifted[:, 0::2] | shifted[:, 1::2] << 4


def _unpacked(rows: np.ndarray, dim: int | None) -> np.ndarray:
    """Returns what `_packed` packed, int8 `(num_rows, dim)`."""
    numbers = np.stack([rows & 15, rows >> 4], axis=-1).astype(np.int8) - np.int8(_ZERO)
    return numbers.reshape(len(rows), -1)[:, :dim]
