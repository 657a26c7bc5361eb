"""Finds the pairs of a list of texts that are similar, so that large groups are found whole."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tf_charagram._common.reporting import ProgressLine
from tf_charagram.search._pairs.alike_words import alike_words
from tf_charagram.search._pairs.candidates import batches, by_vectors_of, max_postings_of
from tf_charagram.search._pairs.common_words import MAX_FEW_WORDS, common_words
from tf_charagram.search._pairs.flat_arrays import (
    NO_FLOATS,
    NO_IDS,
    Flags,
    Floats,
    Ids,
    distinct_integers,
    keys_of_pairs,
    lengths_of,
    matrix_of,
    paired,
    pairs_of_keys,
)
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.rare_keys import entries, largest, rare_keys, row_numbers, row_sums
from tf_charagram.search.scoring import PairEvidence, TextScorer

# Candidates per text from each index. If half of them are similar, there may be others,
# and more are taken.
_NUM_SIMILAR = 40
_GROWTH = 4
# Candidates of all texts together that are added at each step. Without a limit, a list of texts
# that are all alike would have as many as all pairs.
_MAX_ADDED = 3_000_000
# Pairs of texts are compared in detail if their words have this part of the cosine of n-grams that
# the minimum score needs: frequent n-grams, and words that are hardly alike, are not looked up.
_PART_OF_COSINE = 0.3
_PART_OF_WORDS = 1.1
# Words and letters of similar texts are hardly ever so much more similar than their n-grams: of the
# pairs that match, 1 % of names, firms and papers would be lost, and 3 % of places. Of fewer texts,
# words and letters may lead by more: that costs little.
_MAX_LEAD = 0.3
_MANY_TEXTS = 50_000
# Of two words of a list, each may find the other one: with half of the words, 97.1 % of the similar
# pairs of 100,000 texts are found in place of 97.5 %.
_PART_OF_POSTINGS = 0.5
# Numbers of texts of rare words, by which texts are told: the rarer a common word is, the lower a
# score is enough.
_RARE = (0, 1, 3, 8, 25)
# Texts of about the same length that are searched together, and the maximum number of such blocks:
# each word of a text is looked up in each block.
_BLOCK = 8000
_MAX_BLOCKS = 12


def similar_pairs(
    scorer: TextScorer,
    texts: Texts,
    least_score: Callable[[int], float],
    *,
    shows_progress: bool = False,
) -> tuple[Ids, PairEvidence]:
    """Finds the pairs of different texts of a list that have a minimum score.

    Texts of few words, and those whose words are in many texts, are looked up by words that are
    spelled alike. Those with many similar texts are searched again with more candidates, so that
    large groups are found whole.

    Args:
        scorer: The scorer.
        texts: Distinct texts.
        least_score: Returns the minimum score of texts whose rarest common word has so many texts,
            at least. Pairs with a score of 0 are left out.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of the pairs, `(num_pairs, 2)`, the smaller row first, sorted; and their evidence.
    """
    found = [np.zeros((0, 2), np.int64)]
    evidence: list[PairEvidence] = []
    num_texts = len(texts)
    max_lead = _max_lead_of(num_texts)

    def similar(pairs: Ids, min_score: float) -> Ids:
        """Returns similar pairs, and keeps them."""
        common = scorer.pair_evidence(texts, texts, pairs, min_score, max_lead)
        is_similar = (common.scores >= min_score) & (common.scores > 0)
        found.append(pairs[is_similar])
        evidence.append(common.take(is_similar))
        return pairs[is_similar]

    rows = np.arange(num_texts)
    longer = None
    min_score = least_score(_RARE[-1] + 1)
    if scorer.is_lexical:
        common = common_words(texts)
        for fewer, more in pairwise((*_RARE, num_texts)):
            is_between = (common.num_texts > fewer) & (common.num_texts <= more)
            similar(common.pairs[is_between], least_score(fewer + 1))
        is_wide = common.are_crowded | (texts.num_words <= MAX_FEW_WORDS)
        longer = _LongerTexts(scorer, texts, is_wide, min_score)
        rows = longer.order
        if scorer.embedder is None:
            rows = rows[is_wide[rows]]
    num_candidates = _NUM_SIMILAR
    while len(rows):
        num_similar = np.zeros(num_texts, np.int64)
        with ProgressLine(len(rows), is_wanted=shows_progress) as progress:
            for batch in batches(rows, num_candidates):
                keys = by_vectors_of(scorer, texts, texts, batch, num_candidates + 1)
                if longer is not None:
                    keys.append(longer.candidates(batch, num_candidates))
                lefts, rights = np.divmod(np.concatenate(keys), num_texts)
                ends = np.sort(paired(batch[lefts], rights), axis=1)
                # All find many of the same pairs. A text finds itself, too.
                pair_keys = distinct_integers(keys_of_pairs(ends, num_texts))
                pairs = pairs_of_keys(pair_keys, num_texts)
                for ends_found in similar(pairs[pairs[:, 0] != pairs[:, 1]], min_score).T:
                    num_similar += np.bincount(ends_found, minlength=num_texts)
                progress.update("texts", [progress.rate("texts")], advance=len(batch))
        rows = rows[num_similar[rows] >= num_candidates / 2]
        num_candidates *= _GROWTH
        rows = rows[: _MAX_ADDED // num_candidates]
    keys_found = keys_of_pairs(np.concatenate(found), num_texts)
    distinct_keys, first = np.unique(keys_found, return_index=True)
    return pairs_of_keys(distinct_keys, num_texts), PairEvidence.joined(evidence).take(first)


def _max_lead_of(num_texts: int) -> float:
    """Returns the lead that words and letters of similar texts may have over their n-grams."""
    return _MAX_LEAD * max(_MANY_TEXTS / max(num_texts, 1), 1)


class _Block(NamedTuple):
    """Texts of about the same length.

    Attributes:
        start: Place of the first text.
        min_length: Length of the shortest text.
        least_ngrams: Smallest cosine of n-grams that a pair of one of the texts needs.
        by_word: One row per word: its texts, each with 1 / its length.
    """

    start: int
    min_length: float
    least_ngrams: float
    by_word: sparse.csr_array


class _LongerTexts:
    """Finds the similar texts of each text among the texts that are not shorter.

    So each pair is found from one side, and words that are too small a part of longer texts are not
    looked up there.

    Args:
        scorer: The scorer.
        texts: Distinct texts.
        is_wide: The texts that are looked up, `(num_texts,)`.
        min_score: Minimum score of similar texts.

    Attributes:
        order: Rows, by length.
    """

    def __init__(self, scorer: TextScorer, texts: Texts, is_wide: Flags, min_score: float) -> None:
        num_texts = len(texts)
        self._texts = texts
        self._is_wide = is_wide
        self._max_postings = max_postings_of(num_texts)
        self._lengths = np.maximum(texts.lengths, 1e-6)
        every = np.arange(num_texts)
        max_lead = _max_lead_of(num_texts)
        self._needed = scorer.least_ngrams(texts, every, min_score, max_lead)
        # Pairs may need several words, of which one is a good part of their cosine.
        self._parts = np.minimum(_PART_OF_COSINE, _PART_OF_WORDS / np.maximum(texts.num_words, 1))
        self.order = np.argsort(self._lengths, kind="stable")
        self._places = np.empty(num_texts, np.int64)
        self._places[self.order] = np.arange(num_texts)
        self._blocks = []
        if not is_wide.any():
            return
        keys = alike_words(texts, texts, _PART_OF_POSTINGS, self._least_products())
        self._keys = matrix_of(keys)
        step = max(_BLOCK, num_texts // _MAX_BLOCKS + 1)
        for start in range(0, num_texts, step):
            rows = self.order[start : start + step]
            by_word = texts.by_word_of(rows)
            lengths = self._lengths[rows]
            least = float(self._needed[rows].min())
            self._blocks.append(_Block(start, float(lengths[0]), least, by_word))

    def _least_products(self) -> Floats:
        """Returns the smallest product of n-grams that texts need of each of their words."""
        texts = self._texts
        least = np.full(len(texts.lists.words), np.inf, np.float32)
        rare = rare_keys(texts.ones, texts.num_texts_of_word, self._max_postings)
        kept = row_sums(rare, texts.word_lengths[rare.indices] ** 2)
        # Frequent words that are not looked up may be common words, too. Texts are looked up among
        # those that are not shorter.
        needed = np.maximum(self._needed * self._lengths**2 - (self._lengths**2 - kept), 0)
        of_texts = np.where(self._is_wide, self._parts * needed, np.inf).astype(np.float32)
        np.minimum.at(least, texts.lists.ids, np.repeat(of_texts, texts.num_words))
        return least

    def candidates(self, rows: Ids, k: int) -> Ids:
        """Finds candidates of some rows, by length.

        Args:
            rows: Rows in the order of `order`.
            k: Maximum number of candidates for each row.

        Returns:
            Pairs as one integer, `place * num_texts + row`, for places in `rows`.
        """
        wide = np.flatnonzero(self._is_wide[rows])
        rows = rows[wide]
        if not len(rows):
            return wide
        found = self._texts.ones[rows] @ self._keys
        rare = matrix_of(rare_keys(found, self._texts.num_texts_of_word, self._max_postings))
        lengths = self._lengths[rows]
        parts = self._parts[rows]
        # Frequent words that are not looked up may be common words, too.
        missing = (row_sums(found, found.data) - row_sums(rare, rare.data)) / lengths**2
        places = row_numbers(rare)
        rare.data = rare.data / lengths[places]
        pairs = [NO_IDS]
        cosines = [NO_FLOATS]
        num_texts = len(self._texts)
        for block in self._blocks:
            if block.start + block.by_word.shape[1] <= self._places[rows[0]]:
                continue
            least = np.maximum(self._needed[rows], block.least_ngrams) - missing
            least = np.maximum(least, 1e-6).astype(np.float32)
            min_shares = parts * block.min_length * least
            kept = matrix_of(entries(rare, np.flatnonzero(rare.data >= min_shares[places])))
            products = kept @ block.by_word
            is_enough = products.data >= np.repeat(least, lengths_of(products.indptr))
            hits = np.flatnonzero(is_enough)
            lefts = np.searchsorted(products.indptr, hits, "right") - 1
            rights = self.order[block.start + products.indices[hits]]
            needed = np.maximum(self._needed[rows[lefts]], self._needed[rights]) - missing[lefts]
            is_pair = products.data[hits] >= needed
            is_pair &= self._places[rights] > self._places[rows[lefts]]
            pairs.append(wide[lefts[is_pair]] * num_texts + rights[is_pair])
            cosines.append(products.data[hits[is_pair]])
        return largest(np.concatenate(pairs), np.concatenate(cosines), num_texts, k)
