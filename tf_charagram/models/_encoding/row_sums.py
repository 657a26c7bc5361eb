"""Sums rows of a table that is stored in few bits or memory-mapped."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models._storage.stored_tables import StoredTable
from tf_charagram.text._algorithm.flat import Rows
from tf_charagram.text._algorithm.ids import Ngrams

# Rows that are restored at a time, so that they stay in the cache.
_BLOCK_ROWS = 1024


class RowSums:
    """A table of embeddings, which adds the rows of n-grams up.

    It reads a row for the longest n-gram at each position, to which it has added the rows of the
    known n-grams that the n-gram begins with: fewer than half as many rows. The sums are those of
    `tf_charagram.models._encoding.prefix_sums`, for the rows that are read.

    Args:
        stored: The table as the model folder has it.
        dim: Width.
        ngram_ids: Finds the rows.
    """

    def __init__(self, stored: StoredTable, dim: int, ngram_ids: Ngrams) -> None:
        self._stored = stored
        self.dim = dim
        self._ngram_ids = ngram_ids
        # Rows that were restored so far, with repetitions.
        self._num_restored = 0

    def sums(self, ids: Rows, weights: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Sums the rows of each text, float32 `(num_texts, dim)`.

        Args:
            ids: The rows of the longest n-grams of each text.
            weights: The factor of each row, float32 `(num_ids,)`. Default: 1.
        """
        if weights is None:
            weights = np.ones(len(ids.values), np.float32)
        num_rows = len(self._stored.rows)
        # The whole table takes much memory, and as long as all its rows one by one.
        if self._num_restored > num_rows:
            return _products(ids, weights, self._summed)
        is_read = np.zeros(num_rows, bool)
        is_read[ids.values] = True
        read = np.flatnonzero(is_read)
        self._num_restored += len(read)
        table = self._rows_with_prefixes(read)
        places = np.cumsum(is_read, dtype=np.int32) - 1
        rows = places[ids.values]
        if len(rows) > num_rows:
            return _products(Rows(rows, ids.splits), weights, table)
        num_texts = len(ids.splits) - 1
        sums = np.zeros((num_texts, self.dim), np.float32)
        for text, (start, end) in enumerate(pairwise(ids.splits.tolist())):
            sums[text] = weights[start:end] @ table[rows[start:end]]
        return sums

    @cached_property
    def _summed(self) -> NDArray[np.float32]:
        return self._rows_with_prefixes(np.arange(len(self._stored.rows)))

    def _rows_with_prefixes(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Returns rows, to which those of the known n-grams are added that they begin with."""
        table = np.zeros((len(ids), self.dim), np.float32)
        # The shortest first, as in a folded table, so that rounding is the same.
        for summands in self._ngram_ids.summed(ids):
            known = np.flatnonzero(summands >= 0)
            # In blocks, because a copy of the table may not fit into memory.
            for start in range(0, len(known), _BLOCK_ROWS):
                places = known[start : start + _BLOCK_ROWS]
                table[places] += self.rows(summands[places])
        return table

    def rows(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Restores some rows, float32 `(num_ids, dim)`."""
        table = np.empty((len(ids), self.dim), np.float32)
        for start in range(0, len(ids), _BLOCK_ROWS):
            block = ids[start : start + _BLOCK_ROWS]
            scales = self._stored.scales
            if scales is not None:
                scales = scales[block]
            stored = StoredTable(self._stored.rows[block], scales)
            table[start : start + _BLOCK_ROWS] = stored.restored(self.dim)
        return table


def _products(
    ids: Rows, weights: NDArray[np.float32], table: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Sums rows of a table, as the product with a sparse matrix of weights."""
    # Importing it takes as long as NumPy, and few texts do not need it.
    from scipy import sparse

    shape = (len(ids.splits) - 1, len(table))
    # SciPy is slower with larger integers, and converts mixed ones.
    matrix = sparse.csr_matrix((weights, ids.values, ids.splits.astype(np.int32)), shape)
    return matrix @ table
