"""Scoring an embedder on sets of pairs with human scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from research.paper_numbers import PaperScores
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.evaluation.bootstrap import bootstrap, interval
from tf_charagram.evaluation.correlation import hundredfold, pearson, spearman
from tf_charagram.evaluation.means import mean_members, mean_scores
from tf_charagram.evaluation.set_score import SetScore

__all__ = [
    "Embed", "SetScore", "score_all", "score_cosines", "score_names", "score_sets", "set_cosines",
]  # fmt: skip

# Unit-length rows: an array, or SciPy's CSR matrix.
Embed = Callable[[Sequence[str]], Any]

# Texts whose vectors are in memory at once, about: 240 MB in 300 dimensions.
_MAX_TEXTS = 200_000
_CHUNK = 10_000


def score_sets(
    embed: Embed,
    sets: Iterable[ScoredPairs],
    *,
    paper: PaperScores | None = None,
    num_resamples: int = 0,
    seed: int = 0,
) -> list[SetScore]:
    """Scores sets: the cosine of each pair against the human score.

    A pair with a zero vector has cosine 0. Each text is embedded once, though many sets share it.

    Args:
        embed: Maps texts to unit-length (or zero) vectors `(num_texts, dim)`.
        sets: The sets.
        paper: What a paper reports for the encoder, if one has it: see `paper_scores`.
        num_resamples: Bootstrap resamples for intervals; 0 for none.
        seed: Seed of the resamples; those of a set also depend on its name, not on other sets.

    Returns:
        A score for each set, in order, followed by the means of `mean_scores`; all rounded.
    """
    sets = list(sets)
    cosines = set_cosines(embed, sets)
    return score_all(sets, cosines, paper=paper, num_resamples=num_resamples, seed=seed)


def score_all(
    sets: Sequence[ScoredPairs],
    cosines: Iterable[np.ndarray],
    *,
    paper: PaperScores | None = None,
    num_resamples: int = 0,
    seed: int = 0,
) -> list[SetScore]:
    """Scores sets by the cosines of their pairs, `(num_pairs,)` each; else as `score_sets`."""
    scores = [
        score_cosines(pairs, of_set, paper=paper, num_resamples=num_resamples, seed=seed)
        for pairs, of_set in zip(sets, cosines, strict=True)
    ]
    return [score.rounded() for score in [*scores, *mean_scores(sets, scores, paper)]]


def score_names(sets: Iterable[ScoredPairs], paper: PaperScores | None = None) -> list[str]:
    """Returns the names of the scores that `score_sets` gives, in order."""
    sets = list(sets)
    return [*(pairs.name for pairs in sets), *mean_members(sets, paper)]


def score_cosines(
    pairs: ScoredPairs,
    cosines: np.ndarray,
    *,
    paper: PaperScores | None = None,
    num_resamples: int = 0,
    seed: int = 0,
) -> SetScore:
    """Scores one set by the cosines `(num_pairs,)` of its pairs; not rounded."""
    draws = None
    if num_resamples:
        draws = 100 * bootstrap(
            cosines, pairs.scores, metric=pairs.metric,
            num_resamples=num_resamples, seed=seed, name=pairs.name,
        )  # fmt: skip
    return SetScore(
        name=pairs.name,
        num_pairs=len(pairs),
        spearman=hundredfold(spearman(cosines, pairs.scores)),
        pearson=hundredfold(pearson(cosines, pairs.scores)),
        paper=paper.scores.get(pairs.name) if paper else None,
        paper_source=paper.source if paper else None,
        metric=pairs.metric,
        num_unscored=pairs.num_unscored,
        interval=None if draws is None else interval(draws),
        draws=draws,
    )


def set_cosines(embed: Embed, sets: Sequence[ScoredPairs]) -> Iterator[np.ndarray]:
    """Yields the cosines of the pairs of each set, `(num_pairs,)`; `embed` as for `score_sets`."""
    for batch, rows in _batches(sets):
        vectors = embed(list(rows))
        for pairs in batch:
            yield _cosines(vectors, rows, pairs)


def _batches(
    sets: Sequence[ScoredPairs],
) -> Iterator[tuple[list[ScoredPairs], dict[str, int]]]:
    """Yields sets whose texts fit into memory together, and the row of each of these texts."""
    batch: list[ScoredPairs] = []
    rows: dict[str, int] = {}
    for pairs in sets:
        if batch and len(rows) + 2 * len(pairs) > _MAX_TEXTS:
            yield batch, rows
            batch, rows = [], {}
        batch.append(pairs)
        for text in (*pairs.left, *pairs.right):
            rows.setdefault(text, len(rows))
    if batch:
        yield batch, rows


def _cosines(vectors: Any, rows: dict[str, int], pairs: ScoredPairs) -> np.ndarray:
    left, right = (np.array([rows[text] for text in side]) for side in (pairs.left, pairs.right))
    starts = range(0, len(pairs), _CHUNK)
    parts = ((left[start : start + _CHUNK], right[start : start + _CHUNK]) for start in starts)
    return np.concatenate([_row_products(vectors[a], vectors[b]) for a, b in parts])


def _row_products(left: Any, right: Any) -> np.ndarray:
    if scipy.sparse.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1)).reshape(-1)
    return np.sum(left * right, axis=1)
