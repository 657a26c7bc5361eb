"""Scores by the length of the texts (Charagram, table 7; Universal, table 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from research.analysis.pairs import MIN_PAIRS, judge, scores_of
from research.analysis.table import Table
from research.analysis.words import words_of
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.scores import Embed

#: Upper ends of the bins of Charagram, table 7; the last bin has all longer texts.
CHARAGRAM_BINS = (4, 5, 6, 7, 8, 9, 10, 15, 20)
#: Upper ends of the bins of Universal, table 7.
UNIVERSAL_BINS = (4, 5, 6, 7, 8, 9)


def scores_by_length(
    models: Mapping[str, Embed],
    sets: Sequence[ScoredPairs],
    bins: Sequence[int] = CHARAGRAM_BINS,
) -> Table:
    """Scores models on pairs by the number of words in the longer text, over all sets together.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`.
        sets: The sets, whose scores share a scale.
        bins: Upper ends of the bins, increasing; a last bin has all longer texts.

    Returns:
        Columns: words, pairs, and Pearson x 100 of each model. A bin of fewer than 10 pairs has
        no score.

    Raises:
        ConfigError: The bins do not increase, or there is no set.
    """
    if not bins or bins[0] < 1 or any(np.diff(bins) <= 0):
        raise ConfigError(f"`bins` must increase and be at least 1. Received: bins={list(bins)}")
    judged = judge(models, sets)
    lengths = np.array(
        [
            max(len(left), len(right))
            for left, right in zip(words_of(judged.left), words_of(judged.right), strict=True)
        ]
    )
    # Texts of control characters have no words.
    lows = [-1, *bins]
    rows, few = [], []
    for low, high in zip(lows, [*bins, None], strict=True):
        chosen = (lengths > low) & (lengths <= (np.inf if high is None else high))
        rows.append((_label(low, high), int(chosen.sum()), *scores_of(judged, chosen)))
        if chosen.sum() < MIN_PAIRS:
            few.append(_label(low, high))
    notes = (f"Fewer than {MIN_PAIRS} pairs: {', '.join(few)} words.",) if few else ()
    return Table(
        "Scores by the number of words in the longer text, Pearson x 100",
        ("words", "pairs", *models), tuple(rows), notes,
    )  # fmt: skip


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f">= {low + 1}"
    if low < 0:
        return f"<= {high}"
    return str(high) if high == low + 1 else f"{low + 1}-{high}"
