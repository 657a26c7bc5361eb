"""Hierarchies of columns: a town lies in one state, and a species in one family.

Rows that share a town share the state, too, and their names may begin with the town. Such values
are the evidence of one column, not of two.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from tf_charagram.search.linkage._fellegi_sunter.mixture import MIN_LEVEL, Hierarchy, Mixture

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
# Smallest information in nats that a value has about another column, in tables of so many rows. In
# larger ones, more rows agree by chance, so less matters.
_MIN_INFORMATION = 0.09
_MANY_ROWS = 3000


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
        # Agreements of pairs of rows with equal values in a column, most of which do not match.
        self._siblings: dict[int, list[Agreement]] = {}
        # Of the rows that share a value with a row, the part that one row is.
        self._share_of_row: dict[int, float] = {}
        for parent, column in enumerate(columns):
            if column.is_identifying:
                continue
            pairs = _pairs_with_equal_values(column)
            counts = column.counts / len(column.tables)
            frequent = counts[counts >= _MIN_ROWS]
            num_rows = frequent.mean() if len(frequent) else _MIN_ROWS
            num_near = chance[parent][[EQUAL, EQUAL + 1]].sum() * len(column.right)
            if column.kind.name in _MEASURES and num_near >= num_rows:
                # Stays that begin in the same week end in the same week, too.
                levels = compare_column(column, drawn).levels
                is_near = (levels == EQUAL) | (levels == EQUAL + 1)
                pairs = drawn[is_near][:_NUM_DRAWN]
                num_rows = num_near
            if len(pairs) >= _MIN_PAIRS:
                self._siblings[parent] = compare_columns(columns, pairs)
                self._share_of_row[parent] = 1 / num_rows

    def before_pairs(self, part: float = 1.0) -> Hierarchy:
        """Finds them before matches are known: most pairs differ in what identifies.

        Args:
            part: Part of the information that a value needs to have about another column.
        """
        num_columns = len(self._columns)
        given = {-1: list(self._chance)}
        information = np.zeros((num_columns, num_columns))
        for parent, agreements in self._siblings.items():
            share_of_row = self._share_of_row[parent]
            apart = self._shares_apart(agreements, _EXPECTED_PARTNERS * share_of_row)
            if apart is None:
                continue
            given[parent] = apart
            for number in range(num_columns):
                if number != parent:
                    shares = apart[number] - _MAX_PARTNERS * share_of_row
                    information[number, parent] = _information(shares, self._chance[number])
        num_rows = len(self._columns[0].right)
        least = part * _MIN_INFORMATION * min(_MANY_ROWS / max(num_rows, 1), 1)
        parents = _best_parents(information, least)
        found = [given[parent][number] for number, parent in enumerate(parents)]
        return Hierarchy(parents, found)

    def _shares_apart(
        self, agreements: Sequence[Agreement], num_matching: float
    ) -> list[Array] | None:
        """Returns the shares of levels among the pairs that differ in columns that identify.

        Args:
            agreements: Agreements of pairs, one per column.
            num_matching: Share of the pairs that may match.

        Returns:
            The shares, or `None` if most of the pairs match: rows with the value are one thing.
        """
        identifying = [column.is_identifying for column in self._columns]
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
                    given[number] = shares[number]
        return hierarchy._replace(given=given)

    def _shares(self, agreements: Sequence[Agreement], weights: NDArray[Any]) -> list[Array]:
        found = []
        for column, agreement in zip(self._columns, agreements, strict=True):
            found.append(level_shares(column, agreement.levels, weights))
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


def _pairs_with_equal_values(column: Column) -> Ids:
    """Draws rows with a frequent value, each with another row that has it."""
    draw = np.random.default_rng(0)
    rows = np.flatnonzero(column.left >= 0)
    others = stable_order(column.right)
    values = column.right[others]
    starts, ends = np.searchsorted(values, [column.left[rows], column.left[rows] + 1])
    is_frequent = ends - starts >= _MIN_ROWS
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
