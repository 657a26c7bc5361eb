"""Variants in one table: things that differ in a date, a time or a number only.

Copies of a row have the same date but for typos. If most of the rows that are alike in all else
have other dates, they are the same concert each week.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tf_charagram.search._pairs.flat_arrays import Ids, paired
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.identity import are_keys
from tf_charagram.search.linkage._columns.value_similarities import are_near_dates
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, EQUAL, Agreement
from tf_charagram.search.linkage._fellegi_sunter.fitting import MIN_MOSTLY
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture

# If copies and variants are as probable before any pair is seen, the share of copies with another
# value of a column has the density `3 * (1 - share) ** 2`, and the share of variants may be any,
# then more than this are variants.
_MAX_OTHERS = 0.42
# Pairs with equal values that are counted before any other.
_PSEUDO_PAIRS = 10
# Columns whose values are mostly near by chance, such as rooms of a floor, tell little.
_MIN_APART = 0.5
# Pairs that differ in one column only, for each match: if there are more, they are no copies.
_MAX_UNCLEAR = 2.0
# Columns that differ in so many of the variants that another column tells are a part of it: the
# day of a shift and its hour.
_MIN_TOGETHER = 0.5


def variant_columns(
    columns: Sequence[Column], mixture: Mixture, pairs: Ids, agreements: Sequence[Agreement]
) -> list[int]:
    """Finds the columns of a table in which things differ that are alike in all else.

    Args:
        columns: The columns.
        mixture: A fitted mixture that takes variants for matches.
        pairs: Candidate pairs, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.

    Returns:
        Their numbers.
    """
    if _have_keys(columns):
        return []
    is_alike = mixture.log_odds(agreements) > 0
    alike = pairs[is_alike]
    found = []
    for number, column in enumerate(columns):
        levels = agreements[number].levels[is_alike]
        apart = mixture.chance[number][-1]
        is_other = levels == len(mixture.chance[number]) - 1
        if column.kind.name == "date":
            # Most other dates are one or two digits away.
            values = paired(*(column.left[side] for side in alike.T))
            is_other = (levels > EQUAL) & ~are_near_dates(column.values, values)
            apart = 1.0
        num_present = (levels != ABSENT).sum() + _PSEUDO_PAIRS
        share = is_other.sum() / (num_present * apart)
        if column.may_tell_variants and apart > _MIN_APART and share > _MAX_OTHERS:
            found.append(number)
    return found


def _have_keys(columns: Sequence[Column]) -> bool:
    """Tells whether things have a column that identifies them, whatever else differs."""
    for column in columns:
        if column.is_identifying and are_keys(column.kind.name, column.left_cells):
            return True
    return False


def unclear_matches(columns: Sequence[Column], mixture: Mixture) -> float:
    """Returns the share of the matches of a table that may be variants: too few to tell.

    They have another value of a column that might tell variants.
    """
    if not columns[0].is_one_table:
        return 0.0
    shares = [0.0]
    for column, match, chance in zip(columns, mixture.match, mixture.chance, strict=True):
        if column.may_tell_variants and chance[-1] > _MIN_APART:
            shares.append(match[-1] / chance[-1])
    return float(max(shares))


def unclear_relatives(columns: Sequence[Column], mixture: Mixture) -> float:
    """Returns the ratio of pairs of a table that may be copies that changed to its matches.

    They differ in one column only, as relatives or variants do. If they are more frequent than
    copies, they are different things.
    """
    if not columns[0].is_one_table:
        return 0.0
    is_single = (mixture.shared < MIN_MOSTLY).sum(axis=1) == 1
    log_relatives = mixture.log_priors[1:-1][is_single]
    log_variants = mixture.log_rivals if len(mixture.variant_columns) == 1 else np.zeros(0)
    ratio = np.exp(np.append(log_relatives, log_variants) - mixture.log_priors[0]).sum()
    return float(ratio) if ratio < _MAX_UNCLEAR else 0.0


def with_companions(columns: Sequence[Column], mixture: Mixture) -> list[int]:
    """Adds the columns that differ in the variants that other columns tell; returns all.

    Args:
        columns: The columns.
        mixture: A mixture with fitted variants.
    """
    found = []
    for number, column in enumerate(columns):
        is_companion = (mixture.rivals[number][:, EQUAL] < _MIN_TOGETHER).all()
        if number in mixture.variant_columns or (column.may_tell_variants and is_companion):
            found.append(number)
    return found
