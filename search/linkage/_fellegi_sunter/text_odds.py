"""The model of a single column of texts, and the evidence of the other partners of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Flags,
    Ids,
    distinct_integers,
    keys_of_pairs,
    pairs_of_keys,
)
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, Agreement
from tf_charagram.search.linkage._fellegi_sunter.mixture import (
    log_by_chance,
    log_levels,
    prior_shares,
)

# Equal texts may be different things.
_MAX_TEXT = 0.98
# Pairs that are no matches by their texts are surer than their probabilities say: of made-up names,
# firms, titles and products, hardly one in 100 of probability 0.2 is a match.
_SURER = 3.0
# Pairs that are more probable by their texts show how often other columns agree in matches; so many
# pairs are known before.
_MIN_PROBABLE = 0.5
_PSEUDO_MATCHES = 20.0
# Log-odds of equal texts whose other columns do not speak against a match.
_MIN_EQUAL = 3.8
# Fitted to the same labelled pairs as the weights of texts.
_RIVAL_WEIGHT = 0.6
#: Rivals change nothing about less probable pairs.
MIN_WITH_RIVALS = 1 - _MAX_TEXT
# Log-odds of a pair that is the best one of both of its rows, for each unit of the log-odds that a
# row has a partner. Chosen on products, firms and papers.
_MUTUAL = 1.5
# The shares of rows with a partner that count. Where fewer have one, most pairs are no matches:
# chosen on made-up titles and names.
_MIN_SHARE = 0.2
_MAX_SHARE = 0.88
# Log-odds of sure pairs of a list, and matches for each sure one that are not: of so many times
# `expm1(x)`, the log-odds are from 0 to x. Pairs that are no matches are hardly ever sure, and most
# have log-odds near 0. Chosen on made-up names and titles, whose share is 0.2, and on products.
_SURE = 2.0
_UNSURE_MATCHES = 0.35
# As if so many more rows had a sure partner: a short list tells little.
_PSEUDO_SURE = 40.0
# Log-odds by which a limit is above those of the pairs that it excludes.
_ABOVE = 1e-3
# Where this share of the rows have a sure partner, most pairs are matches: nothing is taken from
# them, and below it, so much at most for each unit of the share.
_MANY_SURE = 0.25
_PER_SURE = 10.0


@dataclass
class TextOdds:
    """The model of a column of texts, whose similarities are probabilities.

    A single column tells too little about matches to fit a model, and so it does beside columns
    that hardly tell anything. Their evidence is added.

    Attributes:
        number: Number of the column of texts.
        match: For each other column, the share of each level among matches, `(num_levels,)`; empty
            for a column that tells nothing.
        chance: The same among random pairs.
        prior: Log-odds that are added to all pairs: the result of `list_prior`.
    """

    number: int = 0
    match: list[Array] = field(default_factory=list)
    chance: list[Array] = field(default_factory=list)
    prior: float = 0.0

    @property
    def log_priors(self) -> Array:
        """The prior log-odds of matches, and those of other pairs, which are 0."""
        return np.array([self.prior, 0.0])

    @classmethod
    def fitted(
        cls, number: int, chance: Sequence[Array], agreements: Sequence[Agreement]
    ) -> TextOdds:
        """Counts how other columns agree in pairs that match by their texts.

        Args:
            number: Number of the column of texts.
            chance: For each other column, the share of each level among random pairs; empty for
                a column that tells nothing.
            agreements: Agreements of candidates, one per column.
        """
        probabilities = agreements[number].similarities
        weights = np.where(probabilities > _MIN_PROBABLE, probabilities, 0)
        match = []
        for shares, agreement in zip(chance, agreements, strict=True):
            found = np.zeros(0)
            if len(shares):
                found = np.bincount(agreement.levels, weights, len(shares)).astype(np.float64)
                found[ABSENT] = 0
                found += _PSEUDO_MATCHES * prior_shares(len(shares))
                found /= found.sum()
            match.append(found)
        return cls(number, match, list(chance))

    def for_tables(self, row_share: float) -> TextOdds:
        """Returns the same weights: those of lists do not depend on their size."""
        return self

    @property
    def has_others(self) -> bool:
        """Whether other columns tell something."""
        return any(map(len, self.match))

    def column_evidence(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log-odds of pairs by their texts, and the evidence of the other columns.

        Its shape is `(num_pairs, num_columns)`.
        """
        similarities = agreements[self.number].similarities
        probabilities = np.clip(similarities, 1 - _MAX_TEXT, _MAX_TEXT)
        by_texts = logit(probabilities.astype(np.float64))
        if self.has_others:
            by_texts *= np.where(by_texts < 0, _SURER, 1)
        evidence = np.zeros((len(similarities), len(agreements)))
        evidence[:, self.number] = by_texts
        for number, match in enumerate(self.match):
            if len(match):
                agreement = agreements[number]
                by_chance = log_by_chance(self.chance[number], agreement)
                evidence[:, number] = log_levels(match, agreement) - by_chance
        return evidence

    def log_odds(self, agreements: Sequence[Agreement]) -> Array:
        """Returns the log-odds of matches, `(num_pairs,)`."""
        log_odds: Array = self.prior + self.column_evidence(agreements).sum(axis=1)
        return log_odds

    def are_same(self, columns: Sequence[Column], pairs: Ids, log_odds: Array) -> Flags:
        """Tells pairs of equal texts whose other columns do not differ, `(num_pairs,)`."""
        column = columns[self.number]
        left, right = pairs.T
        texts = column.left[left]
        is_equal: Flags = (texts == column.right[right]) & (texts >= 0)
        return is_equal & (log_odds - self.prior > _MIN_EQUAL) if self.has_others else is_equal


