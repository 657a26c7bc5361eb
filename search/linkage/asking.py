"""Chooses the pairs of rows whose labels teach most."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tf_charagram.search.linkage.linking import Links

# Odd questions are about the most uncertain pair, every so many a random one of those that seem to
# match: uncertain pairs alone would not tell how frequent matches are.
_EVERY = 4
_MIN_PROBABLE = 0.5


def next_pair(links: Links, asked: Collection[tuple[int, int]], seed: int = 0) -> int | None:
    """Returns the index of the next pair to ask about, or `None` if all were asked.

    Args:
        links: Candidates with probabilities.
        asked: Rows of the pairs that were asked before.
        seed: Seed of the draws among equally uncertain pairs.
    """
    is_open = np.array([tuple(pair) not in asked for pair in links.pairs.tolist()], bool)
    if not is_open.any():
        return None
    draw = np.random.default_rng((seed, len(asked)))
    # Ties are broken at random: many pairs agree in the same way.
    noise = 1e-6 * draw.random(len(is_open))
    certainty = np.abs(links.probabilities - 0.5) + noise
    if len(asked) % _EVERY == _EVERY - 1:
        is_probable = is_open & (links.probabilities >= _MIN_PROBABLE)
        if is_probable.any():
            return int(draw.choice(np.flatnonzero(is_probable)))
    certainty[~is_open] = np.inf
    return int(np.argmin(certainty))
