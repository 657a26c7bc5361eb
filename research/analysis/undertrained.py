"""Rare training words as an explanation of low scores (Universal, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from research.analysis.table import Table
from research.analysis.words import words_of
from research.paper_numbers import PAPER_SETS
from research.paper_tables import paper_table
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.scores import Embed, score_sets
from tf_charagram.evaluation._scores.statistics import spearman

#: Pearson x 100 of the third quartile of the systems of each shared task (Universal, table 2).
THIRD_QUARTILE = {
    name: value
    for name, value in paper_table("universal-2").numbers("3rd quartile").items()
    if name in PAPER_SETS
}
#: A word with fewer occurrences is seldom seen.
SELDOM = 100


def scores_by_seldom_words(
    models: Mapping[str, Embed], sets: Sequence[ScoredPairs], counts: Mapping[str, int]
) -> Table:
    """Compares the share of words seldom seen in training with the score minus the third quartile.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`.
        sets: Sets of the shared tasks; others are left out.
        counts: Word -> its count in the training data.

    Returns:
        One row per set: the share of its words, in percent, and the difference of each model's
        Pearson x 100 from the third quartile; a last row has the rank correlation x 100 of both.

    Raises:
        ConfigError: No set has a known quartile, or nothing was counted.
    """
    known = [pairs for pairs in sets if pairs.name in THIRD_QUARTILE]
    if not known:
        raise ConfigError("No set of STS 2012 to 2015, SICK.test or Twitter is there to analyze.")
    if not counts:
        raise ConfigError("`counts` must have at least 1 word. Received: none")
    shares = np.array([_seldom_share(pairs, counts) for pairs in known])
    names = {pairs.name for pairs in known}
    above = []
    for embed in models.values():
        scores = {score.name: score.value for score in score_sets(embed, known)}
        above.append(
            [None if (value := scores[name.name]) is None else value - THIRD_QUARTILE[name.name]
             for name in known]
        )  # fmt: skip
    rows = [
        (pairs.name, len(pairs), 100 * float(share), *(column[row] for column in above))
        for row, (pairs, share) in enumerate(zip(known, shares, strict=True))
    ]
    correlations = [_correlation(shares, column) for column in above]
    rows.append((f"Spearman x 100 of the {len(names)} sets", None, None, *correlations))
    title = f"Words seen fewer than {SELDOM} times, and Pearson x 100 less the third quartile"
    return Table(title, ("set", "pairs", "seldom seen, %", *models), tuple(rows))


def _correlation(shares: np.ndarray, above: Sequence[float | None]) -> float | None:
    has_score = np.array([value is not None for value in above])
    values = np.array([value for value in above if value is not None])
    result = spearman(shares[has_score], values)
    return None if result is None else 100 * result


def _seldom_share(pairs: ScoredPairs, counts: Mapping[str, int]) -> float:
    words = [*chain.from_iterable(words_of([*pairs.left, *pairs.right]))]
    return float(np.mean([counts.get(word, 0) < SELDOM for word in words])) if words else 0.0
