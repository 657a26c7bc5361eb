"""Sums rows of a table that is stored in few bits or memory-mapped."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models.stored_tables import StoredTable
from tf_charagram.text.flat import Rows

# Rows that are restored at a time, so that they stay in the cache.
_BLOCK_ROWS = 1024


class Table:
    """A table of embeddings.

    Args:
        stored: The table as the model folder has it.
        dim: Width.
    """

    def __init__(self, stored: StoredTable, dim: int) -> None:
        self._stored = stored
        self.dim = dim
        self._has_read_many = False

    def sums(self, ids: Rows) -> NDArray[np.float32]:
        """Sums the rows of each text, float32 `(num_texts, dim)`."""
        num_rows = len(self._stored.rows)
        is_many = len(ids.values) > num_rows
        if is_many and self._has_read_many:
            return _products(ids, self._restored)
        # Restoring the whole table takes longer than one batch, and much memory.
        self._has_read_many |= is_many
        is_read = np.zeros(num_rows, bool)
        is_read[ids.values] = True
        table = self._rows(np.flatnonzero(is_read))
        places = np.cumsum(is_read) - 1
        rows = places[ids.values]
        if is_many:
            return _products(Rows(rows, ids.splits), table)
        num_texts = len(ids.splits) - 1
        sums = np.zeros((num_texts, self.dim), np.float32)
        for text, (start, end) in enumerate(pairwise(ids.splits.tolist())):
            sums[text] = table[rows[start:end]].sum(axis=0)
        return sums

    @cached_property
    def _restored(self) -> NDArray[np.float32]:
        rows = np.arange(len(self._stored.rows))
        return self._rows(rows)

    def _rows(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Restores some rows, float32 `(num_rows, dim)`."""
        table = np.empty((len(rows), self.dim), np.float32)
        for start in range(0, len(rows), _BLOCK_ROWS):
            block = rows[start : start + _BLOCK_ROWS]
            scales = self._stored.scales
            if scales is not None:
                scales = scales[block]
            stored = StoredTable(self._stored.rows[block], scales)
            table[start : start + _BLOCK_ROWS] = stored.restored(self.dim)
        return table


def _products(ids: Rows, table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sums rows of a table, as the product with a sparse matrix of ones."""
    # Importing it takes as long as NumPy, and few texts do not need it.
    from scipy import sparse

    ones = np.ones(len(ids.values), np.float32)
    shape = (len(ids.splits) - 1, len(table))
    matrix = sparse.csr_matrix((ones, ids.values, ids.splits), shape)
    return matrix @ table
