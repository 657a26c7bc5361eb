"""Rows as a whole: their cells joined by spaces, and their other partners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.flat_arrays import Floats, Ids, numbered, paired, stable_order
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.scoring import TextScorer


def joined_cells(table: Sequence[Sequence[str]]) -> list[str]:
    """Joins the cells of each row by spaces.

    Args:
        table: The cells of each column.
    """
    return [" ".join(filter(None, cells)) for cells in zip(*table, strict=True)]


class RowTexts:
    """Rows of one or two tables as texts: their cells joined by spaces.

    Args:
        columns: The columns.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
    """

    def __init__(self, columns: Sequence[Column], model: str | Path | Embedder | None) -> None:
        self.left = joined_cells([column.left_cells for column in columns])
        self.right = joined_cells([column.right_cells for column in columns])
        self._scorer = TextScorer([*self.left, *self.right], model)

    def features(self, pairs: Ids) -> Floats:
        """Returns the similarities of pairs of rows, and how they share codes, float32 `(n, 11)`.

        The last feature is 1.
        """
        return self._compare(pairs, self._scorer.pair_features)

    def scores(self, pairs: Ids) -> Floats:
        """Returns the scores of pairs of rows, float32 `(num_pairs,)`, from 0 to 1."""
        return self._compare(pairs, self._scorer.pair_scores)

    def _compare(self, pairs: Ids, compare: Callable[[Texts, Texts, Ids], Floats]) -> Floats:
        """Compares pairs of rows; only the rows of the pairs are prepared."""
        order = stable_order(pairs[:, 0])
        sides = []
        places = []
        for texts, rows in zip((self.left, self.right), pairs[order].T, strict=True):
            own_rows, own = numbered(rows)
            sides.append(self._scorer.prepare([texts[row] for row in own_rows.tolist()]))
            places.append(own)
        left, right = sides
        found = compare(left, right, paired(*places))
        result = np.empty_like(found)
        result[order] = found
        return result


class Rivals:
    """The best other partner of each row: a row hardly has two partners that differ.

    Args:
        rows: Rows of candidate pairs.
        partners: Numbers of the texts of their partners; equal texts are no rivals.
        scores: Similarities of the pairs.
        num_rows: Number of rows.
    """

    def __init__(
        self, rows: Ids, partners: Ids, scores: NDArray[np.floating], num_rows: int
    ) -> None:
        # Of the same type, or the best score would not be equal to itself.
        self._best = np.zeros(num_rows, scores.dtype)
        np.maximum.at(self._best, rows, scores)
        is_best = scores == self._best[rows]
        self._partners = np.full(num_rows, -1, np.int64)
        self._partners[rows[is_best]] = partners[is_best]
        is_other = partners != self._partners[rows]
        self._second = np.zeros(num_rows, scores.dtype)
        np.maximum.at(self._second, rows[is_other], scores[is_other])

    def scores(self, rows: Ids, partners: Ids) -> NDArray[np.floating]:
        """Returns the largest similarity of each row to another partner, `(num_pairs,)`."""
        is_best = partners == self._partners[rows]
        return np.where(is_best, self._second[rows], self._best[rows])


class PairRivals:
    """The rivals of both rows of pairs.

    Args:
        texts: The number of the text of each left row, and of each right row.
        pairs: Candidate pairs of rows, `(num_pairs, 2)`.
        scores: Their similarities, from 0 to 1.
        is_one_table: Whether both rows are of the same table.
    """

    def __init__(
        self,
        texts: tuple[Ids, Ids],
        pairs: Ids,
        scores: NDArray[np.floating],
        *,
        is_one_table: bool,
    ) -> None:
        self._left_texts, self._right_texts = texts
        if is_one_table:
            # Each pair is there once, and counts for both rows. Copies of a row are no rivals.
            left, right = pairs.T
            is_other = self._left_texts[left] != self._right_texts[right]
            pairs, scores = pairs[is_other], scores[is_other]
            pairs = np.concatenate([pairs, pairs[:, ::-1]])
            scores = np.concatenate([scores, scores])
        left, right = pairs.T
        self._left = Rivals(left, self._right_texts[right], scores, len(self._left_texts))
        # Rows of one table are on both sides.
        self._right = self._left
        if not is_one_table:
            self._right = Rivals(right, self._left_texts[left], scores, len(self._right_texts))

    def scores(self, pairs: Ids) -> NDArray[np.floating]:
        """Returns the similarity of each row to its best other partner, `(num_pairs, 2)`."""
        left, right = pairs.T
        of_left = self._left.scores(left, self._right_texts[right])
        of_right = self._right.scores(right, self._left_texts[left])
        return paired(of_left, of_right)
