"""The pairs that two models judge most differently (CSE, table 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from research.analysis.pairs import judge
from research.analysis.table import Table
from research.pair_scores import on_scale
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.scores import Embed


def disagreements(models: Mapping[str, Embed], sets: Sequence[ScoredPairs], k: int = 20) -> Table:
    """Finds the pairs whose scores by two models are furthest apart.

    Cosines of each model are mapped to the scale of the human scores, over all sets together.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`; two of them.
        sets: Sets whose scores share the scale of the first set, by default 0 to 5.
        k: Number of pairs shown, largest disagreement first.

    Returns:
        Columns: set, texts, the score of each model, the human score, and the nearer model.

    Raises:
        ConfigError: There are not two models, there is no set, or `k` is below 1.
    """
    if len(models) != 2 or k < 1:
        raise ConfigError(
            f"Disagreements need 2 models and k of at least 1. Received: {len(models)} models, "
            f"k={k}"
        )
    judged = judge(models, sets)
    low, high = sets[0].scale or (0.0, 5.0)
    (first, one), (second, other) = (
        (name, on_scale(cosines, low, high)) for name, cosines in judged.cosines.items()
    )
    rows = []
    for index in np.argsort(-np.abs(one - other), kind="stable")[:k]:
        errors = abs(one[index] - judged.gold[index]), abs(other[index] - judged.gold[index])
        nearer = first if errors[0] < errors[1] else second
        scores = (round(float(value[index]), 2) for value in (one, other, judged.gold))
        rows.append((judged.sets[index], judged.left[index], judged.right[index], *scores, nearer))
    columns = ("set", "first text", "second text", first, second, "people", "nearer")
    title = f"Pairs two models judge most differently, {low:g} to {high:g}"
    return Table(title, columns, tuple(rows))
