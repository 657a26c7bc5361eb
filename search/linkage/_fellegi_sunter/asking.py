"""Chooses the pairs of rows whose labels teach most."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Array, Flags
from tf_charagram.search.linkage._fellegi_sunter.linking import Links

# Odd questions are about the most uncertain pair, every so many a random one of those that seem to
# match: uncertain pairs alone would not tell how frequent matches are.
_EVERY = 4
_MIN_PROBABLE = 0.5
# A model needs both kinds of answers: if one kind has less than this share of at least so many, the
# next questions are about pairs beyond those of the other kind.
_MIN_KIND = 0.25
_MIN_ANSWERS = 4


def next_pair(links: Links, asked: Mapping[tuple[int, int], int]) -> int | None:
    """Returns the index of the next pair to ask about, or `None` if all were asked.

    Args:
        links: Candidates with probabilities.
        asked: Rows of the pairs that were asked before, and the answers: 1, 0, or -1 for none.
    """
    rows = links.pairs.tolist()
    is_open = np.array([tuple(pair) not in asked for pair in rows], bool)
    if not is_open.any():
        return None
    answers = np.array([asked.get(tuple(pair), -1) for pair in rows])
    rare = _rare_kind(links.probabilities, answers, is_open)
    if rare is not None:
        return rare
    draw = np.random.default_rng((0, len(asked)))
    # Ties are broken at random: many pairs agree in the same way.
    noise = 1e-6 * draw.random(len(is_open))
    certainty = np.abs(links.probabilities - 0.5) + noise
    if len(asked) % _EVERY == _EVERY - 1:
        is_probable = is_open & (links.probabilities >= _MIN_PROBABLE)
        if is_probable.any():
            return int(draw.choice(np.flatnonzero(is_probable)))
    certainty[~is_open] = np.inf
    return int(np.argmin(certainty))


def _rare_kind(probabilities: Array, answers: NDArray[np.integer], is_open: Flags) -> int | None:
    """Returns a pair that may have the rarer answer, or `None` if both answers are frequent.

    Args:
        probabilities: Probabilities of the pairs.
        answers: 1, 0, or -1 for a pair without an answer.
        is_open: Pairs that were not asked about.
    """
    num_answers = (answers >= 0).sum()
    num_yes = (answers == 1).sum()
    least = _MIN_KIND * num_answers
    if num_answers < _MIN_ANSWERS or least <= num_yes <= num_answers - least:
        return None
    # Most were matches: a less probable pair is needed; or the other way round.
    sign = 1 if num_yes < least else -1
    scores = sign * probabilities
    limit = scores[answers >= 0].max()
    beyond = np.flatnonzero(is_open & (scores > limit))
    if not len(beyond):
        return None
    # Halfway to the surest pair, so that few questions suffice.
    order = beyond[np.argsort(scores[beyond], kind="stable")]
    return int(order[len(order) // 2])
