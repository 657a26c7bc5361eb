"""Finds the rows of a sparse matrix that share rare keys with other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def nearest_pairs(
    left: sparse.csr_array,
    by_key: sparse.csr_array,
    k: int,
    min_products: NDArray[np.floating] | None = None,
) -> NDArray[np.int64]:
    """Finds for each left row the k right rows with the largest products.

    Args:
        left: Weights of the keys of left rows, `(num_left, num_keys)`; rare keys, or most rows
            would be found.
        by_key: Weights of the keys of right rows, one row per key, `(num_keys, num_right)`.
        k: Number of right rows; of equal products, lower rows come first.
        min_products: Minimum product of each left row, `(num_left,)`.

    Returns:
        Pairs as one integer each, `left_row * num_right + right_row`: NumPy finds distinct integers
        faster than distinct rows of an array.
    """
    num_right = by_key.shape[1]
    products = left @ by_key
    if min_products is not None:
        least = np.repeat(min_products, np.diff(products.indptr))
        products = entries(products, np.flatnonzero(products.data >= least))
    num_found = np.diff(products.indptr)
    pairs = np.repeat(np.arange(len(num_found)), num_found) * num_right + products.indices
    is_long = num_found > k
    found = [pairs[~np.repeat(is_long, num_found)]]
    for row in np.flatnonzero(is_long).tolist():
        own = slice(products.indptr[row], products.indptr[row + 1])
        found.append(_largest(products.data[own], pairs[own], k))
    return np.concatenate(found)


def entries(matrix: sparse.csr_array, places: NDArray[np.integer]) -> sparse.csr_array:
    """Keeps some entries of a matrix; `places` is ascending."""
    # Integers of one kind: SciPy would convert the other matrix for each product.
    splits = np.searchsorted(places, matrix.indptr).astype(matrix.indices.dtype)
    return sparse.csr_array((matrix.data[places], matrix.indices[places], splits), matrix.shape)


def distinct_integers(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns distinct integers, ascending; all must be at least 0.

    NumPy puts them into a hash table, which takes 50 times as long for millions of integers.
    """
    ordered = np.sort(values)
    is_new = np.diff(ordered, prepend=-1) > 0
    return ordered[is_new]


def _largest(products: NDArray[np.float32], pairs: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Returns the pairs with the k largest products; of equal products, the lower pairs."""
    order = np.argpartition(products, -k)
    last = products[order[-k]]
    if np.count_nonzero(products >= last) == k:
        return pairs[order[-k:]]
    larger = pairs[products > last]
    equal = np.sort(pairs[products == last])
    return np.concatenate([larger, equal[: k - len(larger)]])


def rare_keys(
    keys: sparse.csr_array, num_rows: NDArray[np.integer], max_postings: int
) -> sparse.csr_array:
    """Drops the frequent keys of each row, which tell little and are in most rows.

    The keys of a row are kept from the rarest on, until they find so many right rows, with
    repetitions. The rarest key is always kept.

    Args:
        keys: Weights of keys, `(num_left, num_keys)`.
        num_rows: Number of right rows with each key, `(num_keys,)`.
        max_postings: Maximum number of right rows of all keys of a row.
    """
    rows = np.repeat(np.arange(keys.shape[0]), np.diff(keys.indptr))
    counts = num_rows[keys.indices]
    # Row by row, the rarest keys first; each row keeps its place.
    order = np.lexsort((counts, rows))
    totals = np.cumsum(counts[order], dtype=np.int64)
    starts = keys.indptr[:-1][rows]
    totals_before = np.append(0, totals)[starts]
    is_kept = totals - totals_before <= max_postings
    is_kept[starts] = True
    return entries(keys, np.sort(order[is_kept]))
