"""The model of Fellegi and Sunter, fitted to pairs without labels.

Fellegi and Sunter, *A Theory for Record Linkage* (1969); expectation-maximization after Winkler,
*Using the EM Algorithm for Weight Computation in the Fellegi-Sunter Model of Record Linkage*
(1988); frequent values after Winkler, *Frequency-Based Matching in Fellegi-Sunter Model of Record
Linkage* (2000).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp

from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, EQUAL, Agreement

Array = NDArray[np.float64]
_NUM_STEPS = 100
# Classes of relatives that turn out to be matches are dropped, and the rest is fitted again.
_NUM_ROUNDS = 3
# Log-odds change less than this: the fit has converged.
_TOLERANCE = 1e-4
# Classes of pairs: matches, relatives (which agree in some columns as matches do, and in the others
# by chance), and random pairs.
_NUM_RELATIVES = 2
# With fewer columns, relatives look like matches or like random pairs.
_MIN_COLUMNS = 3
# Pairs of matches that the levels start from: equal in 80 %, near in 12 %, different in 8 %.
_PSEUDO_MATCHES = 20.0
_PRIOR_EQUAL = 0.8
_PRIOR_DIFFERENT = 0.08
# A column that identifies may differ in so many matches at most: if it differs more often, these
# pairs are relatives. People move and prices change.
# Where few values are misspelled, few are wrong altogether.
_MAX_DIFFERENT = 0.2
_MIN_DIFFERENT = 0.02
_DIFFERENT_PER_NEAR = 0.75
_MAX_CHANGED = 0.95
_PSEUDO_PAIRS = 2.5
# So much of the sharing of relatives is noise.
_SLACK = 0.1
_MIN_SHARED = 0.003
# From this share on, relatives share a column.
_MIN_MOSTLY = 0.5
# Relatives are matches if so few of them, of at least so many, have a better partner.
_MIN_OUTDONE = 0.3
_MIN_RELATIVES = 5
# Classes of rivals, such as songs of an album and songs of a singer, and steps to fit them.
_NUM_RIVALS = 2
_NUM_RIVAL_STEPS = 30
_LOG_NEVER = -20.0
# Equal values fall into bins of their log frequency, so that few patterns are fitted.
_BIN = 0.25
# Equal texts may be different things.
_MAX_TEXT = 0.98
# Fitted to the same labelled pairs as the weights of texts.
_RIVAL_WEIGHT = 0.6
#: Rivals change nothing about less probable pairs.
MIN_WITH_RIVALS = 1 - _MAX_TEXT
# Log-odds of a pair that is the best one of both of its rows, for each unit of the log-odds that a
# row has a partner; and their limit. Chosen on products, firms and papers.
_MUTUAL = 1.5
_MAX_MUTUAL = 3.0


class _Patterns(NamedTuple):
    """Distinct patterns of agreement.

    Attributes:
        levels: Levels, int8 `(num_patterns, num_columns)`.
        log_frequencies: Log frequencies of equal values, of the same shape.
        counts: Number of pairs with each pattern, `(num_patterns,)`.
    """

    levels: NDArray[np.int8]
    log_frequencies: Array
    counts: Array


@dataclass
class Mixture:
    """A mixture of matches, relatives and random pairs.

    Attributes:
        match: For each column, the share of each level among matches, `(num_levels,)`.
        chance: The same among random pairs.
        is_identifying: Whether matches rarely differ in each column, `(num_columns,)`.
        shared: For each class of relatives and column, the share of relatives that agree as matches
            do, `(num_relatives, num_columns)`.
        log_priors: Logarithm of the share of each class among all pairs of rows: matches,
            relatives, random pairs.
        different: Share of pairs that differ among those that look like matches, `(num_columns,)`.
        is_allowed: Columns so different that relatives may differ in that column alone.
        is_fitted: Whether the shares of the levels are those of pairs.
        rivals: For each column, the shares of the levels among each class of rivals,
            `(num_rivals, num_levels)`; empty without rivals.
        log_rivals: Logarithm of the share of each class of rivals among all pairs of rows.
        row_share: Number of rows of the smaller table over the number of all pairs of rows.
    """

    match: list[Array]
    chance: list[Array]
    is_identifying: NDArray[np.bool_]
    shared: Array
    log_priors: Array
    different: Array
    is_allowed: NDArray[np.bool_]
    is_fitted: bool = False
    row_share: float = 1.0
    rivals: list[Array] = field(default_factory=list)
    log_rivals: Array = field(default_factory=lambda: np.zeros(0))

    def for_tables(self, row_share: float) -> Mixture:
        """Returns the same weights for tables of another size: as many matches per row.

        Args:
            row_share: Number of rows of the smaller table over the number of all pairs of rows.
        """
        shares = np.exp(self.log_priors[:-1]) * row_share / self.row_share
        # In tiny tables, expected matches may be most of the pairs.
        shares *= min(1, 0.9 / shares.sum())
        log_priors = np.log(np.append(shares, 1 - shares.sum()))
        log_rivals = self.log_rivals + np.log(row_share / self.row_share)
        return replace(self, log_priors=log_priors, log_rivals=log_rivals, row_share=row_share)

    @property
    def max_different(self) -> float:
        """Largest share of matches that differ in a column that identifies."""
        if not self.is_fitted:
            return _MAX_DIFFERENT
        near = np.mean([shares[EQUAL + 1 : -1].sum() for shares in self.match])
        return float(np.clip(_DIFFERENT_PER_NEAR * near, _MIN_DIFFERENT, _MAX_DIFFERENT))

    @classmethod
    def before_pairs(cls, chance: Sequence[Array], is_identifying: Sequence[bool]) -> Mixture:
        """Makes the mixture before any pair is seen.

        Args:
            chance: Share of each level among random pairs, one per column.
            is_identifying: Whether matches rarely differ in a column.
        """
        num_columns = len(chance)
        return cls(
            [_prior(len(shares)) for shares in chance],
            list(chance),
            np.array(is_identifying, bool),
            np.zeros((0, num_columns)),
            np.zeros(2),
            np.zeros(num_columns),
            np.zeros(num_columns, bool),
        )

    def ratios(
        self,
        levels: Iterable[NDArray[np.int8]],
        log_frequencies: Iterable[NDArray[np.floating]],
    ) -> Array:
        """Returns the log likelihood ratios of match and chance, `(num_pairs, num_columns)`.

        Args:
            levels: For each column, the levels of the pairs.
            log_frequencies: For each column, the log frequencies of the values of the pairs.
        """
        columns = zip(self.match, self.chance, levels, log_frequencies, strict=True)
        return np.stack([_log_ratios(*column) for column in columns], axis=1)

    def column_evidence(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log likelihood ratios of pairs, `(num_pairs, num_columns)`."""
        return self.ratios(
            [agreement.levels for agreement in agreements],
            [agreement.log_frequencies for agreement in agreements],
        )

    def add_relatives(self, shares: Array) -> None:
        """Adds a class of relatives, as frequent as matches, for the next fit to improve."""
        self.shared = np.append(self.shared, shares[np.newaxis], axis=0)
        self.log_priors = np.insert(self.log_priors, -1, self.log_priors[0])

    def drop_relatives(self, is_kept: NDArray[np.bool_]) -> None:
        """Drops classes of relatives; their pairs are matches until the next fit."""
        self.shared = self.shared[is_kept]
        log_matches = logsumexp(self.log_priors[:-1][np.append(True, ~is_kept)])
        log_relatives = self.log_priors[1:-1][is_kept]
        self.log_priors = np.array([log_matches, *log_relatives, self.log_priors[-1]])

    def log_classes(self, ratios: Array) -> Array:
        """Returns the log likelihoods of the classes, with priors, `(num_pairs, num_classes)`.

        They are relative to the likelihood of a random pair.

        Args:
            ratios: The result of `column_evidence`.
        """
        classes = [ratios.sum(axis=1)]
        for shares in self.shared:
            classes.append(_shared_evidence(ratios, shares).sum(axis=1))
        classes.append(np.zeros(len(ratios)))
        return np.stack(classes, axis=1) + self.log_priors

    def log_odds(self, agreements: Sequence[Agreement], *, any_relation: bool = False) -> Array:
        """Returns the log-odds of matches, `(num_pairs,)`.

        Args:
            agreements: Agreements of the pairs, one per column.
            any_relation: Whether relatives count as matches.
        """
        ratios = self.column_evidence(agreements)
        classes = self.log_classes(ratios)
        levels = [agreement.levels for agreement in agreements]
        num_good = classes.shape[1] - 1 if any_relation else 1
        others = [classes[:, num_good:], self.log_rival_classes(ratios, levels)]
        log_others = logsumexp(np.concatenate(others, axis=1), axis=1)
        return logsumexp(classes[:, :num_good], axis=1) - log_others

    def log_rival_classes(self, ratios: Array, levels: Iterable[NDArray[np.int8]]) -> Array:
        """Returns the log likelihoods of the classes of rivals, `(num_pairs, num_rivals)`.

        They are relative to the likelihood of a random pair, with priors.
        """
        classes = np.tile(self.log_rivals, (len(ratios), 1))
        if len(self.log_rivals):
            levels = list(levels)
            # Rivals differ in something; classes tell that of each column alone.
            is_equal = np.all([of_column == EQUAL for of_column in levels], axis=0)
            classes[is_equal] += _LOG_NEVER
            classes += ratios.sum(axis=1, keepdims=True)
            for match, rivals, of_column in zip(self.match, self.rivals, levels, strict=True):
                # Equal values count by their frequency, as among matches.
                changes = np.zeros(rivals.shape)
                changes[:, EQUAL:] = np.log(rivals[:, EQUAL:] / match[EQUAL:])
                classes += changes.T[of_column]
        return classes


