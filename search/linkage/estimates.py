"""How many of the answers are right, as the probabilities of the pairs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from tf_charagram.search._pairs.flat_arrays import Array

#: Thresholds whose precision and recall are shown next to the chosen one.
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
#: With fewer expected matches, an estimate says nothing.
MIN_MATCHES = 20
# Bounds are the estimates with log-odds so far off, and a little more. Sets of people, firms,
# products and invoices, generated and real, were nearly always between them.
_LOG_ODDS_ERROR = 1.5
# Pairs are more often surer than they seem: rows that agree in all of a few columns.
_MAX_LOG_ODDS_ERROR = 3.0
# The probabilities of a single text are not fitted to the tables.
_LOG_ODDS_ERROR_OF_TEXT = 2.0
_MARGIN = 0.03
# No model is surer than this, as columns depend on each other.
_MAX_LOG_ODDS = 4.0
_NOT_KNOWN = (np.nan, np.nan)
# Bins of the histogram of scores.
_NUM_BINS = 20


class Estimate(NamedTuple):
    """The expected precision and recall of the pairs above a threshold.

    Attributes:
        threshold: Minimum probability.
        num_pairs: Number of pairs above it.
        precision: Expected share of these that match; NaN without any.
        recall: Expected share of all matches that are among them; NaN if it is not known.
        precision_bounds: Lower and upper bound of the precision.
        recall_bounds: Lower and upper bound of the recall.
    """

    threshold: float
    num_pairs: int
    precision: float
    recall: float
    precision_bounds: tuple[float, float]
    recall_bounds: tuple[float, float]


def histogram(scores: ArrayLike) -> list[int]:
    """Counts scores in 20 equal parts from 0 to 1; a score of 1 is in the last one."""
    places = np.minimum(np.asarray(scores, np.float64) * _NUM_BINS, _NUM_BINS - 1)
    counts: list[int] = np.bincount(places.astype(np.int64), minlength=_NUM_BINS).tolist()
    return counts


def estimate(
    shown: Array,
    candidates: Array,
    thresholds: Sequence[float],
    *,
    unseen: float | None = 0.0,
    hidden: float = 0.0,
    unclear: float = 0.0,
    rows: NDArray[np.integer] | None = None,
    num_rows: tuple[int, int] = (0, 0),
    texts: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
) -> list[Estimate]:
    """Estimates precision and recall.

    A pair of probability p is p matches, so precision is the mean probability of the pairs that are
    shown, and recall their sum over the sum of all pairs.

    Args:
        shown: Probabilities of the pairs of the answer, for the smallest threshold.
        candidates: Probabilities of all pairs that may match.
        thresholds: Thresholds.
        unseen: Share of the matches that may be missing among the candidates, or `None` if recall
            cannot be known.
        hidden: Matches that are known to look like random pairs, for each one that does not: exact
            copies of rows with frequent values do.
        unclear: Share of the pairs that may be no matches, whatever their probabilities.
        rows: Rows of two tables that are shown, `(num_shown, 2)`, or `None` for groups.
        num_rows: Number of rows of both tables.
        texts: The text of each row of two lists, equal texts as the same number, negative without
            a text.
    """
    error = _LOG_ODDS_ERROR_OF_TEXT if unseen is None else _LOG_ODDS_ERROR
    total = candidates.sum()
    lower_total, upper_total = (values.sum() for values in _bounds(candidates, error, error))
    # Equal texts may be different things, of which a row is one at most.
    namesakes: Array = np.ones(len(shown))
    if texts is not None and rows is not None:
        namesakes = _num_namesakes(rows, texts)
    estimates = []
    for threshold in thresholds:
        is_chosen = shown >= threshold
        chosen = shown[is_chosen]
        num_pairs = len(chosen)
        found = chosen.sum()
        precision, recall = np.nan, np.nan
        precision_bounds = recall_bounds = _NOT_KNOWN
        if num_pairs:
            precision = found / num_pairs
            most = namesakes[is_chosen]
            if texts is not None and rows is not None:
                most = np.maximum(most, _num_partners(rows[is_chosen]))
            precision_bounds = _precision_bounds(chosen, most / (1 - unclear), error)
        if unseen is not None and total > 0:
            recall = min(found / (total * (1 + hidden)), 1)
            lower, upper = (values.sum() for values in _bounds(chosen, error, error))
            num_unseen = unseen * upper_total
            if rows is not None:
                # Rows with a right partner hardly have another one.
                num_free = _num_free(rows[is_chosen], num_rows)
                num_unseen = min(num_unseen, num_free + num_pairs - lower)
            # Many others match if few of the found pairs do, and the other way round.
            num_missed = upper_total - upper + num_unseen
            least_recall = lower / max(lower + num_missed, 1e-9)
            most_recall = upper / max(upper + lower_total - lower, upper, 1e-9)
            recall_bounds = _widened(least_recall, most_recall)
        values = float(precision), float(recall), precision_bounds, recall_bounds
        estimates.append(Estimate(threshold, num_pairs, *values))
    return estimates


def _precision_bounds(chosen: Array, most: Array, error: float) -> tuple[float, float]:
    """Returns bounds of the share of pairs that match.

    Args:
        chosen: Probabilities of the pairs.
        most: How many things each pair may be of, of which one is right, `(num_pairs,)`; more if
            it may be none.
        error: How far off the log-odds may be.
    """
    lowest, highest = _bounds(chosen, error, _MAX_LOG_ODDS_ERROR)
    num_fewest = (lowest / most).sum()
    num_most = highest.sum()
    # One pair may be an accident.
    return _widened((num_fewest - 1) / len(chosen), (num_most + 1) / len(chosen))


def _num_partners(rows: NDArray[np.integer]) -> NDArray[np.integer]:
    """Returns the number of pairs of each pair's row that has more of them, `(num_pairs,)`."""
    counts = []
    for side in rows.T:
        counts.append(np.bincount(side)[side])
    return np.maximum(*counts)


