"""Finds the pairs of rows that are worth comparing column by column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.search.records.columns import Column
from tf_charagram.search.records.names import other_forms
from tf_charagram.search.records.ngrams import trigram_tfidf

#: Candidates per row.
NUM_CANDIDATES = 40
# Keys of a row are looked up from the rarest on, until so many rows were found, with repetitions:
# frequent keys tell little.
_MAX_POSTINGS = 5000
# The same of all rows together, which bounds the time for large tables.
_MAX_ALL_POSTINGS = 1_500_000_000
# Left rows whose candidates are in memory at the same time.
_BATCH = 2000


def candidate_pairs(columns: Sequence[Column], k: int = NUM_CANDIDATES) -> NDArray[np.int64]:
    """Finds the k most similar right rows of each left row.

    Two rows are similar if they share rare values and rare trigrams of values, in the same column.

    Args:
        columns: The columns.
        k: Candidates per left row.

    Returns:
        Rows of both tables, `(num_pairs, 2)`, sorted. With one table, each pair once, and the left
        row is the smaller one.
    """
    is_one_table = columns[0].right is columns[0].left
    left = _keys(columns, "left")
    right = left if is_one_table else _keys(columns, "right")
    num_right = right.shape[0]
    postings = min(_MAX_POSTINGS, _MAX_ALL_POSTINGS // max(left.shape[0], 1))
    left = _rare_keys(left, np.bincount(right.indices, minlength=right.shape[1]), postings)
    by_key = right.T.tocsr()
    # A row of one table finds itself, too.
    k += is_one_table
    keys = [np.zeros(0, np.int64)]
    for start in range(0, left.shape[0], _BATCH):
        similarities = left[start : start + _BATCH] @ by_key
        for row, (first, last) in enumerate(pairwise(similarities.indptr.tolist()), start):
            found = similarities.indices[first:last]
            if len(found) > k:
                nearest = np.argpartition(similarities.data[first:last], -k)[-k:]
                found = found[nearest]
            found = found.astype(np.int64)
            if is_one_table:
                found = found[found != row]
                keys.append(np.minimum(found, row) * num_right + np.maximum(found, row))
            else:
                keys.append(row * num_right + found)
    distinct_keys = np.unique(np.concatenate(keys))
    return np.stack(np.divmod(distinct_keys, max(num_right, 1)), axis=1)


def _keys(columns: Sequence[Column], side: str) -> sparse.csr_array:
    """Returns the weights of the keys of each row, float32 `(num_rows, num_keys)`.

    The keys of a row are the trigrams of its values, and its values as a whole.
    """
    blocks = []
    for column in columns:
        ids = getattr(column, side)
        num_values = len(column.values)
        num_rows = max(column.counts.sum(), 1)
        # A trigram cannot tell more than the value it is part of.
        weights = sparse.diags_array(np.log1p(num_rows / column.counts), format="csr")
        letters = weights @ trigram_tfidf([_with_forms(value) for value in column.values])
        of_value = sparse.hstack([weights, letters], format="csr")
        has_value = ids >= 0
        rows = np.flatnonzero(has_value)
        chosen = sparse.csr_array(
            (np.ones(len(rows), np.float32), (rows, ids[has_value])), (len(ids), num_values)
        )
        blocks.append(chosen @ of_value)
    return sparse.csr_array(sparse.hstack(blocks, format="csr"), dtype=np.float32)


def _with_forms(value: str) -> str:
    """Appends other forms of a name, which share no trigram with it: `bill` and `william`."""
    return " ".join([value, *other_forms(value)])


def _rare_keys(
    keys: sparse.csr_array, num_rows: NDArray[np.integer], postings: int
) -> sparse.csr_array:
    """Drops the frequent keys of each row.

    The keys that stay are in at most `postings` rows, with repetitions. The rarest key always
    stays.

    Args:
        keys: Weights of keys, `(num_left, num_keys)`.
        num_rows: Number of right rows with each key.
        postings: Maximum number of right rows.
    """
    rows = np.repeat(np.arange(keys.shape[0]), np.diff(keys.indptr))
    counts = num_rows[keys.indices]
    # Row by row, the rarest keys first; each row keeps its place.
    order = np.lexsort((counts, rows))
    totals = np.cumsum(counts[order])
    starts = keys.indptr[:-1][rows]
    totals_before = np.append(0, totals)[starts]
    is_kept = totals - totals_before <= postings
    is_kept[starts] = True
    kept = np.sort(order[is_kept])
    splits = np.searchsorted(kept, keys.indptr)
    return sparse.csr_array((keys.data[kept], keys.indices[kept], splits), keys.shape)
