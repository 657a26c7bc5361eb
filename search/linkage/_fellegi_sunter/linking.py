"""Links of rows: candidate pairs of one or two tables, their evidence and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.connected import with_inner_pairs
from tf_charagram.search._pairs.flat_arrays import Array, Ids, paired
from tf_charagram.search._pairs.learning import (
    Learned,
    best_threshold,
    predicts_better,
)
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.whole_texts import WholeRows
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    compare_columns,
)
from tf_charagram.search.linkage._fellegi_sunter.learned import LearnedLinks, LearnedWeights
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals
from tf_charagram.search.linkage._fellegi_sunter.text_odds import (
    TextOdds,
    rival_evidence,
)
from tf_charagram.search.linkage._fellegi_sunter.variants import unclear_matches, unclear_relatives

#: With fewer columns, so many of the matches may look like random pairs. Of generated people and
#: firms with two or three columns, up to a third did.
UNSEEN = 0.4
#: Rows whose copies are looked at.
NUM_COPIES = 2000
_MIN_COLUMNS = 4
# Columns that so many of the found matches differ in are not counted.
_MAX_OTHERWISE = 0.3
# Smallest share of the copies that counts as seen.
_MIN_SEEN = 1e-3
# Labels of each kind that a model needs.
_MIN_OF_EACH = 2


class Evidence(NamedTuple):
    """What one column says about a pair.

    Attributes:
        column: Name of the column; `prior` for the knowledge before any column is seen, and
            `together` for the rows as a whole: agreement as of relatives, and what labels taught
            about whole rows.
        left: Cell of the left row, empty if it is missing.
        right: Cell of the right row.
        agreement: `equal`, `near`, `different`, or `missing`.
        weight: Evidence for a match in bits: 1 doubles the odds, -1 halves them.
    """

    column: str
    left: str
    right: str
    agreement: str
    weight: float


@dataclass
class Links:
    """Candidate pairs of rows with probabilities.

    Attributes:
        columns: The columns that were compared.
        mixture: The model without labels.
        pairs: Rows of both tables, `(num_pairs, 2)`, sorted.
        probabilities: Probabilities that they match, `(num_pairs,)`.
        rivals: Other partners of the rows where titles identify them, or `None`.
        rows: The rows as a whole if only texts identify them, or `None`.
        telling: Numbers of the columns whose words make the rows as a whole.
        mutual: Evidence for pairs of texts that are the best ones of both of their rows.
        model: The model with labels, or `None` without labels.
        learned: Precision and recall on held-out labels, or `None` without labels.
        learner: The model that was fitted to labels, even if the answer without them is better.
        have_copies: Whether each of two tables has many copies of its rows.
    """

    columns: list[Column]
    mixture: Mixture | TextOdds
    pairs: Ids
    probabilities: Array
    rivals: PairRivals | None = None
    rows: WholeRows | None = None
    telling: Sequence[int] = ()
    mutual: float = 0.0
    model: LearnedLinks | None = None
    learned: Learned | None = None
    learner: LearnedLinks | None = None
    have_copies: Sequence[bool] = (False, False)

    @property
    def unseen(self) -> float | None:
        """Share of the matches that may look like random pairs, or `None` if it is not known.

        Titles in other words look like random pairs. The probabilities of a single text are not
        fitted to the tables, so they do not say how many matches there are.
        """
        if self.model is None and isinstance(self.mixture, TextOdds):
            return None
        if isinstance(self.mixture, TextOdds) or self.rows is not None:
            return UNSEEN
        return unseen_by_columns(self.columns, self.mixture)

    @property
    def hidden(self) -> float:
        """Exact copies of rows of a table that look like random pairs, for each other one."""
        if isinstance(self.mixture, TextOdds) or self.model is not None or self.rows is not None:
            return 0.0
        return _unseen_copies(self.columns, self.mixture)

    @property
    def unclear(self) -> float:
        """Share of the matches that may be variants, which differ in a date or a number."""
        if self.model is not None or isinstance(self.mixture, TextOdds):
            return 0.0
        return unclear_matches(self.columns, self.mixture)

    @property
    def telling_column(self) -> Column:
        """The column of texts that rows are compared by, or the first one of several."""
        return self.columns[self.mixture.number if isinstance(self.mixture, TextOdds) else 0]

    def probabilities_of(self, pairs: Ids) -> Array:
        """Returns the probabilities of any pairs of rows, `(num_pairs,)`.

        Args:
            pairs: Rows of both tables, `(num_pairs, 2)`.
        """
        return self.as_probabilities(pairs, self._log_odds(pairs))

    def as_probabilities(self, pairs: Ids, log_odds: Array) -> Array:
        """Returns the probabilities of pairs with some log-odds; equal texts are the same."""
        found: Array = expit(log_odds)
        if isinstance(self.mixture, TextOdds):
            found[self.mixture.are_same(self.columns, pairs, log_odds)] = 1
        return found

    def _log_odds(self, pairs: Ids) -> Array:
        if self.model is not None:
            return self.model.log_odds(pairs)
        return self._plain_log_odds(pairs, compare_columns(self.columns, pairs))

    def _plain_log_odds(self, pairs: Ids, agreements: Sequence[Agreement]) -> Array:
        """Returns the log-odds without labels, `(num_pairs,)`."""
        log_odds = self.mixture.log_odds(agreements)
        if self.rows is not None and isinstance(self.mixture, Mixture):
            rival_shares = self.mixture.rival_shares(agreements, self.telling)
            log_odds = self.rows.log_odds(log_odds, pairs, rival_shares)
        return self.beside_rivals(pairs, log_odds)

    def beside_rivals(self, pairs: Ids, log_odds: Array) -> Array:
        """Adds the evidence of other partners to the log-odds of pairs."""
        if self.rivals is None:
            return log_odds
        rivals = self.rivals.scores(pairs)
        return log_odds + rival_evidence(log_odds, rivals, self.mutual)

    def learn_from(self, labels: Ids, model: str | Path | Embedder | None) -> None:
        """Learns the weights of the columns, and of the rows as a whole, from labelled pairs.

        Args:
            labels: Two rows, and 1 or 0 each, `(num_labels, 3)`.
            model: The model that compares the rows as a whole, or `None` to compare letters only.

        Nothing changes if there are fewer than two matches or two others, or unless held-out
        labels are answered better.
        """
        rows = labels[:, :2]
        is_match = labels[:, 2].astype(bool)
        if min(is_match.sum(), (~is_match).sum()) < _MIN_OF_EACH:
            return
        self.model = None
        found = self.probabilities_of(rows)
        if self.learner is None:
            self.learner = LearnedLinks(self.columns, self._plain_log_odds, self.pairs, model)
        held_out = self.learner.learn(rows, is_match)
        if predicts_better(held_out, found, is_match):
            self.model = self.learner
            found = held_out
        self.learned = best_threshold(found, is_match)
        self.probabilities = self.probabilities_of(self.pairs)

    def use_weights(
        self,
        fitted: LearnedWeights,
        learned: Learned,
        model: str | Path | Embedder | None,
    ) -> None:
        """Compares the rows by weights that were learned from other tables.

        Args:
            fitted: The weights.
            learned: Precision and recall on held-out labels.
            model: The model that compares the rows as a whole, or `None`.
        """
        self.model = LearnedLinks(self.columns, self._plain_log_odds, self.pairs, model)
        self.model.fitted = fitted
        self.learned = learned
        self.probabilities = self.probabilities_of(self.pairs)

    def keep_uncertain(self, num_pairs: int) -> None:
        """Drops all but so many pairs, the most certain ones first."""
        order = np.argsort(np.abs(self.probabilities - 0.5), kind="stable")
        kept = np.sort(order[:num_pairs])
        self.pairs = self.pairs[kept]
        self.probabilities = self.probabilities[kept]

    def add_inner_pairs(self, threshold: float) -> None:
        """Adds the pairs of rows that other pairs connect.

        A row of a large group has more partners than it has candidates.
        """
        num_rows = len(self.columns[0].left)
        self.pairs, probabilities = with_inner_pairs(
            num_rows, self.pairs, self.probabilities, threshold, self.probabilities_of
        )
        self.probabilities = probabilities.astype(np.float64)

    def explain(self, left: int, right: int) -> list[Evidence]:
        """Returns the evidence about a pair; the weights sum to the log-odds of its probability.

        Only equal texts of a single column have a probability of 1 whatever their weights.
        """
        pair = np.array([[left, right]])
        agreements = compare_columns(self.columns, pair)
        [weights] = self.mixture.column_evidence(agreements)
        log_priors = self.mixture.log_priors
        prior = log_priors[0] - log_priors[-1]
        [log_odds] = self._log_odds(pair)
        if self.model is not None:
            share, learned = self.model.evidence(pair)
            prior *= share
            weights = share * weights + learned
        rest = log_odds - prior - weights.sum()
        lines = [Evidence("prior", "", "", "", _bits(prior))]
        for column, agreement, weight in zip(self.columns, agreements, weights, strict=True):
            cells = column.left_cells[left], column.right_cells[right]
            level = _level_name(column, int(agreement.levels[0]))
            lines.append(Evidence(column.name, *cells, level, _bits(weight)))
        return [*lines, Evidence("together", "", "", "", _bits(rest))]


def unseen_by_columns(columns: Sequence[Column], mixture: Mixture) -> float:
    """Returns the share of the matches that may look like random pairs.

    A match that differs in most of a few columns does. Columns that one table writes otherwise do
    not count. In one table, matches may look like relatives, too, and a row may have so frequent
    values that even its exact copy looks like a random pair.
    """
    num_telling = 0
    for number, (column, shares) in enumerate(zip(columns, mixture.match, strict=True)):
        share = shares[mixture.are_differences(number)].sum()
        num_telling += not column.note and share < _MAX_OTHERWISE
    unseen = 0.0 if num_telling >= _MIN_COLUMNS else UNSEEN
    return max(unseen, unclear_relatives(columns, mixture), _unseen_copies(columns, mixture))


def _unseen_copies(columns: Sequence[Column], mixture: Mixture) -> float:
    """Returns `unseen_copies` of the rows of a table, 0 of two tables."""
    num_rows = len(columns[0].left)
    if not columns[0].is_one_table or not num_rows:
        return 0.0
    rows = np.arange(0, num_rows, num_rows // NUM_COPIES + 1)
    copies = compare_columns(columns, paired(rows, rows))
    return unseen_copies(expit(mixture.log_odds(copies)))


def unseen_copies(probabilities: Array) -> float:
    """Returns the ratio of exact copies that look like random pairs to the other ones.

    Names and towns alone are so frequent in a large table.

    Args:
        probabilities: Probabilities that rows match a copy of themselves, `(num_rows,)`.
    """
    return float(1 / max(probabilities.mean(), _MIN_SEEN) - 1)


def _bits(log_ratio: float) -> float:
    return float(log_ratio / np.log(2))


def _level_name(column: Column, level: int) -> str:
    if level == ABSENT:
        return "missing"
    if level == EQUAL:
        return "equal"
    return "near" if level <= EQUAL + len(column.kind.cutoffs) else "different"