def _num_namesakes(
    rows: NDArray[np.integer], texts: tuple[NDArray[np.integer], NDArray[np.integer]]
) -> Array:
    """Returns how many things may have the text of a row of each pair, `(num_pairs,)`.

    Where many rows of both lists share their texts, things that are in neither list do, too. If it
    is one list, it may have copies.

    Args:
        rows: Rows of two lists, `(num_pairs, 2)`.
        texts: The text of each row of both lists.
    """
    num_texts = max(side.max(initial=0) for side in texts) + 1
    most = np.ones(len(rows), np.int64)
    alone = 0.0
    for side in texts:
        counts = np.bincount(side[side >= 0], minlength=num_texts)
        num_rows = max(counts.sum(), 1)
        # One row at least, as far as is known.
        alone = max(alone, (counts == 1).sum() / num_rows, 1 / num_rows)
        for own, row in zip(texts, rows.T, strict=True):
            most = np.maximum(most, counts[own[row]])
    return most / alone


def _num_free(rows: NDArray[np.integer], num_rows: tuple[int, int]) -> int:
    """Returns the number of rows without a partner, of the table with fewer of them."""
    num_partners = [len(np.unique(side)) for side in rows.T]
    return int(np.min(np.subtract(num_rows, num_partners)))


def _bounds(probabilities: Array, below: float, above: float) -> tuple[Array, Array]:
    """Returns the lowest and highest probabilities that pairs may have.

    Args:
        probabilities: Probabilities.
        below: How much lower their log-odds may be.
        above: How much higher their log-odds may be.
    """
    log_odds = logit(np.clip(probabilities, 1e-9, 1 - 1e-9))
    lower = expit(np.minimum(log_odds, _MAX_LOG_ODDS) - below)
    return lower, expit(log_odds + above)


def _widened(lower: float, upper: float) -> tuple[float, float]:
    return float(max(lower - _MARGIN, 0)), float(min(upper + _MARGIN, 1))
