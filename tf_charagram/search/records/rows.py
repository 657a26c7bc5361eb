"""Rows as a whole: the features of `TextScorer` for the cells of a row, joined by spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tf_charagram.reader.choice import Embedder
from tf_charagram.search.records.columns import Column
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.similarities import Texts


class RowTexts:
    """Rows of one or two tables as texts: their cells in some columns, joined by spaces.

    Args:
        columns: The columns.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
    """

    def __init__(self, columns: Sequence[Column], model: str | Path | Embedder | None) -> None:
        self._left_texts = _joined([column.left_cells for column in columns])
        self._right_texts = _joined([column.right_cells for column in columns])
        self._scorer = TextScorer([*self._left_texts, *self._right_texts], model)

    def features(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """Returns the similarities of pairs of rows, and how they share codes, float32 `(n, 11)`.

        The last feature is 1.
        """
        return self._compare(pairs, self._scorer.pair_features)

    def scores(self, pairs: NDArray[np.int64]) -> NDArray[np.float32]:
        """Returns the scores of pairs of rows, float32 `(num_pairs,)`, from 0 to 1."""
        return self._compare(pairs, self._scorer.pair_scores)

    def _compare(
        self,
        pairs: NDArray[np.int64],
        compare: Callable[[Texts, Texts, NDArray[np.integer]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """Compares pairs of rows; only the rows of the pairs are prepared."""
        order = np.argsort(pairs[:, 0], kind="stable")
        left_rows, left = np.unique(pairs[order, 0], return_inverse=True)
        right_rows, right = np.unique(pairs[order, 1], return_inverse=True)
        left_texts = self._scorer.prepare([self._left_texts[row] for row in left_rows.tolist()])
        right_texts = self._scorer.prepare([self._right_texts[row] for row in right_rows.tolist()])
        found = compare(left_texts, right_texts, np.stack([left, right], axis=1))
        result = np.empty_like(found)
        result[order] = found
        return result


def _joined(table: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(filter(None, cells)) for cells in zip(*table, strict=True)]
