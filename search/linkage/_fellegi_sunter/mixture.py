"""The model of Fellegi and Sunter, fitted to pairs without labels.

Fellegi and Sunter, *A Theory for Record Linkage* (1969); expectation-maximization after Winkler,
*Using the EM Algorithm for Weight Computation in the Fellegi-Sunter Model of Record Linkage*
(1988); frequent values after Winkler, *Frequency-Based Matching in Fellegi-Sunter Model of Record
Linkage* (2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, logsumexp

from tf_charagram.search._pairs.flat_arrays import Array, Flags, Ids
from tf_charagram.search.linkage._fellegi_sunter import changing
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, EQUAL, Agreement
from tf_charagram.search.linkage._fellegi_sunter.following import are_of_siblings, log_explained

# Shares of levels among matches before any pair is seen; the others are near.
_PRIOR_EQUAL = 0.8
_PRIOR_DIFFERENT = 0.08
# A column that identifies may differ in so many matches at most: if it differs more often, these
# pairs are relatives. People move and prices change.
# Where few values are misspelled, few are wrong altogether.
_MAX_DIFFERENT = 0.2
_MIN_DIFFERENT = 0.02
_DIFFERENT_PER_NEAR = 0.75
# A level that so many random pairs have is a difference, however near the values are: years of
# wines are one digit apart by chance.
_MIN_BY_CHANCE = 0.5
_LOG_NEVER = -20.0
# At least so many of the matches differ in nothing, however many values of each column are
# misspelled: rows are copied as they are, too.
_MIN_EXACT = 0.2


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
        variant_levels: For each column, the levels at which things of one table differ that are
            alike in all else, `(num_levels,)`; empty if no column tells them apart.
        parents: Number of the column that each column follows from, -1 if from none; empty if from
            none at all.
        changes: How much the log likelihood of matches rises for each set of columns that change,
            as `changed` numbers them, and 0, `(num_sets + 1,)`.
        given: For each column, the share of each level among random pairs, for each level of the
            column that it follows from, `(num_levels_there, num_levels)`.
        both: For each column, how many pairs that do not match have equal values in it and in the
            column that it follows from, for each pair that frequencies lead to expect; 0 if that is
            not known.
        apart: For each column, how much more frequent each level is among relatives that do not
            share it than among random pairs, `(num_levels,)`: people of a family have the surname
            in common. Empty before relatives are counted.
    """

    match: list[Array]
    chance: list[Array]
    is_identifying: Flags
    shared: Array
    log_priors: Array
    different: Array
    is_allowed: Flags
    is_fitted: bool = False
    row_share: float = 1.0
    rivals: list[Array] = field(default_factory=list)
    log_rivals: Array = field(default_factory=lambda: np.zeros(0))
    variant_levels: list[Flags] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    given: list[Array] = field(default_factory=list)
    changes: Array = field(default_factory=lambda: np.zeros(1))
    both: list[float] = field(default_factory=list)
    apart: list[Array] = field(default_factory=list)

    def for_tables(self, row_share: float) -> Mixture:
        """Returns the same weights for tables of another size: as many matches per row.

        Args:
            row_share: Number of rows of the smaller table over the number of all pairs of rows.
        """
        shares = np.exp(self.log_priors[:-1]) * row_share / self.row_share
        log_priors = log_shares(shares)
        log_rivals = self.log_rivals + np.log(row_share / self.row_share)
        return replace(self, log_priors=log_priors, log_rivals=log_rivals, row_share=row_share)

    def num_matches(self, num_all_pairs: float) -> float:
        """Returns the expected number of matches among so many pairs of rows."""
        return float(np.exp(self.log_priors[0]) * num_all_pairs)

    def are_differences(self, column: int) -> Flags:
        """Tells the levels of a column at which values differ, `(num_levels,)`."""
        are_differences = self.chance[column] > _MIN_BY_CHANCE
        if self.variant_levels:
            are_differences |= self.variant_levels[column]
        if self.parents and self.parents[column] >= 0:
            are_differences |= are_of_siblings(self.given[column][EQUAL])
        are_differences[: EQUAL + 1] = False
        are_differences[-1] = True
        return are_differences

    @property
    def variant_columns(self) -> list[int]:
        """Numbers of the columns in which things differ that are alike in all else."""
        return [number for number, levels in enumerate(self.variant_levels) if levels.any()]

    @property
    def is_steady(self) -> Flags:
        """Columns in which matches mostly agree, `(num_columns,)`."""
        is_steady = self.is_identifying.copy()
        is_steady[self.variant_columns] = True
        return is_steady

    @property
    def max_different(self) -> float:
        """Largest share of matches that differ in a column that identifies."""
        if not self.is_fitted:
            return _MAX_DIFFERENT
        near = [shares[EQUAL + 1 : -1].sum() for shares in self.match]
        different = _DIFFERENT_PER_NEAR * np.mean(near)
        return float(np.clip(different, _MIN_DIFFERENT, _MAX_DIFFERENT))

    @classmethod
    def before_pairs(cls, chance: Sequence[Array], is_identifying: Sequence[bool]) -> Mixture:
        """Makes the mixture before any pair is seen.

        Args:
            chance: Share of each level among random pairs, one per column.
            is_identifying: Whether matches rarely differ in a column.
        """
        num_columns = len(chance)
        num_changing = num_columns - sum(is_identifying)
        return cls(
            [prior_shares(len(shares)) for shares in chance],
            list(chance),
            np.array(is_identifying, bool),
            np.zeros((0, num_columns)),
            np.zeros(2),
            np.zeros(num_columns),
            np.zeros(num_columns, bool),
            changes=changing.before_pairs(num_changing, _PRIOR_DIFFERENT),
        )

    def column_evidence(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log likelihood ratios of match and chance, `(num_pairs, num_columns)`."""
        return self.log_matches(agreements) - self.log_chances(agreements)

    def log_matches(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log likelihoods among matches, `(num_pairs, num_columns)`."""
        columns = zip(self.match, agreements, strict=True)
        return np.stack([log_levels(*column) for column in columns]).T

    def log_chances(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log likelihoods among random pairs, `(num_pairs, num_columns)`.

        They stay the same while matches are fitted.
        """
        columns = zip(self.chance, agreements, strict=True)
        found = [log_by_chance(*column) for column in columns]
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                found[number] += log_explained(
                    self.chance[number],
                    self.given[number],
                    self.both[number],
                    agreements[number],
                    agreements[parent],
                )
        return np.stack(found).T

    def add_relatives(self, shares: Array) -> None:
        """Adds a class of relatives, as frequent as matches, for the next fit to improve."""
        self.shared = np.append(self.shared, shares[np.newaxis], axis=0)
        self.log_priors = np.insert(self.log_priors, -1, self.log_priors[0])

    def drop_relatives(self, is_kept: Flags) -> None:
        """Drops classes of relatives; their pairs are matches until the next fit."""
        self.shared = self.shared[is_kept]
        log_match, *log_relatives, log_random = self.log_priors
        relatives = np.array(log_relatives)
        log_matches = logsumexp([log_match, *relatives[~is_kept]])
        self.log_priors = np.array([log_matches, *relatives[is_kept], log_random])

    def log_classes(self, ratios: Array, lifts: Array, sets: Ids | None = None) -> Array:
        """Returns the log likelihoods of the classes, with priors, `(num_pairs, num_classes)`.

        They are relative to the likelihood of a random pair.

        Args:
            ratios: The result of `column_evidence`.
            lifts: The result of `lifts_apart`.
            sets: The result of `changed`. Default: it is computed.
        """
        sets = self.changed(ratios) if sets is None else sets
        classes = [ratios.sum(axis=1) + self.changes[sets]]
        odds = np.exp(ratios)
        for shares in self.shared:
            classes.append(np.log(shares * odds + (1 - shares) * lifts).sum(axis=1))
        classes.append(np.zeros(len(ratios)))
        return np.stack(classes).T + self.log_priors

    def lifts_apart(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the likelihood ratios of relatives that differ and chance, by level.

        Args:
            agreements: Agreements of the pairs, one per column.

        Returns:
            Their ratios, `(num_pairs, num_columns)`; 1 before relatives are counted.
        """
        lifts = np.ones((len(agreements), len(agreements[0].levels)))
        for own, apart, agreement in zip(lifts, self.apart, agreements, strict=False):
            own[:] = apart[agreement.levels]
        return lifts.T

    def changed(self, ratios: Array) -> Ids:
        """Numbers the sets of columns that differ, as `changing.sets_that_differ`."""
        return changing.sets_that_differ(ratios, self.is_steady, self.is_identifying)

    def log_odds(self, agreements: Sequence[Agreement], *, any_relation: bool = False) -> Array:
        """Returns the log-odds of matches, `(num_pairs,)`.

        Args:
            agreements: Agreements of the pairs, one per column.
            any_relation: Whether relatives count as matches.
        """
        ratios = self.column_evidence(agreements)
        classes = self.log_classes(ratios, self.lifts_apart(agreements))
        classes[:, 0] += self._log_exact(agreements)
        num_good = classes.shape[1] - 1 if any_relation else 1
        rivals = self.log_rival_classes(ratios, agreements)
        others = np.append(classes[:, num_good:], rivals, axis=1)
        # SciPy's `logsumexp` takes many times as long.
        log_good = np.logaddexp.reduce(classes[:, :num_good], axis=1)
        return log_good - np.logaddexp.reduce(others, axis=1)

    def _log_exact(self, agreements: Sequence[Agreement]) -> Array:
        """Returns how much the log likelihood of exact copies rises, `(num_pairs,)`."""
        log_share = np.zeros(len(agreements[0].levels))
        for match, agreement in zip(self.match, agreements, strict=True):
            # Anything else is no exact copy.
            of_levels = np.full(len(match), np.inf)
            of_levels[[ABSENT, EQUAL]] = 0, np.log(match[EQUAL])
            log_share += of_levels[agreement.levels]
        return np.maximum(np.log(_MIN_EXACT) - log_share, 0)

    def rival_shares(self, agreements: Sequence[Agreement], columns: Sequence[int]) -> Array:
        """Returns the share of rivals among pairs that agree so and do not match, `(num_pairs,)`.

        It is 0 where some columns are not equal or nearly so: there, details of the values tell.

        Args:
            agreements: Agreements of the pairs, one per column.
            columns: Numbers of these columns.
        """
        ratios = self.column_evidence(agreements)
        rivals = logsumexp(self.log_rival_classes(ratios, agreements), axis=1)
        classes = self.log_classes(ratios, self.lifts_apart(agreements))
        others = logsumexp(classes[:, 1:], axis=1)
        is_near = [agreements[column].levels <= EQUAL + 1 for column in columns]
        return expit(rivals - others) * np.all(is_near, axis=0)

    def log_rival_classes(self, ratios: Array, agreements: Sequence[Agreement]) -> Array:
        """Returns the log likelihoods of the classes of rivals, `(num_pairs, num_rivals)`.

        They are relative to the likelihood of a random pair, with priors.
        """
        classes = np.tile(self.log_rivals[:, np.newaxis], len(ratios))
        if not len(self.log_rivals):
            return classes.T
        # Rivals differ in something; classes tell that of each column alone.
        is_equal = np.all([agreement.levels == EQUAL for agreement in agreements], axis=0)
        classes[:, is_equal] += _LOG_NEVER
        classes += ratios.sum(axis=1)
        for match, rivals, agreement in zip(self.match, self.rivals, agreements, strict=True):
            # Equal values count by their frequency, as among matches.
            changes = np.zeros(rivals.shape)
            present = rivals[:, EQUAL:] / match[EQUAL:]
            changes[:, EQUAL:] = np.log(present)
            classes += changes[:, agreement.levels]
        return classes.T


def log_levels(shares: Array, agreement: Agreement) -> Array:
    """Returns the logarithms of the shares of the levels of pairs, 0 if missing, `(num_pairs,)`."""
    log_shares = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    found: Array = log_shares[agreement.levels]
    return found


def log_by_chance(chance: Array, agreement: Agreement) -> Array:
    """Returns the same of random pairs, whose equal values count by frequency, `(num_pairs,)`."""
    # Random pairs agree in a value as often as rows have it; matches have it as often as all rows.
    chance = chance.copy()
    chance[EQUAL] = 1
    return log_levels(chance, agreement) + agreement.log_frequencies


def prior_shares(num_levels: int) -> Array:
    """Returns the shares of the levels among matches before any pair is seen."""
    shares = np.zeros(num_levels)
    shares[EQUAL] = _PRIOR_EQUAL
    num_near = num_levels - 3
    # The nearest level is the most frequent one.
    near = 0.5 ** np.arange(num_near)
    share_of_near = 1 - _PRIOR_EQUAL - _PRIOR_DIFFERENT
    shares[EQUAL + 1 : -1] = near / near.sum() * share_of_near
    shares[-1] = _PRIOR_DIFFERENT
    return shares


def log_shares(shares: Array) -> Array:
    """Returns the logarithms of the shares of classes among all pairs, with random pairs last."""
    # In tiny tables, expected matches may be most of the pairs.
    shares = shares * min(1, 0.9 / shares.sum())
    return np.log(np.append(shares, 1 - shares.sum()))
