"""Compares pairs of rows column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    NO_FLOATS,
    Array,
    Flags,
    Floats,
    Ids,
    blocks,
    keys_of_pairs,
    numbered,
    paired,
    pairs_of_keys,
    taken,
)
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.crossing import places_in

#: Level of pairs where a value is missing, and of equal values. The levels of the cutoffs follow,
#: and the last level is disagreement.
ABSENT = 0
EQUAL = 1
# Pairs whose values are compared at the same time.
_BATCH = 1_000_000
# Pairs of rows from which the agreement by chance is counted.
_NUM_RANDOM = 300_000
# Pairs that are counted before any other: in small tables, pairs of rows are often the same thing.
_PSEUDO_RANDOM = 100.0


class Agreement(NamedTuple):
    """How pairs agree in a column.

    Attributes:
        levels: Level of each pair, int8 `(num_pairs,)`.
        similarities: Similarity of the values, 0 if one is missing, float32 `(num_pairs,)`.
        log_frequencies: Logarithm of the share of rows with the value, if equal, else 0, float32
            `(num_pairs,)`.
    """

    levels: NDArray[np.int8]
    similarities: Floats
    log_frequencies: NDArray[np.floating]

    def of(self, chosen: Flags | NDArray[np.integer] | slice) -> Agreement:
        """Returns the agreement of some pairs."""
        return Agreement(*taken(self, chosen))


def together(parts: Sequence[Agreement]) -> Agreement:
    """Returns the agreements of several sets of pairs as one."""
    return Agreement(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def num_levels(column: Column) -> int:
    """Returns the number of levels of a column, with `ABSENT`."""
    return len(column.kind.cutoffs) + 3


def compare_column(column: Column, pairs: Ids) -> Agreement:
    """Compares pairs of rows in a column.

    Args:
        column: The column.
        pairs: Rows of both tables, `(num_pairs, 2)`.
    """
    left = column.left[pairs[:, 0]]
    right = column.right[pairs[:, 1]]
    is_absent = (left < 0) | (right < 0)
    is_equal = (left == right) & ~is_absent
    similarities = is_equal.astype(np.float32)
    differ = np.flatnonzero(~is_equal & ~is_absent)
    # Many pairs of rows have the same pair of values.
    num_values = len(column.values)
    unordered = np.sort(paired(left, right)[differ], axis=1)
    keys, places = numbered(keys_of_pairs(unordered, num_values))
    values = pairs_of_keys(keys, num_values)
    parts = [NO_FLOATS]
    for block in blocks(len(values), _BATCH):
        parts.append(column.kind.similarities(column.values, values[block]))
    similarities[differ] = np.concatenate(parts)[places]
    # One level down for each cutoff that is not reached.
    levels = np.full(len(pairs), EQUAL + 1, np.int8)
    for cutoff in column.kind.cutoffs:
        levels += ~(similarities >= cutoff)
    levels[is_equal] = EQUAL
    levels[is_absent] = ABSENT
    return Agreement(levels, similarities, _log_frequencies(column, left, is_equal))


def _log_frequencies(column: Column, values: Ids, is_equal: Flags) -> Floats:
    """Returns the `log_frequency` of the values of pairs that are equal, else 0."""
    found = np.zeros(len(values), np.float32)
    found[is_equal] = column.log_frequency[values[is_equal]]
    return found


def count_things(
    columns: Sequence[Column],
    pairs: Ids,
    agreements: Sequence[Agreement],
    probabilities: Array,
) -> tuple[list[Column], list[Agreement]]:
    """Counts the things that have a value, in one table: its rows may be duplicates.

    Otherwise a value of a thing with hundreds of rows would say little, because it is frequent.

    Args:
        columns: The columns.
        pairs: Candidate pairs, `(num_pairs, 2)`.
        agreements: How they agree, one per column.
        probabilities: Probabilities that they match, `(num_pairs,)`.

    Returns:
        The columns with these counts, and the agreements with the frequencies that follow.
    """
    num_rows = len(columns[0].left)
    # Each row is a part of a thing, which its partners share.
    of_both_rows = np.repeat(probabilities, 2)
    sizes = 1 + np.bincount(pairs.ravel(), of_both_rows, minlength=num_rows)
    counted, changed = [], []
    for column, agreement in zip(columns, agreements, strict=True):
        by_rows = column.frequencies
        present = np.flatnonzero(column.left >= 0)
        parts = 1 / sizes[present]
        counts = np.bincount(column.left[present], parts, minlength=len(column.values))
        # Both rows of a pair do not count, so one more; but never more than rows.
        counts = np.minimum(counts + 1, by_rows.counts[0])
        num_things = min(parts.sum() + 1, by_rows.num_rows)
        known = by_rows._replace(counts=[counts], num_rows=num_things)
        column = replace(column, known=known)
        values = column.left[pairs[:, 0]]
        log_frequencies = _log_frequencies(column, values, agreement.levels == EQUAL)
        counted.append(column)
        changed.append(agreement._replace(log_frequencies=log_frequencies))
    return counted, changed


def random_pairs(columns: Sequence[Column]) -> list[Ids]:
    """Draws random pairs of rows that are hardly ever the same thing.

    Returns:
        For each table, rows of that table `(num_pairs, 2)`, and of two tables rows of both.
    """
    draw = np.random.default_rng(0)
    sizes = [len(rows) for rows in columns[0].tables]

    def draw_pairs(num_left: int, num_right: int) -> Ids:
        if num_left * num_right <= _NUM_RANDOM:
            return pairs_of_keys(np.arange(num_left * num_right), num_right)
        return draw.integers(0, (num_left, num_right), (_NUM_RANDOM, 2))

    drawn = []
    for num_rows in sizes:
        pairs = draw_pairs(num_rows, num_rows)
        drawn.append(pairs[pairs[:, 0] < pairs[:, 1]])
    if len(sizes) == 2:
        drawn.append(draw_pairs(*sizes))
    return drawn


def chance_levels(column: Column, samples: Sequence[Ids]) -> Array:
    """Returns the share of each level among random pairs of rows, `(num_levels,)`.

    The shares are of pairs without missing values. They are of the table whose rows agree less:
    the other one may have duplicates. Where two tables write values in two ways, so that many of
    their random pairs are near, such values count as near by chance.

    Args:
        column: The column.
        samples: Random pairs of rows of each table, and of both, as `random_pairs` draws them.
    """
    shares = []
    for ids, pairs in zip(column.tables, samples, strict=False):
        shares.append(_level_shares(column.within(ids), pairs))
    chance = max(shares, key=lambda each: each[-1])
    if not column.is_one_table:
        # At most one of the pairs of each row matches.
        max_matches = 1 / max(len(column.left), len(column.right), 1)
        across = _level_shares(column, samples[-1])
        chance = np.maximum(np.minimum(chance, across), across - max_matches)
    return chance / chance.sum()


def chances(columns: Sequence[Column], samples: Sequence[Ids]) -> list[Array]:
    """Returns the share of each level among random pairs of rows, for each column.

    Trains from one city to another go back, too: such pairs are near in two columns at once.
    """
    found = [chance_levels(column, samples) for column in columns]
    for one, other in _pairs_of_names(columns):
        shares = []
        for side, pairs in zip(range(len(columns[0].tables)), samples, strict=False):
            within = [column.within(column.tables[side]) for column in columns]
            shares.append(_crossed_share(within, one, other, pairs))
        # Each column has half of the evidence of both.
        share = np.sqrt(min(shares))
        for number in (one, other):
            found[number][EQUAL + 1] += share
            found[number] /= 1 + share
    return found


def _crossed_share(columns: Sequence[Column], one: int, other: int, pairs: Ids) -> float:
    """Returns the share of pairs with names in the other order, and nothing else in common."""
    chosen = pairs[_may_be_crossed(columns[one], columns[other], pairs)]
    levels = [compare_column(column, chosen).levels for column in columns]
    swapped = _swapped(columns[one], columns[other], chosen, levels[one], levels[other])
    others = [own[swapped] for number, own in enumerate(levels) if number not in (one, other)]
    # Rows with two names in common are a match if there is nothing else to tell.
    is_other = np.all([own > EQUAL for own in others], axis=0) if others else np.zeros(0, bool)
    return float(is_other.sum() / max(len(pairs), 1))


def _level_shares(column: Column, pairs: Ids) -> Array:
    """Returns the share of each level among pairs that mostly differ, `(num_levels,)`."""
    # Most values disagree by chance.
    prior = np.array([0, 0, *column.kind.near_by_chance, 1])
    return level_shares(compare_column(column, pairs).levels, prior)


def level_shares(
    levels: NDArray[np.int8], prior: NDArray[Any], weights: NDArray[Any] | None = None
) -> Array:
    """Returns the share of each level, without missing values, `(num_levels,)`.

    Args:
        levels: The levels of pairs, `(num_pairs,)`.
        prior: The shares before any pair is counted, which few pairs change little.
        weights: How much each pair counts. Default: 1.
    """
    counts = np.bincount(levels, weights, minlength=len(prior))
    counts[ABSENT] = 0
    found: Array = counts + prior * (_PSEUDO_RANDOM / prior.sum())
    return found / found.sum()


def compare_columns(columns: Sequence[Column], pairs: Ids) -> list[Agreement]:
    """Compares pairs of rows in all columns.

    If two columns have names and a row has them in the other order, both columns are near.
    """
    agreements = [compare_column(column, pairs) for column in columns]
    levels = [agreement.levels for agreement in agreements]
    for one, other in _pairs_of_names(columns):
        swapped = _swapped(columns[one], columns[other], pairs, levels[one], levels[other])
        levels[one][swapped] = levels[other][swapped] = EQUAL + 1
    return agreements


def _pairs_of_names(columns: Sequence[Column]) -> Iterator[tuple[int, int]]:
    """Returns the numbers of columns of names, two by two."""
    names = [number for number, column in enumerate(columns) if column.kind.name == "name"]
    return combinations(names, 2)


def _swapped(
    first: Column,
    second: Column,
    pairs: Ids,
    levels: NDArray[np.int8],
    other_levels: NDArray[np.int8],
) -> Ids:
    """Finds the pairs of rows that have names in the other order, and are not alike anyway."""
    low = np.flatnonzero((levels > EQUAL + 1) & (other_levels > EQUAL + 1))
    low = low[_may_be_crossed(first, second, pairs[low])]
    crossed = _crossed(first, second, pairs[low])
    return low[crossed >= first.kind.cutoffs[1]]


def _may_be_crossed(first: Column, second: Column, pairs: Ids) -> Flags:
    """Finds pairs of rows with the value of one column in the other one, which are few."""
    in_first = places_in(first, second)
    left, right = pairs.T
    there = first.left[left] == in_first[second.right[right]]
    back = first.right[right] == in_first[second.left[left]]
    return there | back


def _crossed(first: Column, second: Column, pairs: Ids) -> Floats:
    """Compares each column with the other; returns the smaller of both similarities."""
    offset = len(first.values)
    values = [*first.values, *second.values]
    left, right = pairs.T
    there = paired(first.left[left], second.right[right] + offset)
    back = paired(first.right[right], second.left[left] + offset)
    similarities = first.kind.similarities(values, np.concatenate([there, back]))
    return similarities.reshape(2, -1).min(axis=0)
