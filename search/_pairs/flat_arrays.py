"""Operations on flat arrays: pairs of rows, lists of items, and sorted values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.text._algorithm.arrays import positions, splits_of
from tf_charagram.text._algorithm.flat import Rows

#: Rows, positions or counts.
Ids: TypeAlias = NDArray[np.int64]
#: What is true of each row or pair.
Flags: TypeAlias = NDArray[np.bool_]
#: Similarities, and n-grams and vectors of texts.
Floats: TypeAlias = NDArray[np.float32]
#: Probabilities, log-odds and shares.
Array: TypeAlias = NDArray[np.float64]
#: No pair of rows, no row, and no similarity.
NO_PAIRS: Ids = np.zeros((0, 2), np.int64)
NO_IDS: Ids = np.zeros(0, np.int64)
NO_FLOATS: Floats = np.zeros(0, np.float32)
_MAX_PACKED = 2**62


class SparseRows(NamedTuple):
    """Rows of a sparse matrix of a few texts.

    A matrix of SciPy has the same attributes, but making ten takes longer than a query.

    Attributes:
        data: The entries of all rows, one row after the other, `(num_entries,)`.
        indices: Their columns.
        indptr: Where each row starts and ends, `(num_rows + 1,)`.
        shape: Number of rows and of columns.
    """

    data: NDArray[Any]
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    shape: tuple[int, int]


#: A sparse matrix by rows.
Matrix: TypeAlias = SparseRows | sparse.csr_array


def blocks(num_items: int, size: int) -> Iterator[slice]:
    """Yields so many items at a time, from the first to the last, as slices."""
    for start in range(0, num_items, size):
        yield slice(start, start + size)


def paired(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Puts two arrays side by side, `(num_pairs, 2)`."""
    return np.stack([left, right], axis=1)


def keys_of_pairs(pairs: NDArray[Any], num_right: int) -> NDArray[Any]:
    """Returns pairs of rows as one integer each, `left_row * num_right + right_row`.

    NumPy finds distinct integers faster than distinct rows of an array.
    """
    left, right = pairs.T
    return left * num_right + right


def pairs_of_keys(keys: Ids, num_right: int) -> Ids:
    """Returns the pairs of rows of `keys_of_pairs`, `(num_pairs, 2)`."""
    left, right = np.divmod(keys, max(num_right, 1))
    return paired(left, right)


def lengths_of(splits: NDArray[Any]) -> NDArray[Any]:
    """Returns the number of items of each list, from where lists start and end."""
    # For a query, `np.diff` takes several times as long.
    return splits[1:] - splits[:-1]


def list_numbers(lengths: NDArray[np.integer]) -> Ids:
    """Returns the number of the list of each item, for lists one after the other."""
    return np.repeat(np.arange(len(lengths)), lengths)


