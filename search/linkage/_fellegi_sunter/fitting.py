"""Fits the mixture of Fellegi and Sunter to pairs by expectation and maximization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Flags,
    Ids,
    packed_integers,
    runs_of,
    stable_order,
)
from tf_charagram.search.linkage._fellegi_sunter.changing import count_changes
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, EQUAL, Agreement
from tf_charagram.search.linkage._fellegi_sunter.following import MIN_LEVEL, roots_of
from tf_charagram.search.linkage._fellegi_sunter.mixture import (
    Mixture,
    log_shares,
    prior_shares,
)

_NUM_STEPS = 100
# Classes of relatives that turn out to be matches are dropped, and the rest is fitted again.
_NUM_ROUNDS = 3
# Probabilities of matches change less than this: the fit has converged.
_TOLERANCE = 1e-4
# Classes of pairs: matches, relatives (which agree in some columns as matches do, and in the others
# by chance), and random pairs.
_NUM_RELATIVES = 2
# With fewer columns, relatives look like matches or like random pairs.
_MIN_COLUMNS = 3
# Pairs of matches that the shares of levels start from.
_PSEUDO_MATCHES = 20.0
# Relatives that their levels of a column start from.
_PSEUDO_RELATIVES = 20.0
# A column that changes may differ in so many matches at most.
_MAX_CHANGED = 0.95
_PSEUDO_PAIRS = 2.5
# So much of the sharing of relatives is noise.
_SLACK = 0.1
MIN_SHARED = 0.003
# From this share on, relatives share a column.
MIN_MOSTLY = 0.5
# Relatives are matches if so few of them, of at least so many, have a better partner.
_MIN_OUTDONE = 0.3
_MIN_RELATIVES = 5
# Equal values fall into bins of their log frequency, so that few patterns are fitted.
_BIN = 0.25


class Patterns(NamedTuple):
    """Distinct patterns of agreement.

    Attributes:
        agreements: Agreements of the patterns, one per column.
        counts: Number of pairs with each pattern, `(num_patterns,)`.
        first: The first pair with each pattern, `(num_patterns,)`.
    """

    agreements: list[Agreement]
    counts: Array
    first: Ids

    @classmethod
    def of(cls, agreements: Sequence[Agreement]) -> Patterns:
        """Finds the patterns of pairs."""
        levels = [agreement.levels for agreement in agreements]
        # Logarithms of shares are negative.
        bins = [np.round(agreement.log_frequencies / -_BIN) for agreement in agreements]
        packed = packed_integers([*levels, *bins])
        order = stable_order(packed)
        starts, ends = runs_of(packed[order])
        first = order[starts]
        counts = ends - starts
        found = []
        for agreement, own in zip(agreements, bins, strict=True):
            log_frequencies = -_BIN * own[first].astype(np.float64)
            found.append(agreement.of(first)._replace(log_frequencies=log_frequencies))
        return cls(found, counts.astype(np.float64), first)


def fit_mixture(
    mixture: Mixture,
    patterns: Patterns,
    num_all_pairs: float,
    num_expected: float,
) -> Mixture:
    """Fits the model by expectation-maximization.

    Pairs that are no candidates count as random. The agreement by chance is known, so it is not
    fitted.

    Args:
        mixture: The mixture to start from, which is changed.
        patterns: Patterns of agreement of candidates.
        num_all_pairs: Number of pairs of rows, candidates or not.
        num_expected: Number of matches to start from.
    """
    mixture.shared = _likely_relatives(mixture, patterns, num_all_pairs, num_expected)
    expected = np.full(len(mixture.shared) + 1, num_expected)
    mixture.log_priors = _log_priors(expected, num_all_pairs)
    improve(mixture, patterns, num_all_pairs)
    mixture.is_fitted = True
    for _ in range(_NUM_ROUNDS):
        if not _change_relatives(mixture):
            break
        improve(mixture, patterns, num_all_pairs)
    return mixture


def start_from(mixture: Mixture, agreements: Sequence[Agreement], is_seed: Flags) -> None:
    """Counts the levels of some pairs, for the fit to start from.

    Args:
        mixture: The mixture, which is changed.
        agreements: Agreements of candidates, one per column.
        is_seed: Pairs most of which may match, `(num_pairs,)`.
    """
    patterns = Patterns.of([agreement.of(is_seed) for agreement in agreements])
    _fit_matches(mixture, patterns, patterns.counts)


def drop_supported(
    mixture: Mixture,
    agreements: Sequence[Agreement],
    is_outdone: Flags,
    is_weak: Flags,
    num_all_pairs: float,
) -> bool:
    """Drops relatives that hardly have a better partner: they are matches. Fits the rest again.

    Args:
        mixture: The mixture, which is changed.
        agreements: Agreements of candidates, one per column.
        is_outdone: Whether a row of each pair has a better partner, `(num_pairs,)`.
        is_weak: Columns in which relatives may turn out to be matches, `(num_columns,)`.
        num_all_pairs: Number of pairs of rows, candidates or not.

    Returns:
        Whether a class was dropped.
    """
    ratios = mixture.column_evidence(agreements)
    classes = mixture.log_classes(ratios, mixture.lifts_apart(agreements))
    of_relatives = softmax(classes, axis=1)[:, 1:-1]
    totals = of_relatives.sum(axis=0)
    shares = of_relatives[is_outdone].sum(axis=0) / np.maximum(totals, 1e-9)
    is_dropped = (shares < _MIN_OUTDONE) & (totals > _MIN_RELATIVES)
    is_dropped &= ((mixture.shared >= MIN_MOSTLY) | is_weak).all(axis=1)
    if is_dropped.any():
        mixture.drop_relatives(~is_dropped)
        improve(mixture, Patterns.of(agreements), num_all_pairs)
    return bool(is_dropped.any())


def _change_relatives(mixture: Mixture) -> bool:
    """Drops classes that have taken a part of the matches, and adds those that are missing."""
    is_shared = mixture.shared >= MIN_MOSTLY
    num_apart = (~is_shared).sum(axis=1)
    has_identifying = (~is_shared & mixture.is_identifying).any(axis=1)
    # Pairs that differ in one column only may well be matches, unless there are too many.
    column_apart = np.argmin(mixture.shared, axis=1)
    is_frequent = mixture.different > mixture.max_different
    is_kept = has_identifying & ((num_apart > 1) | mixture.is_allowed[column_apart])
    is_kept |= _is_namesake(mixture, ~is_shared)
    added = is_frequent & mixture.is_identifying & ~mixture.is_allowed
    if is_kept.all() and not added.any():
        return False
    mixture.drop_relatives(is_kept)
    mixture.is_allowed |= added
    for column in np.flatnonzero(added):
        shares = np.full(len(added), 1 - MIN_SHARED)
        shares[column] = MIN_SHARED
        mixture.add_relatives(shares)
    return True


def _is_namesake(mixture: Mixture, is_apart: Flags) -> Flags:
    """Tells classes whose pairs agree by accident: all that may change is different, `(...)`.

    Args:
        mixture: The mixture.
        is_apart: Columns that differ, `(..., num_columns)`.
    """
    is_shared = _shared_by_namesakes(mixture)
    # Columns that follow make namesakes more similar than others, so fewer columns tell them.
    has_followers = (is_shared != mixture.is_identifying).any()
    if (~is_shared).sum() < _MIN_COLUMNS - has_followers:
        return np.zeros(is_apart.shape[:-1], bool)
    return (is_apart != is_shared).all(axis=-1)


def _shared_by_namesakes(mixture: Mixture) -> Flags:
    """Returns the columns that identify, and those of the same hierarchies: titles have a topic."""
    if not mixture.parents:
        return mixture.is_identifying
    roots = np.array(roots_of(mixture.parents))
    return np.isin(roots, roots[mixture.is_identifying])


def _likely_relatives(
    mixture: Mixture, patterns: Patterns, num_all_pairs: float, num_expected: float
) -> Array:
    """Returns the shared columns to start from, `(num_relatives, num_columns)`.

    They are the most frequent sets of columns that differ in pairs that agree too well for chance.
    """
    num_columns = len(mixture.chance)
    if num_columns < _MIN_COLUMNS:
        return np.zeros((0, num_columns))
    ratios = mixture.column_evidence(patterns.agreements)
    gains = np.maximum(ratios, 0).sum(axis=1)
    is_good = gains > np.log(max(num_all_pairs, 1))
    differs = ratios < 0
    is_candidate = is_good & (differs & mixture.is_identifying).any(axis=1)
    # Namesakes are as alike as the columns that they share make them.
    is_match_like = gains > np.log(max(num_all_pairs, 1) / max(num_expected, 1))
    is_candidate |= is_match_like & _is_namesake(mixture, differs)
    # Pairs that differ in one column only may well be matches.
    is_candidate &= differs.sum(axis=1) > 1
    found, _ = frequent_sets(differs[is_candidate], patterns.counts[is_candidate], _NUM_RELATIVES)
    return found


def frequent_sets(differs: Flags, counts: Array, num_sets: int) -> tuple[Array, Array]:
    """Finds the most frequent sets of columns that differ.

    Args:
        differs: Where patterns differ, `(num_patterns, num_columns)`.
        counts: Number of pairs with each pattern, `(num_patterns,)`.
        num_sets: Number of sets.

    Returns:
        The shared columns of each set to start a fit from, `(num_sets, num_columns)`, and the
        number of pairs that differ in them.
    """
    sets, places = np.unique(differs, axis=0, return_inverse=True)
    totals = np.bincount(places.ravel(), counts, len(sets))
    most = np.argsort(-totals, kind="stable")[:num_sets]
    return np.where(sets[most], 0.1, 0.9), totals[most].astype(np.float64)


def improve(
    mixture: Mixture,
    patterns: Patterns,
    num_all_pairs: float,
    log_kept: Array | float = 0.0,
    count_rivals: Callable[[Array], None] | None = None,
) -> None:
    """Changes a mixture by steps of expectation and maximization until it stays the same.

    Args:
        mixture: The mixture, which is changed.
        patterns: Patterns of agreement of candidates.
        num_all_pairs: Number of pairs of rows, candidates or not.
        log_kept: Logarithm of the share of pairs that do not match that are among the candidates,
            `(num_patterns,)`.
        count_rivals: Counts the rivals in each step, from the probability of each class of rivals,
            `(num_patterns, num_rivals)`. Default: they stay as they are.
    """
    before = np.zeros(len(patterns.counts))
    log_chances = mixture.log_chances(patterns.agreements)
    is_present = np.stack([agreement.levels != ABSENT for agreement in patterns.agreements]).T
    for _ in range(_NUM_STEPS):
        ratios = mixture.log_matches(patterns.agreements) - log_chances
        sets = mixture.changed(ratios)
        lifts = mixture.lifts_apart(patterns.agreements)
        classes = mixture.log_classes(ratios, lifts, sets)
        rivals = mixture.log_rival_classes(ratios, patterns.agreements)
        every = np.append(classes, rivals, axis=1)
        every.T[1:] += log_kept
        posteriors, of_rivals = np.split(softmax(every, axis=1), [classes.shape[1]], axis=1)
        weights = patterns.counts[:, np.newaxis] * posteriors
        _fit_matches(mixture, patterns, weights[:, 0])
        mixture.changes = count_changes(sets, weights[:, 0], len(mixture.changes) - 1)
        # As if there were one more pair of each class.
        num_found = weights[:, :-1].sum(axis=0) + 1
        if len(mixture.log_rivals) and not mixture.variant_levels:
            # The relatives of two tables are among the pairs that rivals are fitted to.
            num_found[1:] = np.exp(mixture.log_priors[1:-1]) * num_all_pairs
        else:
            _fit_relatives(mixture, patterns, is_present, np.exp(ratios), lifts, weights[:, 1:-1])
        mixture.log_priors = _log_priors(num_found, num_all_pairs)
        if count_rivals is not None:
            count_rivals(of_rivals)
        matches = posteriors[:, 0]
        if np.abs(matches - before).max(initial=0) < _TOLERANCE:
            break
        before = matches


def _fit_matches(mixture: Mixture, patterns: Patterns, weights: Array) -> None:
    """Counts the levels of matches; `weights` are numbers of matches, `(num_patterns,)`."""
    is_steady = mixture.is_steady
    for column, agreement in enumerate(patterns.agreements):
        num_levels = len(mixture.chance[column])
        found = np.bincount(agreement.levels, weights, num_levels).astype(np.float64)
        found[ABSENT] = 0
        most = mixture.max_different if is_steady[column] else _MAX_CHANGED
        found += _PSEUDO_MATCHES * prior_shares(num_levels)
        is_different = mixture.are_differences(column)
        mixture.different[column] = found[is_different].sum() / found.sum()
        mixture.match[column] = _bounded(found, is_different, most)


def _fit_relatives(
    mixture: Mixture,
    patterns: Patterns,
    is_present: Flags,
    odds: Array,
    lifts: Array,
    weights: Array,
) -> None:
    """Counts how often relatives agree as matches do, and how near the values of others are.

    Args:
        mixture: The mixture, which is changed.
        patterns: Patterns of agreement of candidates.
        is_present: Where no value is missing, `(num_patterns, num_columns)`.
        odds: Likelihood ratios of match and chance, `(num_patterns, num_columns)`.
        lifts: The result of `lifts_apart`, `(num_patterns, num_columns)`.
        weights: Numbers of relatives, `(num_patterns, num_relatives)`.
    """
    num_apart = np.zeros(odds.shape)
    for number, shares in enumerate(mixture.shared):
        of_class = weights[:, number]
        agree = shares * odds / (shares * odds + (1 - shares) * lifts)
        are_apart = mixture.is_identifying & (shares < MIN_MOSTLY)
        num_apart += of_class[:, np.newaxis] * (1 - agree) * are_apart
        num_shared = of_class @ (agree * is_present)
        num_present = of_class @ is_present
        mixture.shared[number] = _decided((num_shared + 1) / (num_present + 2))
    columns = zip(mixture.chance, patterns.agreements, num_apart.T, strict=True)
    mixture.apart = [_lifts(*column) for column in columns]


def _lifts(chance: Array, agreement: Agreement, num_apart: Array) -> Array:
    """Returns the ratios of levels among relatives and among random pairs, `(num_levels,)`.

    Equal values of relatives that do not share a column are equal by chance.

    Args:
        chance: Share of each level among random pairs, `(num_levels,)`.
        agreement: How patterns agree in the column.
        num_apart: Numbers of relatives that do not share it, `(num_patterns,)`.
    """
    by_chance = chance[EQUAL + 1 :]
    found = np.bincount(agreement.levels, num_apart, len(chance))[EQUAL + 1 :]
    share = found.sum() / max(by_chance.sum(), MIN_LEVEL)
    lifts = np.ones(len(chance))
    # If most are near, they are misspelled copies.
    if found[-1] <= MIN_MOSTLY * found.sum():
        return lifts
    counted = found + _PSEUDO_RELATIVES * by_chance
    lifts[EQUAL + 1 :] = counted / np.maximum(by_chance * (share + _PSEUDO_RELATIVES), MIN_LEVEL)
    # Levels are rarer than by chance only where they were taken for matches.
    return np.maximum(lifts, 1)


def _bounded(found: Array, is_different: Flags, max_different: float) -> Array:
    """Returns shares of levels, with at most `max_different` of those that differ."""
    shares = found / found.sum()
    total = shares[is_different].sum()
    if total > max_different:
        shares[is_different] *= max_different / total
        shares[~is_different] *= (1 - max_different) / (1 - total)
    return shares


def _decided(shares: Array) -> Array:
    """Moves shares to 0 or 1: relatives share a column, such as the address, or do not."""
    decided = (shares - _SLACK) / (1 - 2 * _SLACK)
    return np.clip(decided, MIN_SHARED, 1 - MIN_SHARED)


def _log_priors(found: Array, num_all_pairs: float) -> Array:
    """Returns the log shares of the classes among all pairs."""
    # As if there were a few more random pairs: one pair of a table of two rows tells little.
    return log_shares(found / (num_all_pairs + _PSEUDO_PAIRS))