def lowest_text(threshold: float, gain: float) -> float:
    """Returns the probability by texts that pairs need for a threshold.

    Args:
        threshold: Minimum probability.
        gain: Evidence that the other columns may add.
    """
    if not gain:
        return threshold
    log_odds = logit(np.clip(threshold, 1e-6, 1 - 1e-6)) - gain
    return float(expit(log_odds / _SURER if log_odds < 0 else log_odds))


class Partners(NamedTuple):
    """The partners of the texts of a list: other texts that match more probably than not.

    Attributes:
        best: Probability of the best partner of each text, 0 without one.
        numbers: Number of its partners.
    """

    best: Array
    numbers: Array

    @classmethod
    def of(
        cls,
        num_texts: int,
        pairs: Ids,
        probabilities: NDArray[np.floating],
        known: Partners | None = None,
    ) -> Partners:
        """Finds the partners.

        Args:
            num_texts: Number of texts.
            pairs: Texts, `(num_pairs, 2)`, also several times.
            probabilities: Probabilities that they match, `(num_pairs,)`.
            known: The partners of the first texts among each other.
        """
        num_known = 0 if known is None else len(known.best)
        is_partner = (pairs[:, 0] != pairs[:, 1]) & (probabilities > 0.5)
        is_partner &= pairs.max(axis=1, initial=-1) >= num_known
        pairs = pairs[is_partner]
        keys = distinct_integers(keys_of_pairs(np.sort(pairs, axis=1), num_texts))
        ends = pairs_of_keys(keys, num_texts).ravel()
        numbers = np.bincount(ends, minlength=num_texts).astype(np.float64)
        best = np.zeros(num_texts)
        if known is not None:
            numbers[:num_known] += known.numbers
            best[:num_known] = known.best
        for texts in pairs.T:
            np.maximum.at(best, texts, probabilities[is_partner])
        return cls(best, numbers)


def list_prior(partners: Partners, counts: Ids) -> float:
    """Returns the log-odds that are added to all pairs of a list, 0 or less.

    The sure pairs tell how many of the others match. If these are far more, most are no matches:
    the log-odds below which more pairs are wrong than right are taken from all pairs. Pairs that
    are wrong hardly ever make groups, and a group of any size counts as one text.

    Args:
        partners: The partners of the texts.
        counts: Number of rows that have each text, 0 for texts that do not count.
    """
    # Copies are sure.
    best = np.where(counts > 1, _MAX_TEXT, np.minimum(partners.best, _MAX_TEXT))
    texts = np.flatnonzero((best > 0) & (counts > 0))
    texts = texts[np.argsort(best[texts], kind="stable")]
    log_odds = logit(best[texts])
    weights = (counts / np.maximum(partners.numbers, 1))[texts]
    num_unsure = int(np.searchsorted(log_odds, _SURE))
    num_sure = weights[num_unsure:].sum() + _PSEUDO_SURE
    # All unsure texts have a partner, or all but the first one, and so on, or none of them.
    limits = np.append(0, log_odds[:num_unsure] + _ABOVE)
    kept = weights[:num_unsure].sum() - np.append(0, np.cumsum(weights[:num_unsure]))
    lost = _UNSURE_MATCHES * num_sure * np.expm1(limits)
    limit = limits[np.argmin(kept + lost)]
    share = counts[texts[num_unsure:]].sum() / max(counts.sum(), 1)
    return -float(min(limit, _PER_SURE * max(_MANY_SURE - share, 0)))


def with_prior(probabilities: NDArray[np.floating], prior: float) -> NDArray[np.floating]:
    """Returns the probabilities of pairs of a list with the result of `list_prior`."""
    if not prior:
        # Cosines of vectors alone are no probabilities, and may be more than 1.
        return probabilities
    found: Array = expit(logit(probabilities.astype(np.float64)) + prior)
    return found


def mutual_evidence(pairs: Ids, probabilities: Array, present: Sequence[Ids]) -> float:
    """Returns the evidence for pairs that are the best ones of both of their rows.

    Where most rows of one of two tables have a partner, the best one is likely to be it. Where
    few have one, it is negative, and counts for all pairs.

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
    share = np.clip(max(shares), _MIN_SHARE, _MAX_SHARE)
    return _MUTUAL * float(logit(share))


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
    are_best = gains > 0 if mutual > 0 else np.ones(len(gains), bool)
    return _RIVAL_WEIGHT * gains + mutual * are_best
