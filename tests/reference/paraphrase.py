"""The paraphrase margin loss, its negatives and its gradient (Charagram, appendix A).

Embeddings of B pairs stand in one array of 2B rows: the B lefts, then the B rights. Row r
belongs to pair r % B. A negative is the index of such a row, or `NONE`.
"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

NONE = -1
"""Stands for the negative of an anchor that has no allowed candidate."""


def cosine(u: np.ndarray, v: np.ndarray) -> float:
    """Returns the cosine of two vectors `(dim,)`, 0 if one of them is zero."""
    norms = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(np.dot(u, v)) / norms if norms > 0 else 0.0


def cosine_gradient(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Differentiates cosine(u, v) with respect to u: v / (|u| |v|) - cosine(u, v) u / |u|^2."""
    norm_u, norm_v = np.linalg.norm(u), np.linalg.norm(v)
    if norm_u * norm_v == 0:
        return np.zeros(len(u))
    return v / (norm_u * norm_v) - cosine(u, v) * u / norm_u**2


def cosine_matrix(left: np.ndarray, right: np.ndarray | None = None) -> np.ndarray:
    """Returns all cosines.

    Args:
        left: `(n, dim)`.
        right: `(m, dim)`; `left` itself by default.

    Returns:
        `(n, m)`, 0 wherever a vector is zero.
    """
    left = np.asarray(left, float)
    right = left if right is None else np.asarray(right, float)
    matrix = np.zeros((len(left), len(right)))
    for row, u in enumerate(left):
        for column, v in enumerate(right):
            matrix[row, column] = cosine(u, v)
    return matrix


def candidate_mask(
    left_keys: Sequence[Hashable],
    right_keys: Sequence[Hashable],
    mask_duplicates: bool = True,
) -> np.ndarray:
    """Marks the rows that may be an anchor's negative.

    Args:
        left_keys: The left texts, or anything equal for equal texts, `(B,)`.
        right_keys: The right ones, `(B,)`.
        mask_duplicates: Also refuse candidates with the text of either side of the anchor's pair.

    Returns:
        Bool, `(2B, 2B)`: anchors by candidates, never True inside a pair.
    """
    num_pairs = len(left_keys)
    keys = [*left_keys, *right_keys]
    mask = np.zeros((2 * num_pairs, 2 * num_pairs), bool)
    for anchor in range(2 * num_pairs):
        pair = anchor % num_pairs
        for candidate in range(2 * num_pairs):
            own = candidate % num_pairs == pair
            texts = {left_keys[pair], right_keys[pair]}
            duplicate = mask_duplicates and keys[candidate] in texts
            mask[anchor, candidate] = not (own or duplicate)
    return mask


def choose_max(similarity: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Chooses the most similar allowed candidate, the first of equally similar ones.

    Args:
        similarity: Cosines, `(2B, 2B)`.
        mask: From `candidate_mask`, `(2B, 2B)`.

    Returns:
        Row indices, `(2B,)`, `NONE` where nothing is allowed.
    """
    chosen = np.full(len(mask), NONE)
    for anchor, allowed in enumerate(mask):
        for candidate in np.flatnonzero(allowed):
            best = chosen[anchor]
            if best == NONE or similarity[anchor, candidate] > similarity[anchor, best]:
                chosen[anchor] = candidate
    return chosen


def choose_random(mask: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Turns uniform draws into random allowed candidates.

    Args:
        mask: From `candidate_mask`, `(2B, 2B)`.
        draws: Uniform in [0, 1), `(2B,)`. Of k allowed candidates draw u takes number floor(u k).

    Returns:
        Row indices, `(2B,)`, `NONE` where nothing is allowed.
    """
    chosen = np.full(len(mask), NONE)
    for anchor, allowed in enumerate(mask):
        candidates = np.flatnonzero(allowed)
        if len(candidates):
            position = min(int(draws[anchor] * len(candidates)), len(candidates) - 1)
            chosen[anchor] = candidates[position]
    return chosen


def _hinges(embeddings: np.ndarray, negatives: np.ndarray, margin: float):
    """Yields (anchor, partner, negative, hinge before the max) of each anchor with a negative."""
    num_pairs = len(embeddings) // 2
    for anchor, negative in enumerate(negatives):
        partner = (anchor + num_pairs) % (2 * num_pairs)
        if negative != NONE:
            positive_cosine = cosine(embeddings[anchor], embeddings[partner])
            negative_cosine = cosine(embeddings[anchor], embeddings[negative])
            yield anchor, partner, negative, margin - positive_cosine + negative_cosine


def _join(left, right, negatives_left, negatives_right) -> tuple[np.ndarray, np.ndarray]:
    """Stacks lefts over rights: embeddings `(2B, dim)`, negatives `(2B,)`."""
    embeddings = np.concatenate([np.asarray(left, float), np.asarray(right, float)])
    return embeddings, np.concatenate([negatives_left, negatives_right])


def margin_loss(
    left: np.ndarray,
    right: np.ndarray,
    negatives_left: np.ndarray,
    negatives_right: np.ndarray,
    margin: float,
) -> float:
    """Returns the mean over the batch of the two hinge terms of a pair, without L2.

    Args:
        left: g(x1), `(B, dim)`.
        right: g(x2), `(B, dim)`.
        negatives_left: Row index of t1 among the 2B embeddings, `(B,)`; `NONE` makes the term 0.
        negatives_right: The same for t2, `(B,)`.
        margin: The margin, delta in the paper.

    Returns:
        The loss; the divisor is B whatever number of terms is 0.
    """
    embeddings, negatives = _join(left, right, negatives_left, negatives_right)
    total = 0.0
    for _, _, _, hinge in _hinges(embeddings, negatives, margin):
        total += max(0.0, hinge)
    return total / len(left)


def margin_loss_gradient(
    left: np.ndarray,
    right: np.ndarray,
    negatives_left: np.ndarray,
    negatives_right: np.ndarray,
    margin: float,
) -> np.ndarray:
    """Differentiates `margin_loss` with respect to the embeddings, `(2B, dim)`.

    A chosen negative receives its share; a hinge of exactly 0 gives 0.
    """
    embeddings, negatives = _join(left, right, negatives_left, negatives_right)
    gradient = np.zeros_like(embeddings)
    for anchor, partner, negative, hinge in _hinges(embeddings, negatives, margin):
        if hinge > 0:
            for sign, other in ((-1.0, partner), (1.0, negative)):
                u, v = embeddings[anchor], embeddings[other]
                gradient[anchor] += sign * cosine_gradient(u, v)
                gradient[other] += sign * cosine_gradient(v, u)
    return gradient / len(left)


def numerical_gradient(
    function: Callable[[np.ndarray], float], point: np.ndarray, step: float = 1e-6
) -> np.ndarray:
    """Differentiates a function of an array by central differences in float64."""
    point = np.array(point, float)
    gradient = np.zeros_like(point)
    for index in np.ndindex(*point.shape):
        shifted = point.copy()
        shifted[index] = point[index] + step
        above = function(shifted)
        shifted[index] = point[index] - step
        gradient[index] = (above - function(shifted)) / (2.0 * step)
    return gradient
