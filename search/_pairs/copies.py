"""Copies: several rows with the same value, of which pairs of values make pairs of rows."""

from __future__ import annotations

import numpy as np

from tf_charagram.search._pairs.flat_arrays import (
    Ids,
    distinct_integers,
    keys_of_pairs,
    list_numbers,
    paired,
    pairs_of_keys,
    ranks,
    rows_by_number,
)
from tf_charagram.text._algorithm.flat import Rows


def row_pairs(left_values: Ids, right_values: Ids, value_pairs: Ids, *, is_one_table: bool) -> Ids:
    """Returns pairs of rows with the values of pairs, `(num_pairs, 2)`, sorted.

    Of several rows with a value, each is paired with the first row of the other value, and with
    the row of the same rank. In one table, the first row of a value is paired with the others.

    Args:
        left_values: The number of the value of each left row, negative without a value.
        right_values: The same of each right row.
        value_pairs: Pairs of numbers of values, `(num_value_pairs, 2)`.
        is_one_table: Whether both sides are the same rows.
    """
    sides = left_values, right_values
    num_values = 1 + max(int(side.max(initial=-1)) for side in (*sides, value_pairs))
    left, right = (rows_by_number(side, num_values) for side in sides)
    from_left = _partners(left, right, value_pairs)
    from_right = _partners(right, left, value_pairs[:, ::-1])
    pairs = np.concatenate([from_left, from_right[:, ::-1]])
    if is_one_table:
        pairs = np.sort(pairs, axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    num_right = len(right_values)
    keys = distinct_integers(keys_of_pairs(pairs, num_right))
    return pairs_of_keys(keys, num_right)


def _partners(rows: Rows, other_rows: Rows, value_pairs: Ids) -> Ids:
    """Pairs each row of a value with the first row of the other one, and with that of its rank."""
    own, other = value_pairs.T
    starts = rows.splits[own]
    places = list_numbers(rows.splits[own + 1] - starts)
    rank = ranks(places)
    own_rows = rows.values[starts[places] + rank]
    first = other_rows.splits[other][places]
    last = other_rows.splits[other + 1][places] - 1
    partners = [first, np.minimum(first + rank, last)]
    return np.concatenate([paired(own_rows, other_rows.values[each]) for each in partners])
