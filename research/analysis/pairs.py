"""Cosines of the pooled pairs of evaluation sets, next to the human scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.scores import Embed
from tf_charagram.evaluation._scores.statistics import pearson

Floats = NDArray[np.float64]
#: Minimum number of pairs for a correlation.
MIN_PAIRS = 10


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Pairs of several sets, with human scores and the cosines of models.

    Attributes:
        sets: Name of the set of each pair.
        left: First text of each pair.
        right: Second text of each pair.
        gold: Human scores `(num_pairs,)`.
        cosines: Model -> `(num_pairs,)`.
    """

    sets: list[str]
    left: list[str]
    right: list[str]
    gold: Floats
    cosines: dict[str, Floats]

    def __len__(self) -> int:
        return len(self.left)


def without_other_scales(sets: Sequence[ScoredPairs]) -> list[ScoredPairs]:
    """Returns the sets of STS, whose scores are all from 0 to 5."""
    return [pairs for pairs in sets if (pairs.group or "").startswith("STS")]


def judge(models: Mapping[str, Embed], sets: Sequence[ScoredPairs]) -> JudgedPairs:
    """Embeds the pairs of sets with models.

    Args:
        models: Name -> function to unit-length (or zero) vectors, `(num_texts, dim)`.
        sets: The sets, whose scores share a scale.

    Raises:
        ConfigError: There is no set.
    """
    if not sets:
        raise ConfigError("There is no set of scored sentences to analyze.")
    left = [text for pairs in sets for text in pairs.left]
    right = [text for pairs in sets for text in pairs.right]
    cosines = {
        name: np.einsum("ij,ij->i", embed(left), embed(right)).astype(np.float64)
        for name, embed in models.items()
    }
    names = [pairs.name for pairs in sets for _ in range(len(pairs))]
    return JudgedPairs(
        names, left, right, np.concatenate([pairs.scores for pairs in sets]), cosines
    )


def scores_of(judged: JudgedPairs, chosen: NDArray[np.bool_]) -> list[float | None]:
    """Returns Pearson's r x 100 of each model over some pairs; `None` for too few pairs."""
    if chosen.sum() < MIN_PAIRS:
        return [None for _ in judged.cosines]
    values = [pearson(cosines[chosen], judged.gold[chosen]) for cosines in judged.cosines.values()]
    return [None if value is None else round(100 * value, 2) for value in values]
