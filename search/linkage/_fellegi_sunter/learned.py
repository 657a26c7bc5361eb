"""Learns the weights of columns, and of the rows as a whole, from labelled pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.learning import learn_weights
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.shared_words import SharedWords
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, Agreement, compare_columns
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals, RowTexts

Array = NDArray[np.float64]
# The L2 penalty of the regression is for larger features than shares. Chosen on pairs of products,
# papers and beers with 300 labels.
_FEATURE_SCALE = 3.0
# The log-odds without labels, as a feature: their limit, and their scale.
_MAX_LOG_ODDS = 10
_LOG_ODDS_SCALE = 0.2
_MIN_SIMILARITY = 0.002


class LearnedWeights(NamedTuple):
    """What labels taught.

    Attributes:
        weights: Weights of the features, `(num_features,)`.
        means: Means of the features of the labelled pairs, `(num_features,)`.
        limits: The lowest and the highest log-odds without labels of the labelled pairs, `(2,)`.
    """

    weights: Array
    means: Array
    limits: Array


class LearnedLinks:
    """A logistic regression over the columns and the rows as a whole.

    Args:
        columns: The columns of one or two tables.
        plain: Returns the log-odds of pairs without labels, from their rows and agreements.
        pairs: Candidate pairs of rows, `(num_pairs, 2)`, among which each pair has rivals.
        model: The model that compares the rows as a whole, or `None` to compare letters only.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        plain: Callable[[NDArray[np.int64], Sequence[Agreement]], Array],
        pairs: NDArray[np.int64],
        model: str | Path | Embedder | None,
    ) -> None:
        self._columns = columns
        self._plain = plain
        self._rows = RowTexts(columns, model)
        all_texts = [*self._rows.left, *self._rows.right]
        self._num_left = len(self._rows.left)
        self._row_words = SharedWords(all_texts)
        # Words of columns that have words; of a single column, these are the words of the row.
        self._words: dict[int, SharedWords] = {}
        if len(columns) > 1:
            for number, column in enumerate(columns):
                if column.kind.name in ("name", "text"):
                    self._words[number] = SharedWords(column.values)
        numbers: dict[str, int] = {}
        texts = [numbers.setdefault(text, len(numbers)) for text in all_texts]
        left_texts, right_texts = np.split(np.array(texts), [self._num_left])
        scores = self._rows.scores(pairs)
        is_one_table = columns[0].is_one_table
        self._rivals = PairRivals(
            (left_texts, right_texts), pairs, scores, is_one_table=is_one_table
        )
        self.fitted = LearnedWeights(np.zeros(0), np.zeros(0), np.zeros(2))

    def learn(
        self, pairs: NDArray[np.int64], is_match: NDArray[np.bool_], others: NDArray[np.int64]
    ) -> Array:
        """Learns the weights; returns held-out probabilities.

        Args:
            pairs: Rows of both tables, `(num_pairs, 2)`.
            is_match: Whether they match, `(num_pairs,)`.
            others: Rows of pairs without labels that do not match, `(num_others, 2)`.
        """
        features = np.concatenate(self._blocks(pairs), axis=1)
        of_others = np.concatenate(self._blocks(others), axis=1)
        prior = np.zeros(features.shape[1])
        # Few labels change the answer without labels little.
        prior[0] = 1 / (_FEATURE_SCALE * _LOG_ODDS_SCALE)
        weights, held_out = learn_weights(features, is_match, prior, of_others)
        plain = features[:, 0] / (_FEATURE_SCALE * _LOG_ODDS_SCALE)
        limits = np.array([plain.min(), plain.max()])
        self.fitted = LearnedWeights(weights, features.mean(axis=0), limits)
        return held_out

    def log_odds(self, pairs: NDArray[np.int64]) -> Array:
        """Returns the log-odds of matches, `(num_pairs,)`.

        Labels of uncertain pairs tell nothing about pairs that are surer than all of them: their
        log-odds are those without labels.
        """
        features = np.concatenate(self._blocks(pairs), axis=1)
        plain = features[:, 0] / (_FEATURE_SCALE * _LOG_ODDS_SCALE)
        lowest, highest = self.fitted.limits
        is_known = (plain >= lowest) & (plain <= highest)
        return np.where(is_known, features @ self.fitted.weights, plain)

    def evidence(self, pair: NDArray[np.int64]) -> tuple[float, Array]:
        """Splits the log-odds of a pair.

        Args:
            pair: A row of each table, `(1, 2)`.

        Returns:
            The weight of the evidence without labels, and the learned evidence of each column,
            compared to the mean of the labelled pairs, `(num_columns,)`.
        """
        blocks = self._blocks(pair)
        stops = np.cumsum([block.shape[1] for block in blocks])
        weights, means, _ = self.fitted
        changes = (np.concatenate(blocks, axis=1)[0] - means) * weights
        parts = np.split(changes, stops[:-1])
        share = weights[0] * _FEATURE_SCALE * _LOG_ODDS_SCALE
        return float(share), np.array([part.sum() for part in parts[1:-1]])

    def _blocks(self, pairs: NDArray[np.int64]) -> list[Array]:
        """Returns the features of pairs, each `(num_pairs, num_features)`.

        First the log-odds without labels, then each column, and the rows as a whole.
        """
        agreements = compare_columns(self._columns, pairs)
        log_odds = self._plain(pairs, agreements)
        bounded = np.clip(log_odds, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)
        blocks = [bounded[:, np.newaxis] * _LOG_ODDS_SCALE]
        for number, agreement in enumerate(agreements):
            blocks.append(self._column_features(number, agreement, pairs))
        blocks.append(self._row_features(pairs))
        return [_FEATURE_SCALE * block for block in blocks]

    def _column_features(
        self, number: int, agreement: Agreement, pairs: NDArray[np.int64]
    ) -> Array:
        """Returns the similarity, whether a value is missing, and the words of a column."""
        column = self._columns[number]
        is_absent = agreement.levels == ABSENT
        similarities = agreement.similarities
        if column.is_whole:
            # Probabilities are linear in the score of the texts on this scale only.
            bounded = np.clip(similarities, _MIN_SIMILARITY, 1 - _MIN_SIMILARITY)
            similarities = _LOG_ODDS_SCALE * logit(bounded)
        features = [np.stack([similarities, is_absent], axis=1)]
        if number in self._words:
            left = column.left[pairs[:, 0]]
            right = column.right[pairs[:, 1]]
            features.append(self._words[number].features(left, right))
        return np.concatenate(features, axis=1)

    def _row_features(self, pairs: NDArray[np.int64]) -> Array:
        left, right = pairs.T
        words = self._row_words.features(left, right + self._num_left)
        rivals = self._rivals.scores(pairs)
        return np.concatenate([words, rivals, self._rows.features(pairs)], axis=1)
