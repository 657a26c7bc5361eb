"""Columns of long texts, and rows with a single text: compared as lists of texts are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.flat_arrays import (
    NO_FLOATS,
    NO_IDS,
    Array,
    Flags,
    Floats,
    Ids,
    blocks,
    keys_of_pairs,
    paired,
    places_in,
    stable_order,
)
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search.linkage._columns.names import (
    joined_without_legal_forms,
    may_have_legal_form,
)
from tf_charagram.search.linkage._columns.shared_words import (
    OtherWords,
    are_sized,
    contradict,
    pairs_that,
)
from tf_charagram.search.linkage._columns.value_similarities import alias_similarities
from tf_charagram.search.linkage._columns.values import folded
from tf_charagram.search.scoring import PairEvidence, TextScorer
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.text._algorithm.arguments import distinct

#: Levels of agreement: similarities are probabilities.
CUTOFFS = (0.9, 0.7, 0.5, 0.2)
# Shorter texts, such as streets, are compared faster by their letters.
_MIN_WORDS = 4.0
# Logistic regression on labelled pairs of products, cameras, papers and beers, each with the same
# weight: of the score, and of the rarest common word. The constant is for lists, of whose pairs
# fewer match: chosen on lists of products, firms, papers, places and songs.
_SCORE = 8.0
_RAREST = 3.8
_CONSTANT = -8.3
_MIN_THRESHOLD = 0.01
# Log-odds of texts that contradict each other, and of texts with the same words, which may be
# different things.
_CONTRADICTION = -3.0
# In one of several columns they are different texts: a model that is fitted to pairs would learn
# from variants with the same brand and price that matches look like this.
_CONTRADICTION_OF_COLUMNS = -5.0
_EQUAL = 4.0
# Pairs below these log-odds are no matches in any case, and pairs above the others are some.
_MIN_CHECKED = -2.0
_MAX_CHECKED = 2.0
# Log-odds of texts that differ in typos only, if their equal words are as rare together as a word
# of a single text is; and up to so many times as rare.
_TYPOS = 0.7
_MAX_TOGETHER = 1.5
# Log-odds against texts that both have a word like none of the other one, if their equal words are
# less rare together than these are, for each time as rare as a word of a single text: two dishes of
# one vegetable. Fitted to firms, products and papers.
_OTHER_WORDS = 2.0
_RARE_TOGETHER = 2.0
# Pairs whose words are in memory at the same time.
_MAX_PAIRS = 100_000

# Log-odds of rows are added to those of their columns, with a constant. Chosen on songs, beers, and
# 12 kinds of made-up tables; without each of these kinds, the best constant is the same.
_ROW_CONSTANT = 0.5
#: Pairs that are matches by their columns alone, whose rows tell how much the words of matches
#: differ.
SURE_BY_COLUMNS = 2.0
# As if so many more had the words that they should.
_PSEUDO_MATCHES = 20
#: Rows are not compared as a whole below these log-odds by columns.
MIN_BY_COLUMNS = -14.0
_MAX_PROBABILITY = 1 - 1e-6


def are_long(cells: Sequence[str]) -> bool:
    """Tells whether cells have at least four words on average."""
    num_words = sum(len(cell.split()) for cell in cells)
    return num_words >= _MIN_WORDS * len(cells)


def read_whole_text(text: str) -> str:
    """Returns a text without the legal form of a firm. Marks stay: C++ is not C."""
    # Letters of one width, and the parts of \u3231.
    words = normalize("NFKC", text).casefold().split()
    joined = " ".join(words)
    if not words or not may_have_legal_form(
        joined, _folded_word(words[0]), _folded_word(words[-1])
    ):
        return joined
    return joined_without_legal_forms(words, list(map(_folded_word, words)))


# Names of people and ends of addresses repeat.
@lru_cache(maxsize=100_000)
def _folded_word(word: str) -> str:
    return folded(word)


class WholeTexts:
    """Compares texts by their score and their rarest common word.

    Args:
        scorer: Scores pairs of texts.
        texts: The distinct texts.
        is_list: Whether the texts are a list: nothing else tells which of them match.
    """

    def __init__(self, scorer: TextScorer, texts: Texts, *, is_list: bool = True) -> None:
        self._scorer = scorer
        self._texts = texts
        self._is_list = is_list
        # Pairs that were compared before, as one integer each, ascending.
        self._keys = NO_IDS
        self._known = NO_FLOATS

    @classmethod
    def of_values(
        cls,
        values: Sequence[str],
        counted: TextStatistics | None = None,
    ) -> WholeTexts:
        """Compares the letters of texts of one of several columns, which are prepared.

        Args:
            values: The distinct texts.
            counted: Counts of words in other texts. Default: words are counted in `values`.
        """
        scorer = TextScorer(values, None, statistics=counted)
        return cls(scorer, scorer.prepare(values), is_list=False)

    def remember(self, pairs: NDArray[np.integer], evidence: PairEvidence) -> None:
        """Keeps the probabilities of pairs for `similarities`.

        Args:
            pairs: Positions of texts, `(num_pairs, 2)`, each pair once.
            evidence: What they have in common.
        """
        probabilities = self.probabilities(pairs, evidence)
        keys = self._keys_of(pairs)
        order = np.argsort(keys)
        self._keys, self._known = keys[order], probabilities[order]

    def least_score(self, threshold: float, num_texts: int = 1) -> float:
        """Returns the score that texts need for a probability.

        Args:
            threshold: The probability; of one half, if it is more.
            num_texts: How many texts have their rarest common word, at least.
        """
        if not self._scorer.is_lexical:
            return min(threshold, 0.5)
        log_odds = logit(np.clip(threshold, _MIN_THRESHOLD, 0.5))
        rarest = self._scorer.rarity(num_texts)
        return max(float(log_odds - _CONSTANT - _RAREST * rarest) / _SCORE, 0.0)

    def similarities(self, values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
        """Returns the probabilities that pairs of different texts match, float32 `(num_pairs,)`.

        Args:
            values: The distinct texts.
            pairs: Their positions, `(num_pairs, 2)`.
        """
        places = places_in(self._keys, self._keys_of(pairs))
        # The last one is of all other pairs.
        found = np.append(self._known, np.float32(0))[places]
        rest = np.flatnonzero(places < 0)
        if len(rest):
            # Pairs of the same text are compared at once.
            rest = rest[stable_order(pairs[rest, 0])]
            evidence = self._scorer.pair_evidence(self._texts, self._texts, pairs[rest])
            found[rest] = self.probabilities(pairs[rest], evidence)
        return found

    def _keys_of(self, pairs: NDArray[np.integer]) -> Ids:
        # (a, b) is (b, a).
        unordered = np.sort(pairs.astype(np.int64), axis=1)
        return keys_of_pairs(unordered, len(self._texts))

    def probabilities(self, pairs: NDArray[np.integer], evidence: PairEvidence) -> Floats:
        """Returns the probabilities that pairs match, float32 `(num_pairs,)`.

        Args:
            pairs: Positions of texts, `(num_pairs, 2)`.
            evidence: What they have in common.
        """
        if not self._scorer.is_lexical:
            return np.maximum(evidence.scores, 0)
        parts = [NO_FLOATS]
        for block in blocks(len(pairs), _MAX_PAIRS):
            own = pairs[block]
            probabilities = expit(self._log_odds(own, evidence.take(block)))
            aliases = alias_similarities(self._texts.texts, own, self._texts.written)
            parts.append(np.maximum(probabilities, aliases).astype(np.float32))
        return np.concatenate(parts)

    def _log_odds(self, pairs: NDArray[np.integer], evidence: PairEvidence) -> Array:
        """Returns the log-odds that pairs match, `(num_pairs,)`."""
        texts = self._texts.texts
        scores = evidence.scores
        log_odds = _SCORE * scores + _RAREST * evidence.rarest + _CONSTANT
        log_odds[scores == 1] = _EQUAL
        checked = np.flatnonzero(log_odds > _MIN_CHECKED)
        left, right = pairs[checked].T
        others = OtherWords(self._texts.written, pairs[checked])
        may_differ = others.may_contradict() | (self._are_sized[left] & self._are_sized[right])
        may_be_different = checked[may_differ]
        is_different = may_be_different[pairs_that(contradict, texts, pairs[may_be_different])]
        log_odds[is_different] += _CONTRADICTION if self._is_list else _CONTRADICTION_OF_COLUMNS
        left_unlike, right_unlike = others.are_unlike()
        is_unsure = log_odds < _MAX_CHECKED
        is_unsure[is_different] = False
        with_typos = checked[is_unsure[checked] & ~(left_unlike | right_unlike)]
        rarity = self._rarity_together(pairs[with_typos])
        log_odds[with_typos] += _TYPOS * np.minimum(rarity, _MAX_TOGETHER)
        if self._is_list:
            have_others = checked[left_unlike & right_unlike]
            rarity = self._rarity_together(pairs[have_others])
            log_odds[have_others] -= _OTHER_WORDS * np.maximum(_RARE_TOGETHER - rarity, 0)
        return log_odds

    @cached_property
    def _are_sized(self) -> Flags:
        return are_sized(self._texts.written)

    def _rarity_together(self, pairs: NDArray[np.integer]) -> Floats:
        """Returns the rarity of the equal words of each pair together, `(num_pairs,)`.

        It is 1 for words that together are as rare as a word of a single text.

        A text in 1000 with the one, and one in 1000 with the other are one in a million.
        """
        ones = self._texts.ones
        left, right = pairs.T
        common = ones[left].multiply(ones[right]).tocsr()
        # Weights are 1 for words that all texts have.
        sums = common @ (self._texts.weights - 1)
        of_single = np.log((1 + self._scorer.statistics.num_texts) / 2)
        return sums / max(of_single, 1e-6)


class WholeRows:
    """Rows of two tables as texts: the cells of each row, joined by spaces.

    Where titles tell things apart, the words of a row are surer evidence than a model that is
    fitted to the columns of a few rows.

    Args:
        left: The texts of the left rows, as `read_whole_text` returns them.
        right: The texts of the right rows.
        scorer: Scores pairs of texts. Default: one that counts the words of these texts.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only. Without `scorer`.

    Attributes:
        texts: The number of the text of each left row, and of each right row.
        of_matches: Log-odds by rows of pairs that match by their columns, ascending.
    """

    def __init__(
        self,
        left: Sequence[str],
        right: Sequence[str],
        scorer: TextScorer | None = None,
        model: str | Path | Embedder | None = None,
    ) -> None:
        self._values, text_of_row = distinct([*left, *right])
        if scorer is None:
            scorer = TextScorer(self._values, model)
        prepared = scorer.prepare(self._values)
        self._texts = WholeTexts(scorer, prepared, is_list=False)
        self.texts = text_of_row[: len(left)], text_of_row[len(left) :]
        self.of_matches = np.zeros(0)

    def fit(self, by_columns: Array, pairs: Ids, rivals: Array | float = 0.0) -> Array:
        """Learns how different the words of rows may be that match by their columns.

        Args:
            by_columns: The log-odds of candidate pairs by their columns.
            pairs: Rows of both tables, `(num_pairs, 2)`.
            rivals: Share of rivals among pairs that agree so and do not match, `(num_pairs,)`.

        Returns:
            The log-odds of the pairs by their columns and by their rows, `(num_pairs,)`.
        """
        by_rows = self._by_rows(by_columns, pairs)
        self.of_matches = np.sort(by_rows[by_columns > SURE_BY_COLUMNS])
        return self._together(by_columns, by_rows, rivals)

    def log_odds(self, by_columns: Array, pairs: Ids, rivals: Array | float = 0.0) -> Array:
        """Returns the log-odds of pairs by their columns and by their rows, `(num_pairs,)`.

        Args:
            by_columns: The log-odds of the pairs by their columns.
            pairs: Rows of both tables, `(num_pairs, 2)`.
            rivals: Share of rivals among pairs that agree so and do not match, `(num_pairs,)`.
        """
        return self._together(by_columns, self._by_rows(by_columns, pairs), rivals)

    def _together(self, by_columns: Array, by_rows: Array, rivals: Array | float) -> Array:
        # Words are no more evidence against a pair than matches with such words are rare.
        num_matches = np.searchsorted(self.of_matches, by_rows, side="right")
        share = (num_matches + 1) / (len(self.of_matches) + _PSEUDO_MATCHES)
        gains = np.maximum(by_rows, np.log(share)) + _ROW_CONSTANT
        # Rivals have the same words: the same concert on another day.
        return by_columns + gains - np.log1p(rivals * np.expm1(np.maximum(gains, 0)))

    def _by_rows(self, by_columns: Array, pairs: Ids) -> Array:
        """Returns the log-odds of pairs by their words alone, `(num_pairs,)`."""
        by_rows = np.full(len(pairs), -np.inf)
        # To compare all others would take most of the time.
        chosen = np.flatnonzero(by_columns > MIN_BY_COLUMNS)
        left, right = pairs[chosen].T
        texts = paired(self.texts[0][left], self.texts[1][right])
        probabilities = self._texts.similarities(self._values, texts).astype(np.float64)
        bounded = np.clip(probabilities, 1 - _MAX_PROBABILITY, _MAX_PROBABILITY)
        by_rows[chosen] = logit(bounded)
        return by_rows
