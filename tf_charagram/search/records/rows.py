"""Rows as a whole: their cells joined by spaces, their common words, and their other partners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.records.columns import Column
from tf_charagram.search.records.values import folded
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.similarities import Texts

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
# Pairs whose words are compared at the same time.
_BATCH = 50_000


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

    def __init__(self, columns: Sequence[Column], model: str | Path | TextEmbedder | None) -> None:
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
        order = np.argsort(pairs[:, 0], kind="stable")
        left_rows, left = np.unique(pairs[order, 0], return_inverse=True)
        right_rows, right = np.unique(pairs[order, 1], return_inverse=True)
        left_texts = self._scorer.prepare([self.left[row] for row in left_rows.tolist()])
        right_texts = self._scorer.prepare([self.right[row] for row in right_rows.tolist()])
        found = compare(left_texts, right_texts, np.stack([left, right], axis=1))
        result = np.empty_like(found)
        result[order] = found
        return result


class SharedWords:
    """Compares texts by the words that both have.

    Args:
        texts: Texts. Pairs name them by their positions; position -1 is an empty text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        bags = [folded(text).split() for text in texts]
        bags.append([])
        ids: dict[str, int] = {}
        columns: list[int] = []
        sizes = []
        for bag in bags:
            distinct = dict.fromkeys(bag)
            columns.extend(ids.setdefault(word, len(ids)) for word in distinct)
            sizes.append(len(distinct))
        # Words can be told from each other even if no text has any.
        num_words = max(len(ids), 1)
        starts = np.append(0, np.cumsum(sizes))
        self._words = sparse.csr_array(
            (np.ones(len(columns), np.float32), np.array(columns, np.int64), starts),
            (len(bags), num_words),
        )
        counts = np.bincount(columns, minlength=num_words)
        idf = np.log1p(len(bags) / np.maximum(counts, 1))
        # The rarest word of all weighs 1.
        self._weights = (idf / np.log1p(len(bags))).astype(np.float32)
        is_number = [any(map(str.isdigit, word)) for word in ids]
        self._is_number = np.zeros(num_words, np.float32)
        self._is_number[: len(ids)] = is_number
        self._totals = self._words @ self._weights
        self._num_numbers = self._words @ self._is_number
        # Texts without words differ from all others.
        first_words = [ids[bag[0]] if bag else -1 for bag in bags]
        self._first = np.array(first_words, np.int64)

    def features(self, left: Ids, right: Ids) -> Floats:
        """Compares pairs of texts, float32 `(num_pairs, 5)`.

        The common words over all words, by weight; the weight of the rarest common word; the
        common numbers over the fewer numbers; whether both have numbers of their own; and whether
        the first words are equal. Products of the same brand have different numbers.
        """
        blocks = [np.zeros((0, 5), np.float32)]
        for start in range(0, len(left), _BATCH):
            block = slice(start, start + _BATCH)
            blocks.append(self._block(left[block], right[block]))
        return np.concatenate(blocks)

    def _block(self, left: Ids, right: Ids) -> Floats:
        common = self._words[left].multiply(self._words[right]).tocsr()
        shared = common @ self._weights
        either = self._totals[left] + self._totals[right] - shared
        rarest = common.multiply(self._weights[np.newaxis]).max(axis=1).toarray()
        num_shared = common @ self._is_number
        fewer = np.minimum(self._num_numbers[left], self._num_numbers[right])
        has_others = fewer > num_shared
        has_first = (self._first[left] == self._first[right]) & (self._first[left] >= 0)
        features = [
            shared / np.maximum(either, 1e-6),
            rarest.ravel(),
            num_shared / np.maximum(fewer, 1),
            has_others,
            has_first,
        ]
        return np.stack(features, axis=1).astype(np.float32)


class Rivals:
    """The best other partner of each row: a row hardly has two partners that differ.

    Args:
        rows: Rows of candidate pairs.
        partners: Numbers of the texts of their partners; equal texts are no rivals.
        scores: Similarities of the pairs.
        num_rows: Number of rows.
    """

    def __init__(self, rows: Ids, partners: Ids, scores: Floats, num_rows: int) -> None:
        self._best = np.zeros(num_rows, np.float32)
        np.maximum.at(self._best, rows, scores)
        is_best = scores == self._best[rows]
        self._partners = np.full(num_rows, -1, np.int64)
        self._partners[rows[is_best]] = partners[is_best]
        is_other = partners != self._partners[rows]
        self._second = np.zeros(num_rows, np.float32)
        np.maximum.at(self._second, rows[is_other], scores[is_other])

    def scores(self, rows: Ids, partners: Ids) -> Floats:
        """Returns the largest similarity of each row to another partner, float32 `(num_pairs,)`."""
        is_best = partners == self._partners[rows]
        return np.where(is_best, self._second[rows], self._best[rows])
