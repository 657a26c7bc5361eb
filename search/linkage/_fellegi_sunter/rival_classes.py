"""Fits classes of rivals: things that have much in common, but do not match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from tf_charagram.search._pairs.flat_arrays import Array, Flags
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, EQUAL, Agreement
from tf_charagram.search.linkage._fellegi_sunter.fitting import (
    MIN_MOSTLY,
    MIN_SHARED,
    Patterns,
    frequent_sets,
    improve,
)
from tf_charagram.search.linkage._fellegi_sunter.following import MIN_LEVEL
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture

# Classes of rivals within a table, such as other sizes and other colours of a shirt, and of rivals
# that better pairs outdo, such as songs of an album and songs of a singer.
_NUM_INNER = 4
_NUM_OUTDONE = 2
_NUM_STEPS = 30
# Pairs that differ in the same columns are a class if they have so much in common, of the evidence
# that tells one of all pairs.
_MIN_GAIN = 0.5
# Relatives within tables are at least so many of those between them.
_MIN_FOUND = 0.3
# Rivals and matches of two tables are fitted in turn.
_NUM_ROUNDS = 3
# Share of the variants that agree as matches do in each column, before any pair is counted.
_SHARED = 0.9
# Levels of values that agree.
_NEAR = [EQUAL, EQUAL + 1]
# Of the pairs that are no matches, at least so many are taken to be outdone.
_MIN_KNOWN = 0.05


class InnerPairs(NamedTuple):
    """Pairs of rows of the same table.

    Attributes:
        agreements: Agreements of candidates, one per column.
        chance: Share of each level among random pairs, one per column.
        num_pairs: Number of pairs of rows, candidates or not.
        are_seen: Whether they are of all tables: none was left out because it has copies.
        tells: Columns in which copies hardly differ, `(num_columns,)`.
        are_amounts: Columns of amounts, such as prices, which change.
    """

    agreements: list[Agreement]
    chance: list[Array]
    num_pairs: float
    are_seen: bool
    tells: Flags
    are_amounts: Flags


def fit_inner_rivals(
    mixture: Mixture,
    inner: InnerPairs,
    agreements: Sequence[Agreement],
    num_all_pairs: float,
) -> None:
    """Fits rivals to pairs of rows of the same table, and the matches to the pairs of two tables.

    Args:
        mixture: The mixture, which is changed.
        inner: The pairs of the same table, none of which match.
        agreements: Agreements of candidates of two tables.
        num_all_pairs: Number of pairs of rows of two tables, candidates or not.
    """
    patterns = Patterns.of(inner.agreements)
    across = Patterns.of(agreements)
    ratios = add_inner_classes(mixture, patterns, inner.num_pairs)
    fit_classes(mixture, patterns, inner.num_pairs)
    within = mixture.rivals
    is_missing = _are_only_across(mixture, patterns, ratios, inner.num_pairs)
    differ_in_several = (mixture.shared < MIN_MOSTLY).sum(axis=1) > 1
    # A table that was left out may have them.
    mixture.drop_relatives(is_missing & (differ_in_several | (not inner.are_seen)))
    for _ in range(_NUM_ROUNDS):
        improve_across(mixture, within, inner.chance, across, num_all_pairs)


def add_inner_classes(
    mixture: Mixture, patterns: Patterns, num_pairs: float, least: int = 0
) -> Array:
    """Adds a class for each of the most frequent sets of columns in which alike rows differ.

    Args:
        mixture: The mixture, which is changed.
        patterns: Patterns of agreement of pairs of rows of the same table.
        num_pairs: Number of pairs of rows, candidates or not.
        least: Number of columns in which they differ at least.

    Returns:
        The log likelihood ratios of the patterns, `(num_patterns, num_columns)`.
    """
    ratios = mixture.column_evidence(patterns.agreements)
    gains = np.maximum(ratios, 0).sum(axis=1)
    # Missing values have no evidence.
    differs = ratios < 0
    is_good = gains > _MIN_GAIN * np.log(max(num_pairs, 1))
    is_good &= differs.sum(axis=1) >= least
    shared, counts = frequent_sets(differs[is_good], patterns.counts[is_good], _NUM_INNER)
    _add_classes(mixture, shared, (counts + 1) / num_pairs)
    return ratios


def improve_across(
    mixture: Mixture,
    within: Sequence[Array],
    chance_within: Sequence[Array],
    across: Patterns,
    num_all_pairs: float,
) -> None:
    """Fits the matches of two tables beside rivals that were fitted within tables.

    Args:
        mixture: The mixture, which is changed.
        within: For each column, the shares of levels among rivals of the same table.
        chance_within: The shares among random pairs of the same table.
        across: Patterns of agreement of candidates of two tables.
        num_all_pairs: Number of pairs of rows of two tables, candidates or not.
    """
    levels = zip(within, chance_within, mixture.match, mixture.chance, strict=True)
    mixture.rivals = [_across(*of_column) for of_column in levels]
    improve(mixture, across, num_all_pairs)


def _are_only_across(
    mixture: Mixture, patterns: Patterns, ratios: Array, num_pairs: float
) -> Flags:
    """Tells relatives of two tables that are hardly there within tables, `(num_relatives,)`.

    Those that are there are rivals; those that are not, and differ in one column only, match.

    Args:
        mixture: The mixture.
        patterns: Patterns of agreement within tables.
        ratios: Their log likelihood ratios, `(num_patterns, num_columns)`.
        num_pairs: Number of pairs of rows of the same table.
    """
    lifts = mixture.lifts_apart(patterns.agreements)
    classes = mixture.log_classes(ratios, lifts)[:, 1:]
    num_found = patterns.counts @ softmax(classes, axis=1)
    num_expected = np.exp(mixture.log_priors[1:]) * num_pairs
    return (num_found < _MIN_FOUND * num_expected)[:-1]


def _across(within: Array, chance_within: Array, match: Array, chance: Array) -> Array:
    """Returns the shares of levels among rivals of two tables, `(num_rivals, num_levels)`.

    Values that agree by chance are as near as those of random pairs of two tables: each table may
    be of another month. Where the tables write values in two ways, the other values of rivals agree
    no better than those of matches do.

    Args:
        within: The shares among rivals of the same table, `(num_rivals, num_levels)`.
        chance_within: The shares among random pairs of the same table, `(num_levels,)`.
        match: The shares among matches of two tables.
        chance: The shares among random pairs of two tables.
    """
    by_chance = np.minimum(within, chance_within)
    agree = within - by_chance
    as_matches = agree.sum(axis=1, keepdims=True) * match
    is_nearer = agree[:, [EQUAL]] > as_matches[:, [EQUAL]]
    found = by_chance.sum(axis=1, keepdims=True) * chance + np.where(is_nearer, as_matches, agree)
    return np.maximum(found, MIN_LEVEL)


def fit_outdone_rivals(
    mixture: Mixture,
    agreements: Sequence[Agreement],
    is_outdone: Flags,
    log_kept: Array,
    num_all_pairs: float,
    known: float,
    num_inner: int,
) -> None:
    """Fits rivals to pairs that better pairs outdo, and the matches to the other ones.

    Args:
        mixture: The mixture, which is changed.
        agreements: Agreements of candidates, one per column.
        is_outdone: Whether a row of each pair has a better partner, `(num_pairs,)`.
        log_kept: Logarithm of the probability that a pair like it is not outdone, `(num_pairs,)`.
        num_all_pairs: Number of pairs of rows, candidates or not.
        known: Share of the pairs that are no matches that are outdone.
        num_inner: Number of classes of rivals that stay as they are.
    """
    patterns = Patterns.of([agreement.of(is_outdone) for agreement in agreements])
    if len(mixture.log_rivals) == num_inner:
        # Classes that start alike would stay alike.
        shared = np.random.default_rng(0).uniform(0.3, 0.7, (_NUM_OUTDONE, 1))
        share = patterns.counts.sum() / (4 * _NUM_OUTDONE * num_all_pairs)
        _add_classes(mixture, shared, np.full(_NUM_OUTDONE, share))
    fit_classes(mixture, patterns, max(known, _MIN_KNOWN) * num_all_pairs, num_inner)
    others = Patterns.of([agreement.of(~is_outdone) for agreement in agreements])
    improve(mixture, others, num_all_pairs, log_kept[~is_outdone][others.first])


def fit_variants(
    mixture: Mixture, patterns: Patterns, levels: list[Flags], num_all_pairs: float
) -> list[Array]:
    """Fits two classes of variants for each column that tells them, apart from the matches.

    Variants that are written alike, or have another title and cast as sequels do, are of the second
    class. Copies of variants are of the first one, and misspelled as copies are: without it, they
    would be taken for copies whose date is misspelled, too.

    Args:
        mixture: A mixture that takes variants of one table for matches, which is changed.
        patterns: Patterns of agreement of candidates.
        levels: For each column, the levels at which variants differ, `(num_levels,)`.
        num_all_pairs: Number of pairs of rows, candidates or not.

    Returns:
        For each column, the shares of levels of the variants that each variant column tells,
        `(num_variant_columns, num_levels)`.
    """
    mixture.variant_levels = levels
    columns = mixture.variant_columns
    num_columns = len(columns)
    num_classes = 2 * num_columns
    share = np.exp(mixture.log_priors[0]) / num_classes
    _add_classes(mixture, np.full((num_classes, 1), _SHARED), np.full(num_classes, share))
    mixture.rivals = _possible_variants(mixture)
    counted: list[Array] = []

    def count(posteriors: Array) -> None:
        _count_rivals(mixture, patterns, posteriors, num_all_pairs, 0)
        counted[:] = [_of_both_classes(mixture, shares) for shares in mixture.rivals]
        mixture.rivals = _possible_variants(mixture)

    # The matches first: classes of variants that start from a guess would take copies.
    improve(mixture, patterns, num_all_pairs)
    improve(mixture, patterns, num_all_pairs, count_rivals=count)
    return counted


def _possible_variants(mixture: Mixture) -> list[Array]:
    """Returns the shares of levels that variants may have, from those that were counted."""
    columns = mixture.variant_columns
    num_columns = len(columns)
    found = []
    for column, shares in enumerate(mixture.rivals):
        if column in columns:
            # The dates of variants, and of their copies, are equally far apart.
            possible = np.tile(_of_both_classes(mixture, shares), (2, 1))
            # Copies are equal, or differ as copies do, so variants do not.
            number = columns.index(column)
            possible[number::num_columns, ~mixture.variant_levels[column]] = MIN_LEVEL
        else:
            possible = shares.copy()
            levels = mixture.match[column], mixture.chance[column]
            possible[:num_columns] = _misspelled_as_copies(shares[:num_columns], *levels)
        found.append(possible)
    return found


def _of_both_classes(mixture: Mixture, shares: Array) -> Array:
    """Joins the shares of levels of variants and of their copies, `(num_columns, num_levels)`."""
    by_class = mixture.log_rivals.reshape(2, -1, 1)
    weights = softmax(by_class, axis=0)
    return (weights * shares.reshape(2, by_class.shape[1], -1)).sum(axis=0)


def _misspelled_as_copies(levels: Array, match: Array, chance: Array) -> Array:
    """Returns the shares of levels of variants that agree as copies do, or by chance.

    Args:
        levels: The shares that were counted, `(num_variants, num_levels)`.
        match: The shares among matches, `(num_levels,)`.
        chance: The shares among random pairs.
    """
    apart = (levels[:, -1:] - match[-1]) / max(chance[-1] - match[-1], MIN_LEVEL)
    apart = np.clip(apart, 0, 1)
    return np.maximum((1 - apart) * match + apart * chance, MIN_LEVEL)


def _add_classes(mixture: Mixture, shared: Array, shares: Array) -> None:
    """Adds classes of rivals for the next fit to improve.

    Args:
        mixture: The mixture, which is changed.
        shared: Share of the rivals that agree as matches do, `(num_added, num_columns or 1)`.
        shares: Share of each class among all pairs of rows, `(num_added,)`.
    """
    before = mixture.rivals or [np.zeros((0, len(match))) for match in mixture.match]
    agree = np.broadcast_to(shared, (len(shared), len(before)))
    mixture.rivals = []
    for column, (match, chance) in enumerate(zip(mixture.match, mixture.chance, strict=True)):
        part = agree[:, [column]]
        added = part * match + (1 - part) * chance
        mixture.rivals.append(np.concatenate([before[column], added]))
    mixture.log_rivals = np.append(mixture.log_rivals, np.log(shares))


def fit_classes(
    mixture: Mixture,
    patterns: Patterns,
    num_pairs: float,
    first: int = 0,
    log_copies: float = -np.inf,
    apart: Sequence[int] = (),
) -> float:
    """Fits classes of rivals to pairs that do not match, and counts copies among them.

    Args:
        mixture: The mixture, which is changed.
        patterns: Their patterns of agreement.
        num_pairs: Number of pairs of rows, candidates or not, that these pairs were found among.
        first: The first class that is fitted; those before it stay as they are.
        log_copies: Logarithm of the share of copies, which agree as matches do, among all pairs.
        apart: The column that tells each class of rivals from copies, or empty.

    Returns:
        The logarithm of the share of copies.
    """
    ratios = mixture.column_evidence(patterns.agreements)
    for _ in range(_NUM_STEPS):
        for number, column in enumerate(apart):
            # Copies are equal or nearly so, so rivals are only by chance.
            near = mixture.rivals[column][number, _NEAR]
            by_chance = np.maximum(mixture.chance[column][_NEAR], MIN_LEVEL)
            mixture.rivals[column][number, _NEAR] = np.minimum(near, by_chance)
        classes = mixture.log_rival_classes(ratios, patterns.agreements)
        # The last classes are copies and random pairs.
        others = [ratios.sum(axis=1) + log_copies, np.zeros(len(classes))]
        posteriors = softmax(np.column_stack([classes, *others]), axis=1)
        _count_rivals(mixture, patterns, posteriors[:, first:-2], num_pairs, first)
        if log_copies > -np.inf:
            num_copies = patterns.counts @ posteriors[:, -2]
            log_copies = np.log((num_copies + 1) / num_pairs)
    return log_copies


def agreement_ratios(mixture: Mixture) -> Array:
    """Returns the ratio of agreement of rivals and matches, `(num_rivals, num_columns)`."""
    found = []
    for rivals, match in zip(mixture.rivals, mixture.match, strict=True):
        found.append(rivals[:, _NEAR].sum(axis=1) / match[_NEAR].sum())
    return np.stack(found, axis=1)


def _count_rivals(
    mixture: Mixture, patterns: Patterns, posteriors: Array, num_pairs: float, first: int
) -> None:
    """Counts the levels and pairs of classes of rivals.

    Args:
        mixture: The mixture, which is changed.
        patterns: Patterns of agreement.
        posteriors: Probability of each class, `(num_patterns, num_rivals)`.
        num_pairs: Number of pairs of rows, candidates or not, that these pairs were found among.
        first: The first class.
    """
    weights = patterns.counts[:, np.newaxis] * posteriors
    for column, agreement in enumerate(patterns.agreements):
        num_levels = len(mixture.match[column])
        counts = [np.bincount(agreement.levels, own, num_levels) for own in weights.T]
        # There may be no class.
        found = np.array(counts, np.float64).reshape(-1, num_levels)
        found[:, ABSENT] = 0
        # As if there were two more pairs.
        found += mixture.match[column] + np.maximum(mixture.chance[column], MIN_SHARED)
        mixture.rivals[column][first:] = found / found.sum(axis=1, keepdims=True)
    num_found = weights.sum(axis=0) + 1
    kept = mixture.log_rivals[:first]
    mixture.log_rivals = np.append(kept, np.log(num_found / num_pairs))
