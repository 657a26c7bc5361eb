"""Sums rows of a table that is stored in few bits or memory-mapped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.models.stored_tables import StoredTable
from tf_charagram.reader.flat import Runs


class Table(NamedTuple):
    """A table of embeddings.

    Attributes:
        stored: The table as the model folder has it.
        dim: Width.
    """

    stored: StoredTable
    dim: int

    def sums(self, ids: Runs) -> NDArray[np.float32]:
        """Sums the rows of each text, float32 `(num_texts, dim)`."""
        rows, scales = self.stored
        # A restored copy of the whole table would take longer than a few texts, and much memory.
        is_read = np.zeros(len(rows), bool)
        is_read[ids.values] = True
        read = np.flatnonzero(is_read)
        place_of = np.cumsum(is_read) - 1
        few_scales = None if scales is None else scales[read]
        table = StoredTable(rows[read], few_scales).restored(self.dim)
        num_texts = len(ids.splits) - 1
        ones = np.ones(len(ids.values), np.float32)
        counts = sparse.csr_matrix(
            (ones, place_of[ids.values], ids.splits), shape=(num_texts, len(read))
        )
        return counts @ table
