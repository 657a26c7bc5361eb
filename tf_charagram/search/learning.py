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
    features: NDArray[np.floating], is_match: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], Learned]:
    """Returns the weights of a logistic regression, and the threshold with the largest F1.

    The threshold is that of held-out probabilities, from five folds.

    Args:
        features: Features of pairs, `(num_pairs, num_features)`.
        is_match: Whether they match, `(num_pairs,)`, both at least twice.
    """
    folds = np.random.default_rng(0).permutation(len(features)) % _NUM_FOLDS
    held_out = np.empty(len(features))
    for fold in range(_NUM_FOLDS):
        weights = _fitted(features[folds != fold], is_match[folds != fold])
        held_out[folds == fold] = expit(features[folds == fold] @ weights)
    return _fitted(features, is_match), best_threshold(held_out, is_match)


def _fitted(features: NDArray[np.floating], is_match: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns the weights of a logistic regression."""
    signs = np.where(is_match, 1.0, -1.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (features @ weights)
        gradient = -(signs * expit(-margins)) @ features / len(signs)
        value = np.logaddexp(0, -margins).mean() + weights @ weights / (2 * len(signs))
        return value, gradient + weights / len(signs)

    start = np.zeros(features.shape[1])
    return optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x


def best_threshold(scores: NDArray[np.floating], is_match: NDArray[np.bool_]) -> Learned:
    """Returns the threshold with the largest F1, halfway between two scores."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(is_match[order])
    found = np.arange(1, len(order) + 1)
    f1 = 2 * hits / (found + is_match.sum())
    # Equal scores are on the same side.
    f1[:-1][scores[order][:-1] == scores[order][1:]] = 0
    best = int(np.argmax(f1))
    following = scores[order[min(best + 1, len(order) - 1)]]
    threshold = float((scores[order[best]] + following) / 2)
    return Learned(threshold, float(hits[best] / found[best]), float(hits[best] / is_match.sum()))
