"""A table from keys to rows, in NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text._algorithm.hashing import MULTIPLIER

_SPREAD = MULTIPLIER.astype(np.int64)


class KeyTable:
    """Finds the rows of int64 keys, several times as fast as a binary search.

    Args:
        keys: Distinct keys in any order, `(num_keys,)`.
        rows: The row of each key, int32 `(num_keys,)`.
        default: The row of all other keys.
        are_mixed: Whether keys are spread evenly over all int64, as hashes are. Other keys are
            multiplied by a constant, here and before each look-up, which maps them one to one.
    """

    def __init__(
        self, keys: NDArray[np.int64], rows: NDArray[Any], default: int, *, are_mixed: bool = True
    ) -> None:
        self._are_mixed = are_mixed
        keys = self._mixed(keys)
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys)
            keys = keys[order]
            rows = rows[order]
        if not len(keys):
            keys = np.zeros(1, np.int64)
            rows = np.full(1, default, np.int32)
        # Sorted keys are in buckets by their highest bits, about one key in each.
        self._num_bits = len(keys).bit_length()
        num_buckets = 1 << self._num_bits
        counts = np.bincount(self._buckets(keys), minlength=num_buckets)
        self._firsts = np.zeros(num_buckets + 1, np.int32)
        np.cumsum(counts, dtype=np.int32, out=self._firsts[1:])
        self._keys = keys
        self._rows = rows
        self._default = default

    def lookup(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Returns the row of each key, int32, in the shape of `keys`."""
        flat_keys = self._mixed(keys.ravel())
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
            pending = pending[keys_there < searched[pending]]
        rows = self._rows[places]
        rows[found != flat_keys] = self._default
        return rows.reshape(keys.shape)

    def _mixed(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return keys if self._are_mixed else keys * _SPREAD

    def _buckets(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the bucket of each key: its highest bits, of which the first is the sign."""
        num_buckets = 1 << self._num_bits
        return (keys >> 64 - self._num_bits) + num_buckets // 2
