"""Learns weights of features, and a threshold, from labelled pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit

from tf_charagram.errors import ConfigError
from tf_charagram.search._pairs.flat_arrays import Array, Flags

_NUM_FOLDS = 5
# Held-out labels that must be won beyond those that are lost. Chosen on beers, songs, cameras,
# firms and products.
_MIN_WON = 2


class Learned(NamedTuple):
    """A threshold, and its precision and recall on labels that it was not learned from."""

    threshold: float
    precision: float
    recall: float


def checked_labels(labels: Sequence[int], num_pairs: int) -> Flags:
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


def held_out_probabilities(num_pairs: int, log_odds: Callable[[Flags], Array]) -> Array:
    """Returns the probability of each labelled pair by the labels of other pairs, `(num_pairs,)`.

    Each fold of five is scored by the weights of the other four.

    Args:
        num_pairs: Number of labelled pairs.
        log_odds: Returns the log-odds of all pairs by weights that are fitted to some of them,
            from a mask, `(num_pairs,)`.
    """
    shuffled = np.random.default_rng(0).permutation(num_pairs)
    folds = shuffled % _NUM_FOLDS
    probabilities = np.empty(num_pairs)
    for fold in range(_NUM_FOLDS):
        is_held_out = folds == fold
        probabilities[is_held_out] = expit(log_odds(~is_held_out)[is_held_out])
    return probabilities


def fit_weights(
    features: NDArray[np.floating],
    is_match: Flags,
    prior: Array | None = None,
) -> Array:
    """Returns the weights of a logistic regression, `(num_features,)`.

    The L2 penalty of the differences from `prior` is 1/2 in all.

    Args:
        features: Features of pairs, `(num_pairs, num_features)`.
        is_match: Whether they match, `(num_pairs,)`.
        prior: Weights that few labels change little, `(num_features,)`. Default: zeros.
    """
    if prior is None:
        prior = np.zeros(features.shape[1])
    signs = np.where(is_match, 1.0, -1.0)
    num_pairs = len(signs)

    def loss(weights: Array) -> tuple[float, Array]:
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


def covariance_of(features: NDArray[np.floating], weights: Array) -> Array:
    """Returns the covariance of the errors of fitted weights, `(num_features, num_features)`.

    This is Laplace's approximation: the inverse of the second derivative of the loss.

    Args:
        features: Features of the pairs that the weights are fitted to.
        weights: The result of `fit_weights`.
    """
    probabilities = expit(features @ weights)
    curvatures = probabilities * (1 - probabilities)
    of_loss = (features.T * curvatures) @ features
    return np.linalg.inv(of_loss + np.eye(len(weights)))


def predicts_better(
    probabilities: Array,
    others: Array,
    is_match: Flags,
    threshold: float = 0.5,
) -> bool:
    """Tells whether probabilities answer more labels than others do, by two at least.

    Most labels are of easy pairs, on which both agree: their mean log-probability grows although
    the answer does not change.

    Args:
        probabilities: Held-out probabilities of the labelled pairs, `(num_pairs,)`.
        others: Probabilities that were not learned from the labels.
        is_match: Whether they match, `(num_pairs,)`.
        threshold: Minimum probability of a match.
    """
    num_right = ((probabilities >= threshold) == is_match).sum()
    num_before = ((others >= threshold) == is_match).sum()
    return bool(num_right - num_before >= _MIN_WON)


def best_threshold(scores: NDArray[np.floating], is_match: Flags) -> Learned:
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
