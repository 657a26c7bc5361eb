"""Fits rivals beside copies: people of a household, some of whom are in the table twice.

Copies agree as matches do. Rivals differ in a column that tells things apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from tf_charagram.search._pairs.flat_arrays import Flags
from tf_charagram.search.linkage._fellegi_sunter.evidence import Agreement
from tf_charagram.search.linkage._fellegi_sunter.fitting import MIN_MOSTLY, Patterns
from tf_charagram.search.linkage._fellegi_sunter.following import are_of_siblings
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture, prior_shares
from tf_charagram.search.linkage._fellegi_sunter.rival_classes import (
    InnerPairs,
    add_inner_classes,
    agreement_ratios,
    fit_classes,
    improve_across,
)

# Rivals are apart in a column if they agree in it less often than so many of the matches do.
_MIN_APART = 0.5
# Copies change, too: classes of rivals have so many pairs for each copy, and more if they are apart
# in one column only. If that leaves hardly any copies, the column changes in all of them.
_MIN_RIVALS = 0.2
_MIN_RIVALS_IN_ONE = 1.0
_MAX_RIVALS_IN_ONE = 10.0
_NUM_ROUNDS = 10
_NUM_FIRST_ROUNDS = 5
# A table has copies if so many of the pairs for each match, and so many in all, agree as they do.
_MIN_COPIES = 0.05
_MIN_PAIRS = 20


def look_like_copies(mixture: Mixture, inner: InnerPairs, num_matches: float) -> bool:
    """Tells whether rivals within tables are copies: some are apart in amounts only.

    Args:
        mixture: A mixture with rivals that were fitted as if there were no copies.
        inner: The pairs of rows of the same table.
        num_matches: Number of the matches of two tables before rivals were fitted.
    """
    is_apart = agreement_ratios(mixture)[:, ~inner.are_amounts] < _MIN_APART
    num_copies = np.exp(mixture.log_rivals[~is_apart.any(axis=1)]).sum() * inner.num_pairs
    return bool(num_copies > _MIN_COPIES * num_matches + _MIN_PAIRS)


def fit_beside_copies(
    mixture: Mixture,
    inner: InnerPairs,
    agreements: Sequence[Agreement],
    num_all_pairs: float,
) -> None:
    """Fits copies and rivals to pairs of the same table, and matches to the pairs of two tables.

    Args:
        mixture: The mixture, which is changed.
        inner: The pairs of the same table, some of which are copies.
        agreements: Agreements of candidates of two tables.
        num_all_pairs: Number of pairs of rows of two tables, candidates or not.
    """
    patterns = Patterns.of(inner.agreements)
    across = Patterns.of(agreements)
    log_copies = float(mixture.log_priors[0])
    add_inner_classes(mixture, patterns, inner.num_pairs, least=1)
    _add_what_was_taken_for_matches(mixture, inner.tells)
    mixture.variant_levels = [np.zeros(len(match), bool) for match in mixture.match]
    apart: list[int] = []
    for number in range(_NUM_ROUNDS):
        log_copies = fit_classes(mixture, patterns, inner.num_pairs, 0, log_copies, apart)
        ratios = agreement_ratios(mixture)
        is_apart = ratios < _MIN_APART
        are_rivals = is_apart[:, inner.tells].any(axis=1)
        are_in_one = is_apart.sum(axis=1) == 1
        for_each_copy = np.exp(mixture.log_rivals - log_copies)
        are_rivals &= ~are_in_one | (for_each_copy < _MAX_RIVALS_IN_ONE)
        if number >= _NUM_FIRST_ROUNDS:
            are_rivals &= for_each_copy > np.where(are_in_one, _MIN_RIVALS_IN_ONE, _MIN_RIVALS)
        _join_copies(mixture, ~are_rivals, log_copies)
        mixture.drop_relatives(_are_also_rivals(mixture, is_apart[are_rivals]))
        apart = np.where(inner.tells, ratios, np.inf)[are_rivals].argmin(axis=1).tolist()
        for levels in mixture.variant_levels:
            levels[:] = False
        for place, column in enumerate(apart):
            mixture.variant_levels[column] |= are_of_siblings(mixture.rivals[column][place])
        within = mixture.rivals
        improve_across(mixture, within, inner.chance, across, num_all_pairs)
        if number < _NUM_ROUNDS - 1:
            mixture.rivals = within


def _add_what_was_taken_for_matches(mixture: Mixture, tells: Flags) -> None:
    """Starts a class of rivals from the matches so far, and the matches again.

    Args:
        mixture: The mixture, which is changed.
        tells: Columns in which matches hardly differ, `(num_columns,)`.
    """
    mixture.log_rivals = np.append(mixture.log_rivals, mixture.log_priors[0])
    for column, match in enumerate(mixture.match):
        mixture.rivals[column] = np.vstack([mixture.rivals[column], match])
        if tells[column]:
            mixture.match[column] = prior_shares(len(match))


def _join_copies(mixture: Mixture, is_joined: Flags, log_copies: float) -> None:
    """Takes classes of rivals for copies, which agree as matches do.

    Args:
        mixture: The mixture, which is changed.
        is_joined: Classes that are copies, `(num_rivals,)`.
        log_copies: Logarithm of the share of the other copies among all pairs.
    """
    log_shares = np.append(mixture.log_rivals[is_joined], log_copies)
    weights = np.exp(log_shares - logsumexp(log_shares))
    for column, rivals in enumerate(mixture.rivals):
        mixture.match[column] = weights @ np.vstack([rivals[is_joined], mixture.match[column]])
        mixture.rivals[column] = rivals[~is_joined]
    mixture.log_rivals = mixture.log_rivals[~is_joined]


def _are_also_rivals(mixture: Mixture, is_apart: Flags) -> Flags:
    """Tells relatives of two tables that are rivals within tables, `(num_relatives,)`.

    Others are matches that changed.

    Args:
        mixture: The mixture.
        is_apart: Columns in which each class of rivals is apart, `(num_rivals, num_columns)`.
    """
    differ = mixture.shared < MIN_MOSTLY
    are_same: Flags = (differ[:, np.newaxis] == is_apart).all(axis=2)
    are_also: Flags = np.any(are_same, axis=1)
    return are_also
