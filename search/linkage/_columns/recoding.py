"""Columns that two tables write otherwise: their codes are learned, or they are left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Flags,
    Ids,
    distinct_integers,
    numbered,
)
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
# The numbers of one table are a multiple of the other's in so many of these pairs, and more often
# than in random pairs; of fewer different numbers, they are codes.
_MIN_MULTIPLES = 0.5
_MIN_NUMBERS = 10
_NEAR_FACTOR = 0.02
_EXACT = 0.0015
_APART = "hardly any value is in both tables: written otherwise?"
_NEVER = "never agrees: written otherwise? It is left out"
_NEW_IN_EACH_ROW = "hardly any value is in two rows, so it is left out"
# Numbers of rows are all different, and at most so many times the number of rows apart.
_MAX_SPAN = 3
# Groups of digits, but not decimals of whole numbers.
_DIGITS = re.compile(r"(?<!\.)\d+")
# The tables share them if the other columns speak for so many of the pairs with equal numbers.
_MIN_SUPPORTED = 0.5
_ROW_NUMBERS = "numbers the rows of each table, and is left out"


def written_otherwise(
    columns: Sequence[Column],
    agreements: Sequence[Agreement],
    ratios: Array,
    pairs: Ids,
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
    all_gains = gains.sum(axis=1)
    counts_rows = np.array([are_row_numbers(column) for column in columns])
    # Nothing else tells rows apart.
    counts_rows &= ~counts_rows.all()
    of_things = ratios[:, ~counts_rows].sum(axis=1)
    found = []
    for number, column in enumerate(columns):
        others = all_gains - gains[:, number]
        levels = agreements[number].levels
        is_present = levels > 0
        is_good = (others > min_evidence) & is_present
        seeds = []
        if not column.is_one_table:
            # Where the other columns say less, pairs that they find the best of both rows.
            is_best = are_best(pairs, others, min_evidence / 2) & is_present
            seeds = [is_good, is_best]
        learned = None
        for is_learned in seeds:
            if learned is None and _agrees_rarely(levels[is_learned]):
                learned = _translated(column, pairs[is_learned])
        supported = of_things[levels == EQUAL] > 0
        is_guessed = column.note and column.kind.name == "code"
        if counts_rows[number] and supported.sum() <= _MIN_SUPPORTED * len(supported):
            column = _left_out(column, _ROW_NUMBERS)
        elif learned is not None:
            column = learned
        elif _agrees_rarely(levels[is_good]) and (is_guessed or _may_be_apart(column)):
            # Values that are alike tell something, such as lists in another order.
            is_alike = (ratios[is_good, number] > 0).mean() > _MAX_AGREED
            note = _NEW_IN_EACH_ROW if column.is_one_table else _NEVER
            column = column if is_alike else _left_out(column, note)
        found.append(column)
    return found


def are_best(pairs: Ids, gains: Array, least: float) -> Flags:
    """Tells pairs that have more in common than all others of both rows, `(num_pairs,)`.

    Args:
        pairs: Candidate pairs, `(num_pairs, 2)`.
        gains: Evidence that speaks for a match, `(num_pairs,)`.
        least: Minimum evidence.
    """
    is_best = gains > least
    for rows in pairs.T:
        best = np.zeros(rows.max(initial=0) + 1)
        np.maximum.at(best, rows, gains)
        is_best &= gains == best[rows]
    return is_best


def _agrees_rarely(levels: NDArray[np.int8]) -> bool:
    num_agreed = (levels <= EQUAL + 1).sum()
    return len(levels) >= _MIN_PAIRS and num_agreed <= _MAX_AGREED * len(levels)


def with_notes(columns: Sequence[Column]) -> list[Column]:
    """Says of columns of two tables without any match that hardly any value is in both."""
    found = []
    for column in columns:
        num_values = min((side >= 0).sum() for side in (column.left, column.right))
        if num_values >= _MIN_PAIRS and not column.note and _are_apart(column):
            column = replace(column, note=_APART)
        found.append(column)
    return found


def _may_be_apart(column: Column) -> bool:
    """Tells whether a column may be left out because it never agrees.

    In one table, codes may be new in each row; names are different in a table without copies.
    """
    return _are_apart(column) and (not column.is_one_table or column.kind.name == "code")


def _are_apart(column: Column) -> bool:
    """Tells whether few rows have a value that another row, or the other table, has."""
    if column.is_one_table:
        return bool((column.counts <= 1).mean() >= 1 - _MAX_SHARED)
    right = column.right[column.right >= 0]
    return bool(np.isin(right, column.left).mean() <= _MAX_SHARED)


def are_row_numbers(column: Column) -> bool:
    """Tells whether the values may number the rows of each table, such as `C-00042`."""
    num_rows = max(map(len, column.tables))
    if column.known is not None:
        # The rows are a sample.
        num_rows = max(num_rows, int(column.known.num_rows))
    for ids in column.tables:
        present = ids[ids >= 0]
        if len(present) < _MIN_PAIRS or len(distinct_integers(present)) < len(present):
            return False
        digits = [_DIGITS.findall(column.values[value]) for value in present.tolist()]
        numbers = {int(groups[-1]) for groups in digits if groups}
        if len(numbers) < len(present) or max(numbers) - min(numbers) > _MAX_SPAN * num_rows:
            return False
    return True


def _left_out(column: Column, note: str) -> Column:
    """Returns a column without the values of the right table."""
    right = np.full_like(column.right, MISSING)
    left = right if column.is_one_table else column.left
    return replace(column, left=left, right=right, note=note, is_recoded=True)


def _translated(column: Column, pairs: Ids) -> Column | None:
    """Returns a column whose right values are those left values that they stand for.

    Args:
        column: The column of two tables.
        pairs: Pairs of rows most of which match.

    Returns:
        The column, or `None` if nothing was learned.
    """
    if column.kind.name == "number" and (factor := _factor_of(column, pairs)):
        return converted(column, factor)
    return _with_codes(column, pairs) if _are_apart(column) else None


def _factor_of(column: Column, pairs: Ids) -> float | None:
    """Finds the factor of the right numbers to the left ones, `None` without."""
    numbers = np.array(list(map(float, column.values)))
    left = numbers[column.left[pairs[:, 0]]]
    right = numbers[column.right[pairs[:, 1]]]
    is_usable = (left > 0) & (right > 0)
    left = left[is_usable]
    right = right[is_usable]
    if len(set(left)) < _MIN_NUMBERS:
        return None
    factor, share = _most_frequent_ratio(left, right)
    _, by_chance = _most_frequent_ratio(left, np.roll(right, 1))
    if share < max(_MIN_MULTIPLES, 2 * by_chance) or abs(np.log(factor)) < _NEAR_FACTOR:
        return None
    return _round_factor(factor)


def _round_factor(factor: float) -> float:
    """Returns the round number that a factor, or its inverse, nearly is; otherwise the factor."""
    if factor < 1:
        return 1 / _round_factor(1 / factor)
    for exact in (float(f"{factor:.1g}"), float(f"{factor:.2g}"), round(factor)):
        if abs(factor / exact - 1) < _EXACT:
            return exact
    return factor


def _most_frequent_ratio(left: Array, right: Array) -> tuple[float, float]:
    """Returns the median of the ratios that are most alike, and their share."""
    ratios = np.sort(right / left)
    stops = ratios.searchsorted(ratios * (1 + _NEAR_FACTOR), "right")
    sizes = stops - np.arange(len(ratios))
    start = sizes.argmax()
    alike = ratios[start : stops[start]]
    return float(np.median(alike)), len(alike) / len(ratios)


def converted(column: Column, factor: float) -> Column:
    """Returns a column whose right numbers are divided by a factor."""
    places = {value: place for place, value in enumerate(column.values)}
    of_value = [places.setdefault(divided(value, factor), len(places)) for value in column.values]
    # The last one is of missing values.
    right = np.array([*of_value, MISSING])[column.right]
    known = column.known
    if known is not None:
        num_new = len(places) - len(column.values)
        counts = [np.append(side, np.ones(num_new, side.dtype)) for side in known.counts]
        known = known._replace(counts=counts)
    note = f"numbers of the right table are {factor:.5g} times as large, and converted"
    return replace(column, values=list(places), right=right, note=note, factor=factor, known=known)


def divided(value: str, factor: float) -> str:
    """Returns a number over a factor, in the form that is compared."""
    # Without errors of rounding: 3835 square meters are 0.3835 hectares.
    return repr(float(f"{float(value) / factor:.9g}"))


def _with_codes(column: Column, pairs: Ids) -> Column | None:
    """Learns codes that map one to one; returns `None` if they do not."""
    left_values, left = numbered(column.left[pairs[:, 0]])
    right_values, right = numbered(column.right[pairs[:, 1]])
    shape = len(left_values), len(right_values)
    if len(left_values) < 2 or max(shape) > _MAX_CODES:
        return None
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, (left, right), 1)
    best = counts.argmax(axis=1)
    best_counts = counts.max(axis=1)
    is_mutual = counts.argmax(axis=0)[best] == np.arange(len(left_values))
    is_mutual &= best_counts >= _MIN_COUNT
    if best_counts[is_mutual].sum() < _MIN_MAPPED * len(pairs):
        return None
    # The last one is of missing values.
    codes = np.append(np.arange(len(column.values)), MISSING)
    learned = right_values[best[is_mutual]]
    codes[learned] = left_values[is_mutual]
    examples = []
    for old in np.sort(learned)[:_NUM_EXAMPLES].tolist():
        examples.append(f"{column.values[old]} = {column.values[codes[old]]}")
    note = f"{len(learned)} codes of the right table learned ({', '.join(examples)})"
    return replace(column, right=codes[column.right], note=note, is_recoded=True)
