"""Variants in one table: things that differ in a date, a time or a number only.

Copies of a row have the same date but for typos, or a day later. If most of the rows that are alike
in all else have other dates, they are the same concert each week.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Array, Flags, Ids, paired
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.identity import are_full_names, are_keys
from tf_charagram.search.linkage._columns.value_similarities import NEAR_DAYS, days_between
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    num_levels,
)
from tf_charagram.search.linkage._fellegi_sunter.fitting import MIN_MOSTLY
from tf_charagram.search.linkage._fellegi_sunter.following import roots_of
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.siblings import rows_with_copies

# If copies and variants are as probable before any pair is seen, the share of copies with another
# value of a column has the density `3 * (1 - share) ** 2`, and the share of variants may be any,
# then more than this are variants.
_MAX_OTHERS = 0.42
# Pairs at a level of a column are variants if they are misspelled elsewhere so many times as often
# as pairs with equal values, and copies from so many times on. At least so many of the alike pairs
# are variants.
_MAX_MISSPELLED = 0.6
_MIN_OF_COPIES = 0.8
# So many more would be misspelled if they were copies.
_MIN_MISSPELLED = 3
_MIN_OTHERS = 0.1
# Dates a few days apart are of variants if they are at most so many times as frequent as by chance.
_MAX_NEAR = 3.0
# Rows a few days apart are variants if both have a copy in about as many of the pairs as are
# expected of independent things. If they are more, some things have many copies. Fewer expected
# pairs, or more rows with copies, tell nothing.
_MIN_BOTH = 0.6
_MAX_BOTH = 2.0
_MIN_EXPECTED = 10
_MAX_WITH_COPIES = 0.7
# Pairs with equal values that are counted before any other.
_PSEUDO_PAIRS = 10
# Columns whose values are mostly near by chance, such as rooms of a floor, tell little.
_MIN_APART = 0.3
# Pairs that differ in one column only, for each match: if there are more, they are no copies.
_MAX_UNCLEAR = 2.0
# Never all matches are unclear.
_MAX_UNCLEAR_SHARE = 0.99
# Columns that differ in so many of the variants that another column tells are a part of it: the
# day of a shift and its hour.
_MIN_TOGETHER = 0.5


def variant_levels(
    columns: Sequence[Column], mixture: Mixture, pairs: Ids, agreements: Sequence[Agreement]
) -> list[Flags]:
    """Finds the levels of columns at which things of a table differ that are alike in all else.

    Args:
        columns: The columns.
        mixture: A fitted mixture that takes variants for matches.
        pairs: Candidate pairs, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.

    Returns:
        For each column, flags of its levels; empty if no column tells variants.
    """
    if not any(column.may_tell_variants for column in columns):
        return []
    have_keys = _have_keys(columns, mixture)
    # Next to keys, other things are relatives already.
    is_alike = mixture.log_odds(agreements, any_relation=have_keys) > 0
    alike = pairs[is_alike]
    if not len(alike):
        return []
    levels = [agreement.levels[is_alike] for agreement in agreements]
    is_misspelled = np.zeros(len(alike), bool)
    for column, own in zip(columns, levels, strict=True):
        if not column.may_tell_variants:
            is_misspelled |= (own > EQUAL) & (own < num_levels(column) - 1)
    # Few things are in a table so often that pairs of their copies are more than its rows.
    are_many = len(alike) > len(columns[0].left)
    found = []
    for column, own, chance in zip(columns, levels, mixture.chance, strict=True):
        are_variants = np.zeros(len(chance), bool)
        if column.may_tell_variants and chance[-1] > _MIN_APART:
            are_variants = _levels_by_spelling(column, own, is_misspelled)
            is_twice = _is_recorded_twice(own, is_misspelled)
            may_be_told = not have_keys or (are_many and is_twice)
            if may_be_told and not are_variants.any():
                are_variants = _levels_by_share(column, own, alike, chance, is_twice)
            if not are_variants.any() and column.kind.name == "date":
                are_variants[EQUAL + 1 :] = _have_copies(column, own, alike)
        found.append(are_variants)
    return found if np.concatenate(found).any() else []


def _levels_by_spelling(column: Column, levels: NDArray[np.int8], is_misspelled: Flags) -> Flags:
    """Tells the levels whose pairs are misspelled less often than pairs with equal values.

    Copies are misspelled in other columns whether they are in this one or not; a concert is
    announced in the same words each evening.

    Args:
        column: The column.
        levels: Levels of alike pairs in the column, `(num_pairs,)`.
        is_misspelled: Whether their values are near, but not equal, in another column.
    """
    num_pairs = np.bincount(levels, minlength=num_levels(column))
    num_misspelled = np.bincount(levels, is_misspelled, len(num_pairs))
    # A few pairs with equal values are taken to be misspelled as often as all.
    of_all = _PSEUDO_PAIRS * num_misspelled.sum() / max(len(levels), 1)
    share = (num_misspelled[EQUAL] + of_all) / (num_pairs[EQUAL] + _PSEUDO_PAIRS)
    expected = share * num_pairs
    are_unequal = np.arange(len(num_pairs)) > EQUAL
    are_others = are_unequal & (num_misspelled + _MIN_MISSPELLED < _MAX_MISSPELLED * expected)
    if num_pairs[are_others].sum() <= _MIN_OTHERS * num_pairs[EQUAL:].sum():
        return np.zeros(len(num_pairs), bool)
    # Levels of few pairs, or in between, are as the others.
    are_copies = num_misspelled >= np.maximum(_MIN_OF_COPIES * expected, _MIN_MISSPELLED)
    # Values that have nothing in common are other ones if those that are near are.
    are_copies[-1] = False
    are_variants: Flags = are_unequal & ~are_copies
    return are_variants


def _have_copies(column: Column, levels: NDArray[np.int8], alike: Ids) -> bool:
    """Tells whether things a few days apart have copies of their own, as two concerts have.

    Args:
        column: A column of dates.
        levels: Levels of alike pairs in the column, `(num_pairs,)`.
        alike: The pairs, `(num_pairs, 2)`.
    """
    has_copy, share = rows_with_copies(column, alike[levels == EQUAL])
    have_both = has_copy[alike[levels == EQUAL + 1]].all(axis=1)
    expected = share**2 * len(have_both)
    if share > _MAX_WITH_COPIES or expected < _MIN_EXPECTED:
        return False
    return bool(_MIN_BOTH < have_both.sum() / expected < _MAX_BOTH)


def _is_recorded_twice(levels: NDArray[np.int8], is_misspelled: Flags) -> bool:
    """Tells whether pairs with equal values are misspelled as often as the other ones.

    They are the same visit, written down twice. If the column were the day on which a patient was
    written down, equal values would be of rows that are copied as they are.

    Args:
        levels: Levels of alike pairs in the column, `(num_pairs,)`.
        is_misspelled: Whether their values are near, but not equal, in another column.
    """
    is_equal = levels == EQUAL
    expected = _MIN_OF_COPIES * is_misspelled.mean() * is_equal.sum()
    return bool(is_misspelled[is_equal].sum() > max(expected, _PSEUDO_PAIRS))


def _levels_by_share(
    column: Column, levels: NDArray[np.int8], alike: Ids, chance: Array, is_recorded_twice: bool
) -> Flags:
    """Tells the levels of a column but equality, if too many of the alike pairs have other values.

    Args:
        column: The column.
        levels: Levels of alike pairs in the column, `(num_pairs,)`.
        alike: The pairs, `(num_pairs, 2)`.
        chance: Share of each level among random pairs, `(num_levels,)`.
        is_recorded_twice: The result of `_is_recorded_twice`.
    """
    are_unequal = np.arange(len(chance)) > EQUAL
    is_other = levels == len(chance) - 1
    apart = chance[-1]
    if column.kind.name == "date":
        # Most other dates are one or two digits away. A month later it may be the same payment,
        # unless payments are written down twice with the same date.
        values = paired(*(column.left[side] for side in alike.T))
        is_near = levels == EQUAL + 1
        if not is_recorded_twice:
            is_near = days_between(column.values, values) <= NEAR_DAYS
        is_other = (levels > EQUAL) & ~is_near
        apart = 1.0
    num_present = (levels != ABSENT).sum() + _PSEUDO_PAIRS
    if is_other.sum() <= _MAX_OTHERS * num_present * apart:
        return np.zeros(len(chance), bool)
    if column.kind.name == "date":
        # Variants are rarely a few days apart, and copies are.
        by_chance = chance[EQUAL + 1] / chance[are_unequal].sum()
        num_near = (levels == EQUAL + 1).sum()
        are_unequal[EQUAL + 1] = num_near <= _MAX_NEAR * by_chance * (levels > EQUAL).sum()
    return are_unequal


def _have_keys(columns: Sequence[Column], mixture: Mixture) -> bool:
    """Tells whether things have a column that identifies them, whatever else differs.

    Most alike rows agree in it; prints of one picture have other sizes.
    """
    for column, match in zip(columns, mixture.match, strict=True):
        is_shared = match[: EQUAL + 2].sum() > MIN_MOSTLY
        if is_shared and column.is_identifying and are_keys(column.kind.name, column.left_cells):
            return True
    return False


def unclear_matches(columns: Sequence[Column], mixture: Mixture) -> float:
    """Returns the share of the matches that may be variants: too few to tell.

    If more of them are a few days apart than on the same day, these may be concerts on two
    evenings, or payments that are booked a day later. Two tables tell by better partners, unless
    both have copies. In one table, other matches are unclear, too.

    These have another value of a column that might tell variants; or of any column but those that
    identify, if there are more matches than rows, or if nothing identifies and columns follow from
    others: offices in the streets of a town. Where all columns are of one hierarchy, half of the
    near matches may be siblings; and so may those with near full names, if there are more relatives
    of other names than matches: the initial or the nickname of one may be that of another one.
    """
    shares = [0.0]
    is_one_table = columns[0].is_one_table
    # Beside copies, levels tell rivals, if there are any.
    have_copies = bool(mixture.variant_levels) or not len(mixture.log_rivals)
    if is_one_table or have_copies:
        shares += _shares_few_days_apart(columns, mixture)
    if is_one_table:
        shares += _unclear_shares(columns, mixture)
    return float(min(max(shares), _MAX_UNCLEAR_SHARE))


def _shares_few_days_apart(columns: Sequence[Column], mixture: Mixture) -> list[float]:
    """Returns the shares of the matches with near dates, where fewer have equal ones."""
    found = []
    for column, match in zip(columns, mixture.match, strict=True):
        may_tell = column.kind.name == "date" and column.may_tell_variants
        if may_tell and match[EQUAL + 1] > match[EQUAL]:
            found.append(match[EQUAL + 1])
    return found


def _unclear_shares(columns: Sequence[Column], mixture: Mixture) -> list[float]:
    """Returns the shares of the matches of a table that may be variants, by column."""
    are_many = np.exp(mixture.log_priors[0]) > mixture.row_share
    if not mixture.is_identifying.any():
        are_many |= max(mixture.parents, default=-1) >= 0
    shares = []
    is_one_hierarchy = len(set(roots_of(mixture.parents))) == 1
    levels = zip(columns, mixture.match, mixture.chance, strict=True)
    for number, (column, match, chance) in enumerate(levels):
        may_be_siblings = is_one_hierarchy or _are_of_families(column, number, mixture)
        if may_be_siblings and column.is_identifying:
            shares.append((1 - match[EQUAL]) / 2)
        if chance[-1] <= _MIN_APART:
            continue
        share = match[-1] / chance[-1]
        if column.may_tell_variants:
            shares.append(share)
        elif are_many and not column.is_identifying and share > _MAX_OTHERS:
            shares.append(match[EQUAL + 2 :].sum())
    return shares


def _are_of_families(column: Column, number: int, mixture: Mixture) -> bool:
    """Tells full names of a table that has more relatives of other names than matches."""
    have_other_names = mixture.shared[:, number] < MIN_MOSTLY
    shares = np.exp(mixture.log_priors)
    share = shares[1:-1][have_other_names].sum()
    return share > shares[0] and are_full_names(column.left_cells)


def unclear_relatives(columns: Sequence[Column], mixture: Mixture) -> float:
    """Returns the ratio of pairs of a table that may be copies that changed to its matches.

    They differ in one column only, as relatives or variants do. If they are more frequent than
    copies, and there are more of such pairs than rows, they are different things.
    """
    if not columns[0].is_one_table:
        return 0.0
    shares = np.exp(mixture.log_priors)
    share_of_matches = shares[0]
    is_single = (mixture.shared < MIN_MOSTLY).sum(axis=1) == 1
    share = shares[1:-1][is_single].sum()
    if len(mixture.variant_columns) == 1:
        share += np.exp(mixture.log_rivals).sum()
    ratio = share / share_of_matches
    are_others = ratio > _MAX_UNCLEAR and share + share_of_matches > mixture.row_share
    return 0.0 if are_others else float(ratio)


def add_companions(
    variants: Sequence[Flags], columns: Sequence[Column], counted: Sequence[Array]
) -> bool:
    """Adds the columns that differ in the variants that other columns tell, if there are any.

    Args:
        variants: For each column, flags of the levels at which variants differ, which are changed.
        columns: The columns.
        counted: Their shares of levels, as `fit_variants` returns them.

    Returns:
        Whether there are any.
    """
    has_companions = False
    for levels, column, shares in zip(variants, columns, counted, strict=True):
        is_companion = (shares[:, EQUAL] < _MIN_TOGETHER).all()
        if column.may_tell_variants and is_companion and not levels.any():
            levels[EQUAL + 1 :] = has_companions = True
    return has_companions
