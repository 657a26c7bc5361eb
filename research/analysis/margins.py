"""Margins between training pairs and their negatives (Universal, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from research.analysis.table import Cell, Table
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.scores import Embed

_BATCH = 100


def training_margins(models: Mapping[str, Embed], pairs: Sequence[tuple[str, str]]) -> Table:
    """Computes 2 cos(g1, g2) - cos(n1, g1) - cos(n2, g2), averaged over pairs (footnote 21).

    As in training, negatives are the most similar texts of the other pairs of a random batch of
    100, except texts equal to one side. Batches are the same for all models.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`.
        pairs: Training pairs, at least 200.

    Returns:
        Rows, x 100: mean cosine of the pairs, of the negatives, and the paper's difference; a
        column per model.

    Raises:
        ConfigError: There are fewer than 200 pairs.
    """
    if len(pairs) < 2 * _BATCH:
        raise ConfigError(f"Margins need at least {2 * _BATCH} pairs. Received: {len(pairs)}")
    order = np.random.default_rng(0).permutation(len(pairs))
    batches = [order[i : i + _BATCH] for i in range(0, len(order) - _BATCH + 1, _BATCH)]
    columns = [
        np.mean([_batch(embed, [pairs[i] for i in batch]) for batch in batches], axis=0)
        for embed in models.values()
    ]
    labels = ("cosine of a pair", "cosine with a negative", "2 pair - 2 negative")
    rows: list[tuple[Cell, ...]] = [
        (label, *(float(round(100 * column[index], 2)) for column in columns))
        for index, label in enumerate(labels)
    ]
    title = f"Cosines x 100 of {len(batches) * _BATCH:,} training pairs and their negatives"
    return Table(title, ("what", *models), tuple(rows))


def _batch(embed: Embed, pairs: Sequence[tuple[str, str]]) -> tuple[float, float, float]:
    left, right = (list(side) for side in zip(*pairs, strict=True))
    vectors = embed([*left, *right])
    cosines = vectors @ vectors.T
    texts = np.array([*left, *right], object)
    partners = np.array([*right, *left], object)
    excluded = (texts[:, None] == texts[None, :]) | (partners[:, None] == texts[None, :])
    negatives = np.where(excluded, -np.inf, cosines).max(axis=1)
    # If all other texts are equal there is no negative, as in training.
    negative = (
        float(negatives[np.isfinite(negatives)].mean()) if np.isfinite(negatives).any() else 0
    )
    pair = float(np.mean(np.diag(cosines, k=len(left))))
    return pair, negative, 2 * (pair - negative)