class TextOdds:
    """The model of a single column of texts, whose similarities are probabilities.

    A single column tells too little about matches to fit a model.
    """

    log_priors = np.zeros(2)

    def column_evidence(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log-odds of pairs, `(num_pairs, 1)`."""
        [agreement] = agreements
        probabilities = np.clip(agreement.similarities, 1 - _MAX_TEXT, _MAX_TEXT)
        return logit(probabilities.astype(np.float64))[:, np.newaxis]

    def log_odds(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log-odds of matches, `(num_pairs,)`."""
        return self.column_evidence(agreements)[:, 0]


def mutual_evidence(
    pairs: NDArray[np.int64], probabilities: Array, present: Sequence[NDArray[np.int64]]
) -> float:
    """Returns the evidence for pairs that are the best ones of both of their rows.

    Where most rows of one of two tables have a partner, the best one is likely to be it.

    Args:
        pairs: Rows, or texts, of both tables, `(num_pairs, 2)`.
        probabilities: Probabilities that they match, `(num_pairs,)`.
        present: All rows, or texts, of each table, also those without a pair.
    """
    shares = []
    for rows, known in zip(pairs.T, present, strict=True):
        best = np.zeros(known.max(initial=-1) + 1)
        np.maximum.at(best, rows, probabilities)
        shares.append(best[known].mean() if len(known) else 0.0)
    share = np.clip(max(shares), 0.5, 0.9)
    return min(_MUTUAL * float(logit(share)), _MAX_MUTUAL)


def rival_evidence(log_odds: Array, rivals: NDArray[np.floating], mutual: float) -> Array:
    """Returns the evidence of pairs whose rows have no other good partner, `(num_pairs,)`.

    Rivals are no evidence against a pair: they may be duplicates.

    Args:
        log_odds: Log-odds of pairs by `TextOdds`.
        rivals: Probabilities of the best other partners of both rows, `(num_pairs, 2)`.
        mutual: The result of `mutual_evidence`.
    """
    best = np.clip(rivals.max(axis=1), 1 - _MAX_TEXT, _MAX_TEXT)
    gains = np.maximum(log_odds - logit(best), 0)
    return _RIVAL_WEIGHT * gains + mutual * (gains > 0)


def _log_ratios(
    match: Array, chance: Array, levels: NDArray[np.int8], log_frequencies: NDArray[np.floating]
) -> Array:
    """Returns the log likelihood ratios of levels; equal values by their frequency."""
    log_match = np.log(match, where=match > 0, out=np.zeros_like(match))
    log_chance = np.log(chance, where=chance > 0, out=np.zeros_like(chance))
    # Random pairs agree in a value as often as rows have it; matches have it as often as all rows.
    log_chance[EQUAL] = 0
    ratios = (log_match - log_chance)[levels] - log_frequencies
    ratios[levels == ABSENT] = 0
    return ratios


def _shared_evidence(ratios: Array, shares: Array) -> Array:
    """Returns the log likelihood ratio of relatives and chance in each column."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log(shares) + ratios, np.log1p(-shares))


def fit_mixture(
    mixture: Mixture,
    agreements: Sequence[Agreement],
    num_all_pairs: float,
    num_expected: float,
) -> Mixture:
    """Fits the model by expectation-maximization.

    Pairs that are no candidates count as random. The agreement by chance is known, so it is not
    fitted.

    Args:
        mixture: The mixture to start from, which is changed.
        agreements: Agreements of candidates, one per column.
        num_all_pairs: Number of pairs of rows, candidates or not.
        num_expected: Number of matches to start from.
    """
    patterns = _patterns(agreements)
    mixture.shared = _likely_relatives(mixture, patterns, num_all_pairs)
    expected = np.full(len(mixture.shared) + 1, num_expected)
    mixture.log_priors = _log_priors(expected, num_all_pairs)
    _improve(mixture, patterns, num_all_pairs)
    mixture.is_fitted = True
    for _ in range(_NUM_ROUNDS):
        if not _change_relatives(mixture):
            break
        _improve(mixture, patterns, num_all_pairs)
    return mixture


def drop_supported(
    mixture: Mixture,
    agreements: Sequence[Agreement],
    is_outdone: NDArray[np.bool_],
    is_weak: NDArray[np.bool_],
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
    classes = mixture.log_classes(mixture.column_evidence(agreements))
    posteriors = np.exp(classes - logsumexp(classes, axis=1, keepdims=True))[:, 1:-1]
    totals = posteriors.sum(axis=0)
    shares = posteriors[is_outdone].sum(axis=0) / np.maximum(totals, 1e-9)
    is_dropped = (shares < _MIN_OUTDONE) & (totals > _MIN_RELATIVES)
    is_dropped &= ((mixture.shared > _MIN_MOSTLY) | is_weak).all(axis=1)
    if is_dropped.any():
        mixture.drop_relatives(~is_dropped)
        _improve(mixture, _patterns(agreements), num_all_pairs)
    return bool(is_dropped.any())


def fit_rivals(
    mixture: Mixture,
    agreements: Sequence[Agreement],
    is_outdone: NDArray[np.bool_],
    num_all_pairs: float,
    known: float,
) -> None:
    """Fits the rivals to pairs that better pairs outdo, and the matches to the other ones.

    Args:
        mixture: The mixture, which is changed.
        agreements: Agreements of candidates, one per column.
        is_outdone: Whether a row of each pair has a better partner, `(num_pairs,)`.
        num_all_pairs: Number of pairs of rows, candidates or not.
        known: Share of the pairs that are no matches that are outdone.
    """
    levels, log_frequencies, counts = _patterns(agreements, is_outdone)
    if not len(mixture.log_rivals):
        # Classes that start alike would stay alike.
        parts = np.random.default_rng(0).uniform(0.3, 0.7, (_NUM_RIVALS, 1))
        for match, by_chance in zip(mixture.match, mixture.chance, strict=True):
            mixture.rivals.append(parts * match + (1 - parts) * by_chance)
        share = counts.sum() / num_all_pairs
        mixture.log_rivals = np.log(np.full(_NUM_RIVALS, share / (4 * _NUM_RIVALS)))
    for _ in range(_NUM_RIVAL_STEPS):
        ratios = mixture.ratios(levels.T, log_frequencies.T)
        classes = mixture.log_rival_classes(ratios, levels.T)
        # No match is among these pairs.
        log_all = logsumexp(np.append(classes, np.zeros((len(classes), 1)), axis=1), axis=1)
        weights = counts[:, np.newaxis] * np.exp(classes - log_all[:, np.newaxis])
        for column, rivals in enumerate(mixture.rivals):
            found = np.zeros(rivals.shape)
            np.add.at(found.T, levels[:, column], weights)
            found[:, ABSENT] = 0
            # As if there were two more pairs.
            found += mixture.match[column] + np.maximum(mixture.chance[column], _MIN_SHARED)
            mixture.rivals[column] = found / found.sum(axis=1, keepdims=True)
        mixture.log_rivals = np.log((weights.sum(axis=0) + 1) / (known * num_all_pairs))
    _improve(mixture, _patterns(agreements, ~is_outdone), num_all_pairs)


def _change_relatives(mixture: Mixture) -> bool:
    """Drops classes that have taken a part of the matches, and adds those that are missing."""
    is_shared = mixture.shared > _MIN_MOSTLY
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
        shares = np.where(np.arange(len(added)) == column, _MIN_SHARED, 1 - _MIN_SHARED)
        mixture.add_relatives(shares)
    return True


def _is_namesake(mixture: Mixture, is_apart: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tells classes whose pairs agree by accident: all that may change is different, `(...)`.

    Args:
        mixture: The mixture.
        is_apart: Columns that differ, `(..., num_columns)`.
    """
    if (~mixture.is_identifying).sum() < _MIN_COLUMNS:
        return np.zeros(is_apart.shape[:-1], bool)
    return (is_apart != mixture.is_identifying).all(axis=-1)


def _likely_relatives(mixture: Mixture, patterns: _Patterns, num_all_pairs: float) -> Array:
    """Returns the shared columns to start from, `(num_relatives, num_columns)`.

    They are the most frequent sets of columns that differ in pairs that agree too well for chance.
    """
    num_columns = len(mixture.chance)
    if num_columns < _MIN_COLUMNS:
        return np.zeros((0, num_columns))
    ratios = mixture.ratios(patterns.levels.T, patterns.log_frequencies.T)
    is_good = np.maximum(ratios, 0).sum(axis=1) > np.log(max(num_all_pairs, 1))
    differs = (ratios < 0) & (patterns.levels != ABSENT)
    is_candidate = (differs & mixture.is_identifying).any(axis=1) | _is_namesake(mixture, differs)
    is_candidate &= is_good
    # Pairs that differ in one column only may well be matches.
    is_candidate &= differs.sum(axis=1) > 1
    sets, places = np.unique(differs[is_candidate], axis=0, return_inverse=True)
    counts = np.bincount(places.ravel(), patterns.counts[is_candidate], len(sets))
    most = np.argsort(-counts, kind="stable")[:_NUM_RELATIVES]
    return np.where(sets[most], 0.1, 0.9)


def _improve(mixture: Mixture, patterns: _Patterns, num_all_pairs: float) -> None:
    """Changes a mixture by steps of expectation and maximization until it stays the same."""
    levels, log_frequencies, counts = patterns
    before = np.zeros(len(counts))
    for _ in range(_NUM_STEPS):
        ratios = mixture.ratios(levels.T, log_frequencies.T)
        classes = mixture.log_classes(ratios)
        rivals = mixture.log_rival_classes(ratios, levels.T)
        log_all = logsumexp(np.append(classes, rivals, axis=1), axis=1, keepdims=True)
        posteriors = np.exp(classes - log_all)
        weights = counts[:, np.newaxis] * posteriors
        for column, by_chance in enumerate(mixture.chance):
            found: Array = np.zeros(len(by_chance))
            np.add.at(found, levels[:, column], weights[:, 0])
            found[ABSENT] = 0
            most = mixture.max_different if mixture.is_identifying[column] else _MAX_CHANGED
            found += _PSEUDO_MATCHES * _prior(len(by_chance))
            mixture.different[column] = found[-1] / found.sum()
            mixture.match[column] = _bounded(found, most)
        is_present = levels != ABSENT
        # The relatives are among the pairs that rivals are fitted to.
        relatives = mixture.shared[: 0 if len(mixture.log_rivals) else None]
        for number, shares in enumerate(relatives):
            of_class = weights[:, number + 1]
            agree = np.exp(np.log(shares) + ratios - _shared_evidence(ratios, shares))
            num_shared = of_class @ (agree * is_present)
            mixture.shared[number] = _decided((num_shared + 1) / (of_class @ is_present + 2))
        # As if there were one more pair of each class.
        num_found = weights[:, :-1].sum(axis=0) + 1
        if len(mixture.log_rivals):
            num_found[1:] = np.exp(mixture.log_priors[1:-1]) * num_all_pairs
        mixture.log_priors = _log_priors(num_found, num_all_pairs)
        if np.abs(posteriors[:, 0] - before).max(initial=0) < _TOLERANCE:
            break
        before = posteriors[:, 0]


def _patterns(
    agreements: Sequence[Agreement], chosen: NDArray[np.bool_] | slice = slice(None)
) -> _Patterns:
    """Returns the distinct patterns of agreement of chosen pairs."""
    levels = np.stack([agreement.levels[chosen] for agreement in agreements], axis=1)
    frequencies = np.stack([agreement.log_frequencies[chosen] for agreement in agreements], axis=1)
    bins = np.round(frequencies / _BIN).astype(np.int16)
    rows = np.concatenate([levels.astype(np.int16), bins], axis=1)
    # Compared as bytes: much faster than `unique` by rows.
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * 2))).ravel()
    _, first, counts = np.unique(packed, return_index=True, return_counts=True)
    return _Patterns(
        levels[first], (bins[first] * _BIN).astype(np.float64), counts.astype(np.float64)
    )


