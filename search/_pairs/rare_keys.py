"""Finds the rows of a sparse matrix that share rare keys with other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.search._pairs.flat_arrays import ranks
from tf_charagram.text._algorithm.arrays import positions

# Rows whose products are computed in the columns that they have entries in.
_FEW_ROWS = 25


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
    products = product(left, by_key)
    rows = row_numbers(products)
    found = products.indices
    values = products.data
    if min_products is not None:
        is_enough = values >= min_products[rows]
        rows = rows[is_enough]
        found = found[is_enough]
        values = values[is_enough]
    splits = np.searchsorted(rows, np.arange(products.shape[0] + 1))
    least = np.zeros(products.shape[0], np.float32)
    for row in np.flatnonzero(np.diff(splits) > k).tolist():
        own = values[splits[row] : splits[row + 1]]
        least[row] = np.partition(own, -k)[-k]
    # Of many equal products, there are still more than k.
    is_large = values >= least[rows]
    pairs = rows[is_large] * num_right + found[is_large]
    return largest(pairs, values[is_large], num_right, k)


def product(left: sparse.csr_array, by_key: sparse.csr_array) -> sparse.csr_array:
    """Multiplies two matrices; fast for few rows, too."""
    num_rows = left.shape[0]
    if num_rows > _FEW_ROWS:
        return left @ by_key
    # SciPy fills arrays of the length of a row for each product, which would take most of the time.
    starts = by_key.indptr[left.indices]
    stops = by_key.indptr[left.indices + 1]
    places = positions(starts, stops)
    found = by_key.indices[places]
    is_found = np.zeros(by_key.shape[1], bool)
    is_found[found] = True
    columns = np.flatnonzero(is_found).astype(by_key.indices.dtype)
    new_columns = np.empty(by_key.shape[1], np.int64)
    new_columns[columns] = np.arange(len(columns))
    first_places = np.repeat(row_numbers(left) * len(columns), stops - starts)
    values = np.repeat(left.data, stops - starts) * by_key.data[places]
    sums = np.zeros(num_rows * len(columns), values.dtype)
    # In the order and the precision of SciPy.
    np.add.at(sums, first_places + new_columns[found], values)
    filled = np.flatnonzero(sums)
    splits = np.searchsorted(filled, np.arange(num_rows + 1) * len(columns))
    parts = sums[filled], columns[filled % max(len(columns), 1)], splits.astype(columns.dtype)
    return sparse.csr_array(parts, (num_rows, by_key.shape[1]))


def row_products(
    left: sparse.csr_array,
    left_rows: NDArray[np.integer],
    right: sparse.csr_array,
    right_rows: NDArray[np.integer],
) -> NDArray[np.float32]:
    """Multiplies corresponding rows of two matrices.

    Args:
        left: `(num_left, num_columns)`, with sorted columns in each row.
        left_rows: Rows, `(num_pairs,)`.
        right: `(num_right, num_columns)`.
        right_rows: Rows, `(num_pairs,)`.
    """
    if left.shape[0] > _FEW_ROWS:
        return left[left_rows].multiply(right[right_rows]).sum(axis=1)
    # Seven matrices of SciPy would take longer than all else.
    starts = right.indptr[right_rows]
    stops = right.indptr[right_rows + 1]
    places = positions(starts, stops)
    pairs = np.repeat(np.arange(len(right_rows)), stops - starts)
    # One integer for each entry; a last one that is larger than all.
    width = left.shape[1]
    left_keys = np.append(row_numbers(left) * width + left.indices, left.shape[0] * width)
    keys = left_rows[pairs] * width + right.indices[places]
    left_places = np.searchsorted(left_keys, keys)
    is_common = left_keys[left_places] == keys
    values = left.data[left_places[is_common]] * right.data[places[is_common]]
    sums = np.zeros(len(right_rows), np.float32)
    np.add.at(sums, pairs[is_common], values)
    return sums


def row_numbers(matrix: sparse.csr_array) -> NDArray[np.int64]:
    """Returns the row of each entry of a matrix."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def row_sums(matrix: sparse.csr_array, values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Returns the sums of a value of each entry of a matrix by rows."""
    sums = np.bincount(row_numbers(matrix), values, matrix.shape[0])
    return sums.astype(np.float64, copy=False)


def largest(
    pairs: NDArray[np.int64], products: NDArray[np.float32], num_right: int, k: int
) -> NDArray[np.int64]:
    """Keeps the k pairs of each left row with the largest products.

    Args:
        pairs: `left_row * num_right + right_row`, distinct.
        products: Their products, at least 0.
        num_right: Number of right rows.
        k: Number of right rows; of equal products, lower rows come first.
    """
    rows = pairs // max(num_right, 1)
    counts = np.bincount(rows)
    if counts.max(initial=0) <= k:
        return pairs
    # Numbers of at least 0 have the order of their bits. One sort of integers takes a tenth of the
    # time of `lexsort`.
    keys = (rows << 32) - products.astype(np.float32).view(np.int32)
    num_kept = np.minimum(counts, k)
    last_places = np.cumsum(counts) - counts + num_kept - 1
    last_keys = np.sort(keys)[last_places][rows]
    is_larger = keys < last_keys
    equal = np.sort(pairs[keys == last_keys])
    equal_rows = equal // num_right
    num_equal = num_kept - np.bincount(rows[is_larger], minlength=len(counts))
    return np.concatenate([pairs[is_larger], equal[ranks(equal_rows) < num_equal[equal_rows]]])


def entries(matrix: sparse.csr_array, places: NDArray[np.integer]) -> sparse.csr_array:
    """Keeps some entries of a matrix; `places` is ascending."""
    # Integers of one kind: SciPy would convert the other matrix for each product.
    splits = np.searchsorted(places, matrix.indptr).astype(matrix.indices.dtype)
    return sparse.csr_array((matrix.data[places], matrix.indices[places], splits), matrix.shape)


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
    counts = num_rows[keys.indices]
    sums = np.append(0, np.cumsum(counts, dtype=np.int64))
    is_long = np.diff(sums[keys.indptr]) > max_postings
    if not is_long.any():
        return keys
    is_kept = np.repeat(~is_long, np.diff(keys.indptr))
    places = np.flatnonzero(~is_kept)
    rows = np.repeat(np.arange(np.count_nonzero(is_long)), np.diff(keys.indptr)[is_long])
    # Row by row, the rarest keys first; each row keeps its place.
    order = np.lexsort((counts[places], rows))
    totals = np.cumsum(counts[places][order], dtype=np.int64)
    starts = np.searchsorted(rows, rows)
    totals_before = np.append(0, totals)[starts]
    is_rare = totals - totals_before <= max_postings
    is_rare[starts] = True
    is_kept[places[order[is_rare]]] = True
    return entries(keys, np.flatnonzero(is_kept))
