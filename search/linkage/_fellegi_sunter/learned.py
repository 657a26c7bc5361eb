"""Learns the weights of columns, and of the rows as a whole, from labelled pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.flat_arrays import Array, Flags, Ids
from tf_charagram.search._pairs.learning import (
    covariance_of,
    fit_weights,
    held_out_probabilities,
)
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.shared_words import SharedWords
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, Agreement, compare_columns
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals, RowTexts
from tf_charagram.text._algorithm.arguments import distinct

# The L2 penalty of the regression is for larger features than shares. Chosen on pairs of products,
# papers and beers with 300 labels.
_FEATURE_SCALE = 3.0
# The log-odds without labels, as a feature: their limit, and their scale.
_MAX_LOG_ODDS = 10
_LOG_ODDS_SCALE = 0.2
_MIN_SIMILARITY = 0.002
# The weight of that feature without labels.
_PLAIN_WEIGHT = 1 / (_FEATURE_SCALE * _LOG_ODDS_SCALE)


class LearnedWeights(NamedTuple):
    """What labels taught.

    Attributes:
        weights: Weights of the features, `(num_features,)`.
        covariance: Covariance of the errors of the weights, `(num_features, num_features)`.
        means: Means of the features of the labelled pairs, `(num_features,)`.
        limits: The lowest and the highest log-odds without labels of the labelled pairs, `(2,)`.
    """

    weights: Array
    covariance: Array
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
        plain: Callable[[Ids, Sequence[Agreement]], Array],
        pairs: Ids,
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
        _, texts = distinct(all_texts)
        left_texts, right_texts = np.split(texts, [self._num_left])
        scores = self._rows.scores(pairs)
        is_one_table = columns[0].is_one_table
        self._rivals = PairRivals(
            (left_texts, right_texts), pairs, scores, is_one_table=is_one_table
        )
        self.fitted = LearnedWeights(np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.zeros(2))

    def learn(self, pairs: Ids, is_match: Flags) -> Array:
        """Learns the weights; returns held-out probabilities.

        Args:
            pairs: Rows of both tables, `(num_pairs, 2)`.
            is_match: Whether they match, `(num_pairs,)`.
        """
        features = np.concatenate(self._blocks(pairs), axis=1)
        self.fitted = _fitted(features, is_match)

        def log_odds(used: Flags) -> Array:
            return _log_odds(features, _fitted(features[used], is_match[used]))

        return held_out_probabilities(len(pairs), log_odds)

    def log_odds(self, pairs: Ids) -> Array:
        """Returns the log-odds of matches, `(num_pairs,)`."""
        return _log_odds(np.concatenate(self._blocks(pairs), axis=1), self.fitted)

    def evidence(self, pair: Ids) -> tuple[float, Array]:
        """Splits the log-odds of a pair.

        Args:
            pair: A row of each table, `(1, 2)`.

        Returns:
            The weight of the evidence without labels, and the learned evidence of each column,
            compared to the mean of the labelled pairs, `(num_columns,)`.
        """
        blocks = self._blocks(pair)
        features = np.concatenate(blocks, axis=1)
        stops = np.cumsum([block.shape[1] for block in blocks])
        weights = self.fitted.weights
        [reliability] = _reliability(features, self.fitted)
        changes = reliability * (features[0] - self.fitted.means) * weights
        parts = np.split(changes, stops[:-1])
        share = 1 + reliability * (weights[0] / _PLAIN_WEIGHT - 1)
        return float(share), np.array([part.sum() for part in parts[1:-1]])

    def _blocks(self, pairs: Ids) -> list[Array]:
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

    def _column_features(self, number: int, agreement: Agreement, pairs: Ids) -> Array:
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

    def _row_features(self, pairs: Ids) -> Array:
        left, right = pairs.T
        words = self._row_words.features(left, right + self._num_left)
        rivals = self._rivals.scores(pairs)
        return np.concatenate([words, rivals, self._rows.features(pairs)], axis=1)


def _fitted(features: Array, is_match: Flags) -> LearnedWeights:
    """Fits the weights to labelled pairs."""
    prior = np.zeros(features.shape[1])
    # Few labels change the answer without labels little.
    prior[0] = _PLAIN_WEIGHT
    weights = fit_weights(features, is_match, prior)
    plain = features[:, 0] * _PLAIN_WEIGHT
    limits = np.array([plain.min(), plain.max()])
    covariance = covariance_of(features, weights)
    return LearnedWeights(weights, covariance, features.mean(axis=0), limits)


def _log_odds(features: Array, fitted: LearnedWeights) -> Array:
    """Adds the reliable part of what labels taught to the log-odds without labels."""
    plain = features[:, 0] * _PLAIN_WEIGHT
    changes = features @ fitted.weights - plain
    return plain + _reliability(features, fitted) * changes


def _reliability(features: Array, fitted: LearnedWeights) -> Array:
    """Returns the share of each learned change that is more than its error, `(num_pairs,)`.

    Labels of uncertain pairs tell nothing about pairs that are surer than all of them: their
    log-odds stay those without labels.
    """
    plain = features[:, 0] * _PLAIN_WEIGHT
    lowest, highest = fitted.limits
    is_known = (plain >= lowest) & (plain <= highest)
    squares = (features @ fitted.weights - plain) ** 2
    variances = ((features @ fitted.covariance) * features).sum(axis=1)
    return np.where(is_known, squares / (squares + variances), 0)
