"""Learns weights of features, and a threshold, from labelled pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit

_NUM_FOLDS = 5


class Learned(NamedTuple):
    """A threshold, and its precision and recall on labels that it was not learned from."""

    threshold: float
    precision: float
    recall: float


def learn_weights(
    features: NDArray[np.floating],
    is_match: NDArray[np.bool_],
    prior: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], Learned]:
    """Fits a logistic regression, and finds the threshold with the largest F1.

    The threshold is found on held-out probabilities: each fold is scored by the weights of the
    other four.

    Args:
        features: Features of pairs, `(num_pairs, num_features)`.
        is_match: Whether they match, `(num_pairs,)`, both at least twice.
        prior: Weights that few labels change little, `(num_features,)`. Default: zeros.
    """
    if prior is None:
        prior = np.zeros(features.shape[1])
    draw = np.random.default_rng(0)
    folds = draw.permutation(len(features)) % _NUM_FOLDS
    held_out = np.empty(len(features))
    for fold in range(_NUM_FOLDS):
        is_held_out = folds == fold
        weights = _fit(features[~is_held_out], is_match[~is_held_out], prior)
        held_out[is_held_out] = expit(features[is_held_out] @ weights)
    return _fit(features, is_match, prior), best_threshold(held_out, is_match)


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
        mean_loss = np.logaddexp(0, -margins).mean()
        changes = weights - prior
        penalty = changes @ changes / (2 * num_pairs)
        gradient = -(signs * expit(-margins)) @ features / num_pairs
        return mean_loss + penalty, gradient + changes / num_pairs

    return optimize.minimize(loss, prior, jac=True, method="L-BFGS-B").x


def best_threshold(scores: NDArray[np.floating], is_match: NDArray[np.bool_]) -> Learned:
    """Finds the threshold with the largest F1, halfway between two scores."""
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    # If the threshold is below the first n scores, n pairs are found.
    num_found = np.arange(1, len(scores) + 1)
    num_hits = np.cumsum(is_match[order])
    num_matches = is_match.sum()
    f1 = 2 * num_hits / (num_found + num_matches)
    # No threshold separates equal scores.
    is_tied = scores[:-1] == scores[1:]
    f1[:-1][is_tied] = 0
    best = int(np.argmax(f1))
    # Below the last score there is nothing to be halfway to.
    following = min(best + 1, len(scores) - 1)
    threshold = (scores[best] + scores[following]) / 2
    precision = num_hits[best] / num_found[best]
    recall = num_hits[best] / num_matches
    return Learned(float(threshold), float(precision), float(recall))
