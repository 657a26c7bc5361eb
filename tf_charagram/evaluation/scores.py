"""Scoring an embedder on word similarity sets, and the papers' numbers to print beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tf_charagram.data.wordsim import ScoredPairs
from tf_charagram.evaluation.correlation import pearson, spearman

#: Spearman x 100 of the best charagram of the Charagram paper, tables 1 and 2 and section 4.1.3.
PAPER = {"SL999": 70.6, "WS353": 58.35, "RW": 47.1}

Embed = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class SetScore:
    """The score of one set; correlations x 100, `None` where they do not exist.

    Attributes:
        name: Name of the set.
        num_pairs: Pairs scored.
        spearman: Spearman's rho x 100.
        pearson: Pearson's r x 100.
        paper: The paper's best rho x 100, where there is one.
    """

    name: str
    num_pairs: int
    spearman: float | None
    pearson: float | None
    paper: float | None

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes as a dictionary."""
        return asdict(self)


def score_pairs(embed: Embed, pairs: ScoredPairs) -> SetScore:
    """Scores one set: the cosine of each pair against the human score.

    A pair with a zero vector has cosine 0.

    Args:
        embed: Texts to unit-length (or zero) vectors `(num_texts, dim)`.
        pairs: The set.
    """
    words = list(dict.fromkeys([*pairs.left, *pairs.right]))
    vectors = embed(words)
    index = {word: i for i, word in enumerate(words)}
    left, right = ([index[word] for word in side] for side in (pairs.left, pairs.right))
    cosines = np.sum(vectors[left] * vectors[right], axis=1)
    return SetScore(
        pairs.name,
        len(pairs.scores),
        _hundredfold(spearman(cosines, pairs.scores)),
        _hundredfold(pearson(cosines, pairs.scores)),
        PAPER.get(pairs.name),
    )


def score_sets(embed: Embed, sets: Iterable[ScoredPairs]) -> list[SetScore]:
    """Scores several sets."""
    return [score_pairs(embed, pairs) for pairs in sets]


def _hundredfold(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)
