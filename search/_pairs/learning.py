"""Learns weights of features, and a threshold, from labelled pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import betainc, expit

from tf_charagram.errors import ConfigError

_NUM_FOLDS = 5
# Chance that weights which are no better would be taken for better: three won, none lost. Chosen
# on beers, products, papers and songs, and confirmed on eight other sets.
_MAX_CHANCE = 0.13


class Learned(NamedTuple):
    """A threshold, and its precision and recall on labels that it was not learned from."""

    threshold: float
    precision: float
    recall: float


def checked_labels(labels: Sequence[int], num_pairs: int) -> NDArray[np.bool_]:
    """Returns whether pairs match, bool `(num_pairs,)`.

    Args:
        labels: 1 or 0 for each pair.
        num_pairs: Number of pairs.

    Raises:
        ConfigError: There are other labels or another number of them, or fewer than two of a kind.
    """
    num_ones = labels.count(1)
    num_zeros = labels.count(0)
    is_complete = num_pairs == len(labels) == num_ones + num_zeros
    if not is_complete or min(num_ones, num_zeros) < 2:
        raise ConfigError(
            "`labels` must be 1 or 0 for each pair, both at least twice. "
            f"Received: {num_pairs} pairs, {num_ones} ones, {num_zeros} zeros"
        )
    return np.array(labels, bool)


def check_pairs(labels: Iterable[Sequence[int]], is_one_table: bool) -> None:
    """Checks that labels name pairs of different rows and do not contradict each other.

    Args:
        labels: Two rows and 1 or 0 each.
        is_one_table: Whether both rows are of the same table, in any order.

    Raises:
        ConfigError: A row is paired with itself, or a pair has both labels.
    """
    known: dict[tuple[int, ...], int] = {}
    for left, right, is_match in labels:
        if is_one_table and left == right:
            raise ConfigError(f"`labels` must pair different rows. Received: row {left} twice")
        pair = (min(left, right), max(left, right)) if is_one_table else (left, right)
        if known.setdefault(pair, is_match) != is_match:
            raise ConfigError(
                f"`labels` must not contradict each other. Received: 1 and 0 for the rows {left} "
                f"and {right}"
            )


def learn_weights(
    features: NDArray[np.floating],
    is_match: NDArray[np.bool_],
    prior: NDArray[np.float64] | None = None,
    others: NDArray[np.floating] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fits a logistic regression; returns its weights and held-out probabilities.

    Each fold of five is scored by the weights of the other four.

    Args:
        features: Features of pairs, `(num_pairs, num_features)`.
        is_match: Whether they match, `(num_pairs,)`, both at least twice.
        prior: Weights that few labels change little, `(num_features,)`. Default: zeros.
        others: Features of pairs without labels that do not match, `(num_others, num_features)`.
    """
    if prior is None:
        prior = np.zeros(features.shape[1])
    if others is None:
        others = features[:0]
    no_match = np.zeros(len(others), bool)

    def fit(used: NDArray[np.bool_]) -> NDArray[np.float64]:
        known = np.concatenate([features[used], others])
        return _fit(known, np.append(is_match[used], no_match), prior)

    num_pairs = len(features)
    shuffled = np.random.default_rng(0).permutation(num_pairs)
    folds = shuffled % _NUM_FOLDS
    probabilities = np.empty(num_pairs)
    for fold in range(_NUM_FOLDS):
        is_held_out = folds == fold
        logits = features[is_held_out] @ fit(~is_held_out)
        probabilities[is_held_out] = expit(logits)
    return fit(np.ones(num_pairs, bool)), probabilities


def _fit(
    features: NDArray[np.floating], is_match: NDArray[np.bool_], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the weights of a logistic regression.

    The L2 penalty of the differences from `prior` is 1/2 in all.
    """
    signs = np.where(is_match, 1.0, -1.0)
    num_pairs = len(signs)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (features @ weights)
        # log(1 + exp(-margin)), which `exp` alone would overflow.
        losses = np.logaddexp(0, -margins)
        slopes = -(signs * expit(-margins))
        gradient = slopes @ features / num_pairs
        changes = weights - prior
        # The penalty is divided by the number of pairs because the loss is a mean.
        penalty = changes @ changes / (2 * num_pairs)
        penalty_gradient = changes / num_pairs
        return losses.mean() + penalty, gradient + penalty_gradient

    fitted = optimize.minimize(loss, prior, jac=True, method="L-BFGS-B")
    return fitted.x


def predicts_better(
    probabilities: NDArray[np.float64],
    others: NDArray[np.float64],
    is_match: NDArray[np.bool_],
    threshold: float = 0.5,
) -> bool:
    """Tells whether probabilities answer more labels than others do, and not by chance.

    This is a sign test on the labels that only one of them answers. Most labels are of easy pairs,
    on which both agree: their mean log-probability grows although the answer does not change.

    Args:
        probabilities: Held-out probabilities of the labelled pairs, `(num_pairs,)`.
        others: Probabilities that were not learned from the labels.
        is_match: Whether they match, `(num_pairs,)`.
        threshold: Minimum probability of a match.
    """
    is_right = (probabilities >= threshold) == is_match
    was_right = (others >= threshold) == is_match
    num_won = (is_right & ~was_right).sum()
    num_lost = (was_right & ~is_right).sum()
    # The chance of so many heads or more, if coins are tossed.
    return bool(num_won and betainc(num_won, num_lost + 1, 0.5) <= _MAX_CHANCE)


def best_threshold(scores: NDArray[np.floating], is_match: NDArray[np.bool_]) -> Learned:
    """Finds the threshold with the largest F1, halfway between two scores."""
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    # The next lower score, which the last score lacks.
    following = np.append(scores[1:], scores[-1:])
    # If the threshold is below the first n scores, n pairs are found.
    num_found = np.arange(1, len(scores) + 1)
    num_hits = np.cumsum(is_match[order])
    num_matches = is_match.sum()
    f1 = 2 * num_hits / (num_found + num_matches)
    # No threshold separates equal scores.
    is_tied = scores == following
    is_tied[-1] = False
    f1[is_tied] = 0
    best = int(np.argmax(f1))
    threshold = (scores[best] + following[best]) / 2
    precision = num_hits[best] / num_found[best]
    recall = num_hits[best] / num_matches
    return Learned(float(threshold), float(precision), float(recall))
