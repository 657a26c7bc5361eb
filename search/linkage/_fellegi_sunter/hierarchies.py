"""Hierarchies of columns: a town lies in one state, and a species in one family.

Rows that share a town share the state, too, and their names may begin with the town. Such values
are the evidence of one column, not of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tf_charagram.search._pairs.flat_arrays import Array, Ids, paired, stable_order
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    compare_column,
    compare_columns,
    level_shares,
)
from tf_charagram.search.linkage._fellegi_sunter.following import MIN_LEVEL, Hierarchy, roots_of
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture

# Rows whose partners are drawn, for each column.
_NUM_DRAWN = 10_000
# Of the rows with a value that fewer rows have, too many may be the same thing.
_MIN_ROWS = 8
# Fewer pairs tell nothing.
_MIN_PAIRS = 200
# Kinds of columns of which rows may share a range rather than a value.
_MEASURES = ("date", "number", "time")
# So many of the rows with a value may match each of them.
_MAX_PARTNERS = 2
# If fewer of the pairs differ in what identifies, rows with the value are one thing.
_MIN_APART = 0.5
# So many match, as a rule.
_EXPECTED_PARTNERS = 0.5
# More than any level.
_NO_LEVEL = 127
# Smallest information in nats that a value has about another column. Independent columns had less
# than 0.002.
_MIN_INFORMATION = 0.01
# The same if nothing identifies, so that rows that share two values may be one thing.
_MIN_UNSURE_INFORMATION = 0.09
# Pairs with equal values that are counted before any other, and the smallest ratio of those that do
# not match to those expected.
_PSEUDO_PAIRS = 20
_MIN_BOTH = 0.1


class Hierarchies:
    """Finds which columns follow from which, by pairs of rows that share a frequent value.

    Args:
        columns: The columns of one or two tables.
        chance: Share of each level among random pairs, one per column.
        drawn: Random pairs of rows, `(num_pairs, 2)`.
    """

    def __init__(self, columns: Sequence[Column], chance: Sequence[Array], drawn: Ids) -> None:
        self._columns = columns
        self._chance = chance
        self._drawn = drawn
        # Levels of these pairs in a column.
        self._levels = cache(lambda number: compare_column(columns[number], drawn).levels)
        # Agreements of pairs of rows with equal values in a column, most of which do not match.
        self._siblings: dict[int, list[Agreement]] = {}
        # Of the rows that share a value with a row, the part that one row is.
        self._share_of_row: dict[int, float] = {}
        num_identifying = sum(column.is_identifying for column in columns)
        self._identifies = num_identifying > 0
        for parent, column in enumerate(columns):
            if column.is_identifying and num_identifying == 1:
                # Nothing else tells whether rows with its values match.
                continue
            pairs = _pairs_with_equal_values(column, _MIN_ROWS)
            counts = column.counts / len(column.tables)
            frequent = counts[counts >= _MIN_ROWS]
            num_rows = frequent.mean() if len(frequent) else _MIN_ROWS
            num_near = chance[parent][[EQUAL, EQUAL + 1]].sum() * len(column.right)
            if column.kind.name in _MEASURES and num_near >= num_rows:
                # Stays that begin in the same week end in the same week, too.
                levels = self._levels(parent)
                is_near = (levels == EQUAL) | (levels == EQUAL + 1)
                pairs = drawn[is_near][:_NUM_DRAWN]
                num_rows = num_near
            if len(pairs) >= _MIN_PAIRS:
                self._siblings[parent] = compare_columns(columns, pairs)
                self._share_of_row[parent] = 1 / num_rows

    def before_pairs(self) -> Hierarchy:
        """Finds them before matches are known: most pairs differ in what identifies."""
        num_columns = len(self._columns)
        given = {-1: list(self._chance)}
        information = np.zeros((num_columns, num_columns))
        for parent in self._siblings:
            share_of_row = self._share_of_row[parent]
            apart = self._shares_apart(parent, _EXPECTED_PARTNERS * share_of_row)
            if apart is None:
                continue
            given[parent] = apart
            for number in range(num_columns):
                if number != parent:
                    shares = apart[number] - _MAX_PARTNERS * share_of_row
                    information[number, parent] = _information(shares, self._chance[number])
        least = _MIN_INFORMATION if self._identifies else _MIN_UNSURE_INFORMATION
        parents = _best_parents(information, least)
        found = [
            self._by_levels(number, parent, given[parent][number])
            for number, parent in enumerate(parents)
        ]
        both = [self._num_both(number, parents) for number in range(num_columns)]
        return Hierarchy(parents, found, both)

    def _by_levels(self, number: int, parent: int, equal: Array) -> Array:
        """Returns the shares of the levels of a column for each level of another one.

        Names may be near because both begin with towns that are near.

        Args:
            number: Number of the column.
            parent: Number of the other one, or -1.
            equal: The shares where the other one is equal.
        """
        if parent < 0:
            return equal[np.newaxis]
        above = self._levels(parent)
        found = np.tile(self._chance[number], (len(self._chance[parent]), 1))
        for level in range(EQUAL + 2, len(found) - 1):
            levels = compare_column(self._columns[number], self._drawn[above == level]).levels
            found[level] = level_shares(levels, self._chance[number])
        found[[EQUAL, EQUAL + 1]] = equal
        return found

    def _num_both(self, number: int, parents: Sequence[int]) -> float:
        """Returns `Hierarchy.both` of a column, 0 where it is not known.

        Of the pairs with equal values, so many match as are equal in a column that does not follow
        from it; or a half of them, if there is no such column.
        """
        if parents[number] < 0 or not self._identifies:
            return 0.0
        column = self._columns[number]
        pairs = _pairs_with_equal_values(column, 2 if column.is_one_table else 1)
        by_value = column.frequencies
        num_partners = by_value.counts[-1]
        weights = num_partners[column.left[pairs[:, 0]]]
        roots = roots_of(parents)
        matching = [0.0] if len(set(roots)) > 1 else [_EXPECTED_PARTNERS]
        equal = []
        for other, own in enumerate(self._columns):
            left, right = own.left[pairs[:, 0]], own.right[pairs[:, 1]]
            is_present = (left >= 0) & (right >= 0)
            num_equal = weights[is_present & (left == right)].sum()
            equal.append(num_equal / max(weights[is_present].sum(), 1))
            if roots[other] != roots[number]:
                by_chance = self._chance[other][EQUAL]
                matching.append((equal[other] - by_chance) / (1 - by_chance))
        # Frequencies tell how many rows have each value of a row.
        present = column.left[column.left >= 0]
        num_rows = by_value.num_rows * len(column.right) / sum(map(len, column.tables))
        num_expected = np.exp(column.log_frequency[present]).sum() * num_rows
        num_pairs = (num_partners[present] - column.is_one_table).sum()
        # All that match are equal in both columns, as a rule.
        num_both = max(equal[parents[number]] - max(matching), 0) * num_pairs
        ratio = (num_both + _PSEUDO_PAIRS) / (num_expected + _PSEUDO_PAIRS)
        return float(max(ratio, _MIN_BOTH))

    def _shares_apart(self, parent: int, num_matching: float) -> list[Array] | None:
        """Returns the shares of levels among the pairs that differ in columns that identify.

        Args:
            parent: Number of the column with equal values.
            num_matching: Share of the pairs that may match.

        Returns:
            The shares, or `None` if most of the pairs match: rows with the value are one thing.
        """
        agreements = self._siblings[parent]
        identifying = [column.is_identifying for column in self._columns]
        identifying[parent] = False
        is_apart = np.ones(len(agreements[0].levels), bool)
        if any(identifying):
            levels = np.stack([agreement.levels for agreement in agreements])[identifying]
            nearest = np.where(levels == ABSENT, _NO_LEVEL, levels).min(axis=0)
            is_apart = (nearest > EQUAL + 1) & (nearest < _NO_LEVEL)
        if is_apart.mean() < _MIN_APART:
            return None
        found = self._shares(agreements, is_apart)
        of_all = self._shares(agreements, np.ones(len(is_apart)))
        for number in np.flatnonzero(identifying).tolist():
            found[number] = _without_matches(of_all[number], self._chance[number], num_matching)
        return found

    def beside_matches(self, hierarchy: Hierarchy, mixture: Mixture) -> Hierarchy:
        """Counts the levels of the pairs that do not match.

        Args:
            hierarchy: What was found before.
            mixture: A fitted mixture, which tells matches.
        """
        given = list(hierarchy.given)
        for parent in {*hierarchy.parents} - {-1}:
            agreements = self._siblings[parent]
            weights = expit(-mixture.log_odds(agreements))
            shares = self._shares(agreements, weights)
            for number, other in enumerate(hierarchy.parents):
                if other == parent:
                    given[number] = given[number].copy()
                    given[number][[EQUAL, EQUAL + 1]] = shares[number]
        return hierarchy._replace(given=given)

    def _shares(self, agreements: Sequence[Agreement], weights: NDArray[Any]) -> list[Array]:
        found = []
        for chance, agreement in zip(self._chance, agreements, strict=True):
            found.append(level_shares(agreement.levels, chance, weights))
        return found


def _without_matches(shares: Array, chance: Array, num_matching: float) -> Array:
    """Returns shares of levels without matches, which are equal or near.

    Misspelled matches are no more frequent than equal ones, unless there are so few matches.
    """
    found = shares.copy()
    found[EQUAL] = chance[EQUAL]
    num_misspelled = max(shares[EQUAL], num_matching)
    for level in range(EQUAL + 1, len(shares) - 1):
        taken = np.clip(shares[level] - chance[level], 0, num_misspelled)
        found[level] -= taken
        num_misspelled -= taken
    return found / found.sum()


def _information(shares: Array, chance: Array) -> float:
    """Returns the information in nats of levels that are more frequent than by chance."""
    is_more = shares > chance
    more, by_chance = shares[is_more], chance[is_more]
    gains = more * np.log(more / np.maximum(by_chance, MIN_LEVEL))
    return float((gains - (more - by_chance)).sum())


def _pairs_with_equal_values(column: Column, min_rows: int) -> Ids:
    """Draws rows with a value that so many rows have, each with another row that has it."""
    draw = np.random.default_rng(0)
    rows = np.flatnonzero(column.left >= 0)
    others = stable_order(column.right)
    values = column.right[others]
    starts, ends = np.searchsorted(values, [column.left[rows], column.left[rows] + 1])
    is_frequent = ends - starts >= min_rows
    places = draw.integers(starts[is_frequent], ends[is_frequent])
    pairs = paired(rows[is_frequent], others[places])
    if column.is_one_table:
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs) > _NUM_DRAWN:
        pairs = pairs[draw.choice(len(pairs), _NUM_DRAWN, replace=False)]
    return pairs


def _best_parents(information: NDArray[np.float64], least: float) -> list[int]:
    """Returns the column that each column follows from, or -1, without circles.

    Args:
        information: What each column says about others, `(num_columns, num_parents)`.
        least: The smallest information that counts.
    """
    num_columns = len(information)
    parents = [-1] * num_columns
    for place in np.argsort(-information, axis=None, kind="stable").tolist():
        child, parent = divmod(place, num_columns)
        if information[child, parent] < least:
            break
        ancestor = parent
        while ancestor not in (-1, child):
            ancestor = parents[ancestor]
        if parents[child] == -1 and ancestor == -1:
            parents[child] = parent
    return parents
