"""The model of a single column of texts, and the evidence of the other partners of a pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from tf_charagram.search._pairs.flat_arrays import Array, Ids
from tf_charagram.search.linkage._fellegi_sunter.evidence import Agreement

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


def mutual_evidence(pairs: Ids, probabilities: Array, present: Sequence[Ids]) -> float:
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
