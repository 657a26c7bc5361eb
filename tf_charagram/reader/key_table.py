"""A table from keys to rows, in arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tf_charagram.reader.flat import Ints


class KeyTable:
    """Finds the rows of well-mixed keys, several times as fast as a binary search.

    Args:
        keys: Ascending keys, spread evenly over all int64, `(num_keys,)`.
        rows: The row of each key, int32 `(num_keys,)`.
        default: The row of all other keys.
    """

    def __init__(self, keys: Ints, rows: NDArray[np.integer], default: int) -> None:
        if not len(keys):
            keys = np.zeros(1, np.int64)
            rows = np.array([default])
        # Sorted keys are in buckets by their highest bits, about one key in each.
        self._num_bits = max(len(keys).bit_length(), 1)
        num_buckets = 1 << self._num_bits
        buckets = self._buckets(keys)
        counts = np.bincount(buckets, minlength=num_buckets)
        self._firsts = np.zeros(num_buckets + 1, np.int32)
        ends = self._firsts[1:]
        np.cumsum(counts, dtype=np.int32, out=ends)
        self._keys = keys
        self._rows = rows
        self._default = default

    @classmethod
    def of_rows(cls, keys: Ints, rows: NDArray[np.integer]) -> KeyTable:
        """Returns a table of keys in any order; other keys have the row -1."""
        order = np.argsort(keys)
        ordered_rows = rows[order].astype(np.int32)
        return cls(keys[order], ordered_rows, -1)

    def rows(self, keys: Ints) -> Ints:
        """Returns the row of each key, int64, in the shape of `keys`."""
        flat_keys = keys.ravel()
        # A search ends at the last key at the latest.
        searched = np.minimum(flat_keys, self._keys[-1])
        places = self._firsts[self._buckets(searched)]
        found = self._keys[places]
        pending = np.flatnonzero(found < searched)
        while len(pending):
            # The key may be further on in its bucket.
            places[pending] += 1
            keys_there = self._keys[places[pending]]
            found[pending] = keys_there
            is_before = keys_there < searched[pending]
            pending = pending[is_before]
        rows = self._rows[places].astype(np.int64)
        rows[found != flat_keys] = self._default
        return rows.reshape(keys.shape)

    def _buckets(self, keys: Ints) -> Ints:
        """Returns the bucket of each key: its highest bits, of which the first is the sign."""
        num_buckets = 1 << self._num_bits
        highest_bits = keys >> 64 - self._num_bits
        return highest_bits + num_buckets // 2
