"""Columns of long texts, and rows with a single text: compared as lists of texts are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tf_charagram.search.linkage._columns.kinds import Floats, alias_similarities
from tf_charagram.search.linkage._columns.names import LEGAL_ENDINGS
from tf_charagram.search.linkage._columns.shared_words import SharedWords, contradict, count_words
from tf_charagram.search.linkage._columns.values import folded
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.text._algorithm.arguments import distinct

#: Levels of agreement: similarities are probabilities.
CUTOFFS = (0.9, 0.7, 0.5, 0.2)
# Shorter texts, such as streets, are compared faster by their letters.
_MIN_WORDS = 4.0
# Logistic regression on labelled pairs of products, cameras, papers and beers, each with the same
# weight: of the score, of the rarest common word, and a constant. On company names, which it was
# not fitted to, F1 at 0.5 is within 2 points of the best threshold.
_SCORE = 7.3
_RAREST = 3.7
_CONSTANT = -7.2
# Log-odds of texts that contradict each other.
_CONTRADICTION = -3.0
# Pairs below these log-odds are no matches in any case.
_MIN_CHECKED = -2.0

#: Share of the log-odds by columns where rows as a whole are compared, too. Chosen on songs,
#: beers, and made-up papers, products, restaurants and cars, with the constant.
COLUMN_SHARE = 0.7
_ROW_CONSTANT = 0.3
_MAX_BY_COLUMNS = 8.0
_MIN_BY_COLUMNS = -14.0
_MAX_BY_ROWS = 4.0


def are_long(cells: Sequence[str]) -> bool:
    """Tells whether cells have at least four words on average."""
    num_words = sum(len(cell.split()) for cell in cells)
    return num_words >= _MIN_WORDS * len(cells)


def read_whole_text(text: str) -> str:
    """Returns a text without the legal form of a firm. Marks stay: C++ is not C."""
    words = text.casefold().split()
    while len(words) > 1 and folded(words[-1]) in LEGAL_ENDINGS:
        words.pop()
    return " ".join(words)


class CountedTexts(NamedTuple):
    """What `WholeTexts` counts.

    Attributes:
        statistics: Counts of words as lists of texts have them.
        words: Counts of words as columns have them.
    """

    statistics: TextStatistics
    words: dict[str, int]

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> CountedTexts:
        """Counts words in texts."""
        return cls(TextStatistics.of_texts(texts), count_words(texts))


class WholeTexts:
    """Compares texts by their score and their rarest common word.

    Args:
        values: The distinct texts.
        counted: Counts of words in other texts. Default: words are counted in `values`.
    """

    def __init__(self, values: Sequence[str], counted: CountedTexts | None = None) -> None:
        statistics, words = counted or (None, None)
        self._scorer = TextScorer(values, None, statistics=statistics)
        self._texts = self._scorer.prepare(values)
        self._words = SharedWords(values, words)

    def similarities(self, values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
        """Returns the probabilities that pairs of different texts match, float32 `(num_pairs,)`.

        Args:
            values: The distinct texts.
            pairs: Their positions, `(num_pairs, 2)`.
        """
        order = np.argsort(pairs[:, 0], kind="stable")
        scores = np.empty(len(pairs), np.float32)
        scores[order] = self._scorer.pair_scores(self._texts, self._texts, pairs[order])
        rarest = self._words.features(*pairs.T)[:, 1]
        log_odds = _SCORE * scores + _RAREST * rarest + _CONSTANT
        checked = np.flatnonzero(log_odds > _MIN_CHECKED)
        # A text is in many pairs.
        texts = {row: folded(values[row]) for row in {*pairs[checked].ravel().tolist()}}
        for pair in checked.tolist():
            left, right = pairs[pair].tolist()
            if contradict(texts[left], texts[right]):
                log_odds[pair] += _CONTRADICTION
        return np.maximum(expit(log_odds), alias_similarities(values, pairs)).astype(np.float32)


class WholeRows:
    """Rows of two tables as texts: the cells of each row, joined by spaces.

    Where titles tell things apart, the words of a row are surer evidence than a model that is
    fitted to the columns of a few rows.

    Args:
        left: The texts of the left rows.
        right: The texts of the right rows.

    Attributes:
        texts: The number of the text of each left row, and of each right row.
    """

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        rows = [read_whole_text(text) for text in (*left, *right)]
        self._values, text_of_row = distinct(rows)
        self._texts = WholeTexts(self._values)
        self.texts = text_of_row[: len(left)], text_of_row[len(left) :]

    def log_odds(
        self, by_columns: NDArray[np.float64], pairs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Returns the log-odds of pairs by their columns and by their rows, `(num_pairs,)`.

        Args:
            by_columns: The log-odds of the pairs by their columns.
            pairs: Rows of both tables, `(num_pairs, 2)`.
        """
        bounded = np.clip(by_columns, -_MAX_BY_COLUMNS, _MAX_BY_COLUMNS)
        by_rows = np.full(len(pairs), -_MAX_BY_ROWS)
        # To compare all others would take most of the time.
        chosen = np.flatnonzero(by_columns > _MIN_BY_COLUMNS)
        left, right = pairs[chosen].T
        texts = np.stack([self.texts[0][left], self.texts[1][right]], axis=1)
        probabilities = self._texts.similarities(self._values, texts).astype(np.float64)
        by_rows[chosen] = np.clip(logit(probabilities), -_MAX_BY_ROWS, _MAX_BY_ROWS)
        return COLUMN_SHARE * bounded + by_rows + _ROW_CONSTANT