def _prior(num_levels: int) -> Array:
    """Returns the shares of the levels among matches before any pair is seen."""
    shares = np.zeros(num_levels)
    shares[EQUAL] = _PRIOR_EQUAL
    num_near = num_levels - 3
    # The nearest level is the most frequent one.
    near = 0.5 ** np.arange(num_near)
    shares[EQUAL + 1 : -1] = near / near.sum() * (1 - _PRIOR_EQUAL - _PRIOR_DIFFERENT)
    shares[-1] = _PRIOR_DIFFERENT
    return shares


def _bounded(found: Array, max_different: float) -> Array:
    """Returns shares of levels, with at most `max_different` of the last."""
    shares = found / found.sum()
    if shares[-1] > max_different:
        shares[:-1] *= (1 - max_different) / shares[:-1].sum()
        shares[-1] = max_different
    return shares


def _decided(shares: Array) -> Array:
    """Moves shares to 0 or 1: relatives share a column, such as the address, or do not."""
    return np.clip((shares - _SLACK) / (1 - 2 * _SLACK), _MIN_SHARED, 1 - _MIN_SHARED)


def _log_priors(found: Array, num_all_pairs: float) -> Array:
    """Returns the log shares of the classes among all pairs."""
    # As if there were a few more random pairs: one pair of a table of two rows tells little.
    shares = found / (num_all_pairs + _PSEUDO_PAIRS)
    # In tiny tables, expected matches may be most of the pairs.
    shares *= min(1, 0.9 / shares.sum())
    return np.log(np.append(shares, 1 - shares.sum()))
