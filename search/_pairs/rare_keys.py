"""Finds the rows of a sparse matrix that share rare keys with other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Floats,
    Ids,
    Matrix,
    SparseRows,
    lengths_of,
    matrix_of,
    ranks,
    stable_order,
)
from tf_charagram.text._algorithm.arrays import positions, splits_of

# Rows whose products are computed in the columns that they have entries in.
_FEW_ROWS = 25
# Half as similar keys are kept as if they were 16 times as frequent.
_POWER = 4
_MAX_RANK = 1 << 30
_TINY = np.finfo(np.float32).tiny


def nearest_pairs(
    left: Matrix,
    by_key: Matrix,
    k: int,
    min_products: NDArray[np.floating] | None = None,
) -> Ids:
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
    products = sums(left, by_key)
    values = products.data
    splits = products.indptr
    lengths = lengths_of(splits)
    # Products of 0 do not count.
    least = np.full(len(lengths), _TINY, values.dtype)
    if min_products is not None:
        least = np.maximum(least, min_products)
    for row in (lengths > k).nonzero()[0].tolist():
        own = values[splits[row] : splits[row + 1]]
        least[row] = max(np.partition(own, -k)[-k], least[row])
    # Of many equal products, there are still more than k.
    places = (values >= least.repeat(lengths)).nonzero()[0]
    rows = splits.searchsorted(places, "right") - 1
    pairs = rows * num_right + products.indices[places]
    return largest(pairs, values[places], num_right, k)


def product(left: Matrix, by_key: Matrix) -> Matrix:
    """Multiplies two matrices; fast for few rows, too, whose columns are in any order then."""
    products = sums(left, by_key)
    if left.shape[0] > _FEW_ROWS:
        return products
    return entries(products, products.data.nonzero()[0])


def sums(left: Matrix, by_key: Matrix) -> Matrix:
    """Multiplies two matrices of positive entries; columns may repeat with products of 0."""
    num_rows = left.shape[0]
    num_right = by_key.shape[1]
    if num_rows > _FEW_ROWS:
        return matrix_of(left) @ matrix_of(by_key)
    # SciPy fills arrays of the length of a row for each product, which would take most of the time.
    starts = by_key.indptr[left.indices]
    stops = by_key.indptr[left.indices + 1]
    lengths = stops - starts
    places = positions(starts, stops)
    found = by_key.indices.take(places)
    firsts = row_numbers(left) * num_right
    keys = firsts.repeat(lengths) + found
    # Each pair of a row and a column is summed up at its last place; others stay 0.
    table = np.empty(num_rows * num_right, np.int32)
    table[keys] = np.arange(len(keys), dtype=np.int32)
    totals = np.zeros(len(keys), np.float32)
    # In the order and the precision of SciPy.
    np.add.at(totals, table.take(keys), left.data.repeat(lengths) * by_key.data.take(places))
    splits = splits_of(lengths)[left.indptr]
    return SparseRows(totals, found, splits, (num_rows, num_right))


def row_products(
    left: Matrix,
    left_rows: NDArray[np.integer],
    right: Matrix,
    right_rows: NDArray[np.integer],
) -> Floats:
    """Multiplies corresponding rows of two matrices.

    Args:
        left: `(num_left, num_columns)`, with distinct columns in each row.
        left_rows: Rows, `(num_pairs,)`.
        right: `(num_right, num_columns)`.
        right_rows: Rows, `(num_pairs,)`.
    """
    num_left, num_columns = left.shape
    if num_left > _FEW_ROWS:
        products = matrix_of(left)[left_rows].multiply(matrix_of(right)[right_rows])
        return products.sum(axis=1)
    # Seven matrices of SciPy would take longer than all else. Here, the entries of left rows are in
    # a table with a column for each of their columns; the first is for all others.
    width = len(left.indices) + 1
    new_columns = np.zeros(num_columns, np.int64)
    new_columns[left.indices] = np.arange(1, width)
    table = np.zeros(num_left * width, np.float32)
    table[row_numbers(left) * width + new_columns[left.indices]] = left.data
    starts = right.indptr[right_rows]
    stops = right.indptr[right_rows + 1]
    lengths = stops - starts
    places = positions(starts, stops)
    columns = new_columns.take(right.indices.take(places))
    columns += (left_rows * width).repeat(lengths)
    values = table.take(columns) * right.data.take(places)
    sums = np.zeros(len(right_rows), np.float32)
    np.add.at(sums, np.arange(len(right_rows)).repeat(lengths), values)
    return sums


def row_numbers(matrix: Matrix) -> Ids:
    """Returns the row of each entry of a matrix."""
    lengths = lengths_of(matrix.indptr)
    return np.arange(matrix.shape[0]).repeat(lengths)


def row_sums(matrix: Matrix, values: NDArray[np.floating]) -> Array:
    """Returns the sums of a value of each entry of a matrix by rows."""
    sums = np.bincount(row_numbers(matrix), values, matrix.shape[0])
    return sums.astype(np.float64, copy=False)


def largest(pairs: Ids, products: Floats, num_right: int, k: int) -> Ids:
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


def entries(matrix: Matrix, places: NDArray[np.integer]) -> Matrix:
    """Keeps some entries of a matrix; `places` is ascending."""
    # Integers of one kind: SciPy would convert the other matrix for each product.
    splits = places.searchsorted(matrix.indptr).astype(matrix.indices.dtype)
    parts = matrix.data[places], matrix.indices[places], splits
    return SparseRows(*parts, matrix.shape)


def rare_keys(
    keys: Matrix,
    num_rows: NDArray[np.integer],
    max_postings: int,
    similarities: NDArray[np.floating] | None = None,
) -> Matrix:
    """Drops the frequent keys of each row, which tell little and are in most rows.

    The keys of a row are kept from the rarest on, until they find so many right rows, with
    repetitions. The rarest key is always kept.

    Args:
        keys: Weights of keys, `(num_left, num_keys)`.
        num_rows: Number of right rows with each key, `(num_keys,)`.
        max_postings: Maximum number of right rows of all keys of a row.
        similarities: How much each entry is like a key of its row, from 0 to 1. The less, the later
            it is kept: or many rare words that are hardly alike leave no room for equal ones.
    """
    counts = num_rows[keys.indices]
    sums = splits_of(counts.astype(np.int64))
    lengths = lengths_of(keys.indptr)
    is_long = sums[keys.indptr[1:]] - sums[keys.indptr[:-1]] > max_postings
    if not is_long.any():
        return keys
    is_kept = ~is_long.repeat(lengths)
    places = (~is_kept).nonzero()[0]
    rows = np.arange(len(lengths)).repeat(lengths)[places]
    # Row by row, the rarest keys first; each row keeps its place.
    ranked = counts[places]
    if similarities is not None:
        ranked = np.minimum(ranked / similarities[places] ** _POWER, _MAX_RANK).astype(np.int64)
    width = int(ranked.max()) + 1
    order = stable_order(rows * width + ranked)
    totals = splits_of(counts[places][order].astype(np.int64))
    starts = rows.searchsorted(rows)
    is_rare = totals[1:] - totals[starts] <= max_postings
    is_rare[starts] = True
    is_kept[places[order[is_rare]]] = True
    return entries(keys, is_kept.nonzero()[0])
