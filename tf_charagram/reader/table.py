"""Sums rows of a table that is stored in few bits or memory-mapped."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models.stored_tables import StoredTable
from tf_charagram.reader.flat import Ints, Runs


class Table:
    """A table of embeddings.

    Args:
        stored: The table as the model folder has it.
        dim: Width.
    """

    def __init__(self, stored: StoredTable, dim: int) -> None:
        self._stored = stored
        self.dim = dim

    def sums(self, ids: Runs) -> NDArray[np.float32]:
        """Sums the rows of each text, float32 `(num_texts, dim)`."""
        num_rows = len(self._stored.rows)
        if len(ids.values) > num_rows:
            return _products(ids, self._restored)
        # Restoring the whole table would take longer than few texts, and much memory.
        is_read = np.zeros(num_rows, bool)
        is_read[ids.values] = True
        table = self._rows(np.flatnonzero(is_read))
        places = np.cumsum(is_read) - 1
        num_texts = len(ids.splits) - 1
        sums = np.zeros((num_texts, self.dim), np.float32)
        for text, (start, end) in enumerate(pairwise(ids.splits.tolist())):
            rows = places[ids.values[start:end]]
            sums[text] = table[rows].sum(axis=0)
        return sums

    @cached_property
    def _restored(self) -> NDArray[np.float32]:
        return self._stored.restored(self.dim)

    def _rows(self, rows: Ints) -> NDArray[np.float32]:
        """Restores some rows, float32 `(num_rows, dim)`."""
        scales = self._stored.scales
        if scales is not None:
            scales = scales[rows]
        return StoredTable(self._stored.rows[rows], scales).restored(self.dim)


def _products(ids: Runs, table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sums rows of a table, as the product with a sparse matrix of ones."""
    # Importing it takes as long as NumPy, and few texts do not need it.
    from scipy import sparse

    ones = np.ones(len(ids.values), np.float32)
    shape = (len(ids.splits) - 1, len(table))
    matrix = sparse.csr_matrix((ones, ids.values, ids.splits), shape)
    return matrix @ table