def are_first(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tells values that differ from the one before them, `(num_values,)`."""
    is_first = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return is_first


def runs_of(values: NDArray[Any]) -> tuple[Ids, Ids]:
    """Returns where runs of equal values start and end."""
    starts = np.flatnonzero(are_first(values))
    return starts, np.append(starts, len(values))[1:]


def places_in(ordered: NDArray[Any], values: NDArray[Any]) -> Ids:
    """Returns the place of each value among ascending distinct values, -1 for any other value."""
    places = np.searchsorted(ordered, values)
    if not len(ordered):
        return np.full_like(places, -1)
    places = np.minimum(places, len(ordered) - 1)
    return np.where(ordered[places] == values, places, -1)


def distinct_integers(values: Ids) -> Ids:
    """Returns distinct integers, ascending.

    NumPy puts them into a hash table, which takes 50 times as long for millions of integers.
    """
    ordered = np.sort(values)
    return ordered[are_first(ordered)]


def stable_order(values: Ids) -> Ids:
    """Returns the indices that sort integers, which must be at least 0; equal ones stay in order.

    NumPy sorts integers ten times as fast as their indices, so both are packed into one.
    """
    bits = len(values).bit_length()
    if int(values.max(initial=0)) >> (62 - bits):
        return np.argsort(values, kind="stable")
    packed = np.sort((values << bits) | np.arange(len(values)))
    return packed & ((1 << bits) - 1)


def numbered(values: Ids) -> tuple[Ids, Ids]:
    """Returns distinct integers, ascending, and the place of each value among them.

    All must be at least 0.
    """
    order = stable_order(values)
    ordered = values[order]
    is_first = are_first(ordered)
    places = np.empty(len(values), np.int64)
    places[order] = np.cumsum(is_first) - 1
    return ordered[is_first], places


def packed_integers(columns: Sequence[NDArray[Any]]) -> Ids:
    """Returns rows of whole numbers from 0 on as one integer each, `(num_rows,)`."""
    size = 1
    packed = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width > _MAX_PACKED:
            known, packed = numbered(packed)
            size = len(known)
        packed = packed * width + column.astype(np.int64)
        size *= width
    return packed


def rows_by_number(numbers: Ids, count: int) -> Rows:
    """Returns the rows with each number from 0 on, ascending; rows with negative ones are left out.

    Args:
        numbers: The number of each row.
        count: Numbers are less than this.
    """
    present = np.flatnonzero(numbers >= 0)
    rows = present[stable_order(numbers[present])]
    splits = np.searchsorted(numbers[rows], np.arange(count + 1))
    return Rows(rows, splits)


def split_by(keys: NDArray[np.integer], chosen: Ids) -> list[Ids]:
    """Splits some places, ascending, into those with each key, by ascending keys."""
    ordered = chosen[np.argsort(keys[chosen], kind="stable")]
    starts = np.flatnonzero(are_first(keys[ordered]))
    return np.split(ordered, starts[1:])


def taken(arrays: Iterable[NDArray[Any]], places: NDArray[Any] | slice) -> list[Any]:
    """Returns some places of each of several arrays."""
    return [array[places] for array in arrays]


def ranks(values: NDArray[np.integer]) -> Ids:
    """Returns the place of each value among equal ones, from 0; `values` is ascending."""
    return np.arange(len(values)) - values.searchsorted(values)


def ones_of(ids: NDArray[np.integer], splits: Ids, num_columns: int) -> sparse.csr_array:
    """Returns a matrix with a 1 for each id of each list, float32 `(num_lists, num_columns)`.

    Repeated ids are not summed up; products of matrices do that.

    Args:
        ids: The ids of all lists, one after the other.
        splits: Where each list starts and ends, `(num_lists + 1,)`.
        num_columns: Number of ids.
    """
    # SciPy is slower with larger integers.
    kind = np.int32 if len(ids) < 2**31 else np.int64
    ones = np.ones(len(ids), np.float32)
    columns = ids.astype(kind)
    indptr = splits.astype(kind)
    shape = (len(splits) - 1, num_columns)
    return sparse.csr_array((ones, columns, indptr), shape)


def matrix_of(rows: Matrix) -> sparse.csr_array:
    """Returns the matrix of SciPy with some rows."""
    if isinstance(rows, SparseRows):
        return sparse.csr_array(rows[:3], rows.shape)
    return rows


def joined_rows(parts: Sequence[SparseRows], num_columns: int) -> SparseRows:
    """Puts the rows of matrices one after the other."""
    data = [NO_FLOATS, *(part.data for part in parts)]
    indices = [np.zeros(0, np.int32), *(part.indices for part in parts)]
    lengths = [np.zeros(0, np.int32), *(lengths_of(part.indptr) for part in parts)]
    num_entries = sum(map(len, data))
    # SciPy is slower with larger integers.
    kind = np.int32 if num_entries < 2**31 else np.int64
    indptr = splits_of(np.concatenate(lengths).astype(kind))
    shape = len(indptr) - 1, num_columns
    return SparseRows(np.concatenate(data), np.concatenate(indices), indptr, shape)


def rows_of(matrix: SparseRows, rows: NDArray[np.integer]) -> SparseRows:
    """Returns some rows of a matrix."""
    starts = matrix.indptr[rows]
    stops = matrix.indptr[rows + 1]
    places = positions(starts, stops)
    indptr = splits_of(stops - starts)
    return SparseRows(
        matrix.data[places], matrix.indices[places], indptr, (len(rows), matrix.shape[1])
    )
