"""Tables in fewer bits: how their rows are stored, and made float32 again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tf_charagram.errors import ConfigError

TABLE_DTYPES = ("float32", "float16", "int8")
_LARGEST = np.float32(127)
#: Smaller rows than this are stored as zeros rather than divided by next to nothing.
_TINY = np.float32(1e-30)


class StoredTable(NamedTuple):
    """A table as it is stored.

    Attributes:
        rows: float32, float16 or int8 `(num_rows, dim)`.
        scales: What int8 rows are multiplied by, float32 `(num_rows, 1)`; else `None`.
    """

    rows: np.ndarray
    scales: np.ndarray | None = None

    def restored(self) -> np.ndarray:
        """Returns the table, float32 `(num_rows, dim)`."""
        table = self.rows.astype(np.float32, copy=False)
        return table if self.scales is None else np.multiply(table, self.scales, out=table)


def stored_table(table: np.ndarray, dtype: str) -> StoredTable:
    """Stores a table in another type.

    An int8 row is the float32 row divided by its scale and rounded; the scale is a 127th of the
    largest absolute value of the row, so no number is off by more than half a scale. What was
    restored is stored as the same bytes again.

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
    largest = np.abs(table).max(axis=1, keepdims=True)
    if num_bad := np.count_nonzero(~np.isfinite(largest)):
        raise ConfigError(
            f"A table is stored as {dtype} only if all its numbers are finite. Received: NaN or "
            f"infinity in {num_bad} of {len(table)} rows. Train again with a smaller learning rate."
        )
    if dtype == "int8":
        scales = np.maximum(largest, _TINY) / _LARGEST
        # Of one scale in 128, 127 times it is a number whose 127th rounds to the next scale.
        scales = scales * _LARGEST / _LARGEST
        return StoredTable(np.rint(table / scales).astype(np.int8), scales)
    if largest.max() > np.finfo(np.float16).max:
        raise ConfigError("The table has numbers too large for float16. Use dtype=int8.")
    return StoredTable(table.astype(np.float16))
