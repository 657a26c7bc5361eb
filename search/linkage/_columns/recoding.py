"""Columns that two tables write otherwise: their codes are learned, or they are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search.linkage._columns.columns import MISSING, Column
from tf_charagram.search.linkage._fellegi_sunter.evidence import EQUAL, Agreement

# A column is written otherwise if it agrees in so few of the pairs whose other columns agree, of
# which there are enough, and if so few rows of one table have a value of the other one.
_MAX_AGREED = 0.1
_MIN_PAIRS = 20
_MAX_SHARED = 0.1
# More values than this are no codes.
_MAX_CODES = 200
# Codes map one to one in so many of these pairs.
_MIN_MAPPED = 0.6
_MIN_COUNT = 2
_NUM_EXAMPLES = 3
_APART = "hardly any value is in both tables: written otherwise?"
_NEVER = "never agrees: written otherwise? It is left out"


def written_otherwise(
    columns: Sequence[Column],
    agreements: Sequence[Agreement],
    ratios: NDArray[np.float64],
    pairs: NDArray[np.int64],
    min_evidence: float,
) -> list[Column]:
    """Returns the columns with codes of the right table translated, or with all values missing.

    Columns that both tables write in the same way are returned as they are.

    Args:
        columns: The columns of one or two tables.
        agreements: Agreements of candidates, one per column.
        ratios: Their log likelihood ratios, `(num_pairs, num_columns)`.
        pairs: The candidates, `(num_pairs, 2)`.
        min_evidence: Evidence of the other columns by which pairs are taken for matches.
    """
    gains = np.maximum(ratios, 0)
    found = []
    for number, column in enumerate(columns):
        others = gains.sum(axis=1) - gains[:, number]
        levels = agreements[number].levels
        is_good = (others > min_evidence) & (levels > 0)
        num_agreed = (levels[is_good] <= EQUAL + 1).sum()
        is_rare = num_agreed <= _MAX_AGREED * is_good.sum() and is_good.sum() >= _MIN_PAIRS
        if is_rare and (column.note or _are_apart(column)):
            translated = _translated(column, pairs[is_good])
            # Values that are alike tell something, such as lists in another order.
            is_alike = (ratios[is_good, number] > 0).mean() > _MAX_AGREED
            if translated.note != _NEVER or not is_alike:
                column = translated
        found.append(column)
    return found


def with_notes(columns: Sequence[Column]) -> list[Column]:
    """Says of columns of two tables without any match that hardly any value is in both."""
    found = []
    for column in columns:
        has_values = min((side >= 0).sum() for side in (column.left, column.right)) >= _MIN_PAIRS
        if has_values and not column.note and _are_apart(column):
            column = replace(column, note=_APART)
        found.append(column)
    return found


def _are_apart(column: Column) -> bool:
    """Tells whether few rows have a value that another row, or the other table, has."""
    if column.is_one_table:
        return bool((column.counts <= 1).mean() >= 1 - _MAX_SHARED)
    right = column.right[column.right >= 0]
    return bool(np.isin(right, column.left).mean() <= _MAX_SHARED)


def _translated(column: Column, pairs: NDArray[np.int64]) -> Column:
    """Returns a column whose right values are those left values that they stand for.

    Args:
        column: The column.
        pairs: Pairs of rows most of which match.
    """
    if column.is_one_table:
        nothing = np.full_like(column.left, MISSING)
        return replace(column, left=nothing, right=nothing, note=_NEVER)
    left_rows, right_rows = pairs.T
    left_values, left = np.unique(column.left[left_rows], return_inverse=True)
    right_values, right = np.unique(column.right[right_rows], return_inverse=True)
    codes = np.arange(len(column.values))
    is_code = np.zeros(len(codes), bool)
    num_mapped = 0
    if max(len(left_values), len(right_values)) <= _MAX_CODES:
        counts = np.zeros((len(left_values), len(right_values)), np.int64)
        np.add.at(counts, (left, right), 1)
        best = counts.argmax(axis=1)
        best_counts = counts.max(axis=1)
        is_mutual = counts.argmax(axis=0)[best] == np.arange(len(left_values))
        is_mutual &= best_counts >= _MIN_COUNT
        mapped = right_values[best[is_mutual]]
        codes[mapped] = left_values[is_mutual]
        is_code[mapped] = True
        num_mapped = best_counts[is_mutual].sum()
    if num_mapped < _MIN_MAPPED * len(pairs) or len(left_values) < 2:
        return replace(column, right=np.full_like(column.right, MISSING), note=_NEVER)
    is_present = column.right >= 0
    translated = np.where(is_present, codes[column.right], MISSING)
    learned = np.flatnonzero(is_code)
    examples = []
    for old in learned[:_NUM_EXAMPLES].tolist():
        examples.append(f"{column.values[old]} = {column.values[codes[old]]}")
    note = f"{len(learned)} codes of the right table learned ({', '.join(examples)})"
    return replace(column, right=translated, note=note)
