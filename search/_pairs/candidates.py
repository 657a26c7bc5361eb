"""Finds the pairs of texts that are worth comparing in detail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram._common.reporting import ProgressLine
from tf_charagram.search._pairs.alike_words import alike_words
from tf_charagram.search._pairs.flat_arrays import distinct_integers, ranks
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.rare_keys import (
    entries,
    largest,
    nearest_pairs,
    product,
    rare_keys,
    row_numbers,
    row_sums,
)
from tf_charagram.search.scoring import PairEvidence, TextScorer

#: Candidates per text from each of the two indexes (vectors, n-grams).
NUM_CANDIDATES = 40
# The same to find all similar texts of a list. If half of them are similar, there may be others,
# and more are taken.
_NUM_SIMILAR = 40
_GROWTH = 4
# Candidates of all texts together that are added at each step. Without a limit, a list of texts
# that are all alike would have as many as all pairs.
_MAX_ADDED = 3_000_000
# Texts that are found by the words of a text, with repetitions: so many times the square root of
# the number of texts.
_POSTINGS = 20
_MIN_POSTINGS = 5000
# The same for a query, as a part of the texts: of a million texts with typos, 1 to 3 % more are
# found first. All texts of a list would take too long.
_PART_OF_TEXTS = 0.05
# Pairs of texts are compared in detail if their words have this part of the cosine of n-grams that
# the minimum score needs: frequent n-grams, and words that are hardly alike, are not looked up.
_PART_OF_COSINE = 0.3
_PART_OF_WORDS = 1.1
# Of two words of a list, each may find the other one: with half of the words, 97.1 % of the similar
# pairs of 100,000 texts are found in place of 97.5 %.
_PART_OF_POSTINGS = 0.5
# Texts with a word that others do not have are told by it.
MAX_RARE = 25
# Texts of about the same length that are searched together, and the maximum number of such blocks.
_BLOCK = 8000
_MAX_BLOCKS = 64
# Above so many pairs of texts, candidates are found by n-grams alone: multiplying all vectors
# would take longest.
_MAX_PRODUCTS = 2_000_000_000
# Cosines in memory at the same time: 64 MB.
_MAX_COSINES = 1 << 24
# Parts of the cosines of a text that are laid over each other to find the largest ones.
_LAYERS = 64
# Left texts whose candidates are in memory at the same time, and their candidates.
_BATCH = 2000
_MAX_BATCH_PAIRS = 100_000


def best_pairs(
    scorer: TextScorer,
    left: Texts,
    right: Texts,
    k: int,
    min_score: float,
    *,
    shows_progress: bool = False,
) -> tuple[NDArray[np.int64], PairEvidence]:
    """Finds the k best right texts for each left text.

    Args:
        scorer: The scorer.
        left: Texts.
        right: Texts.
        k: Number of right texts for each left text.
        min_score: Minimum score.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of left and right texts, `(num_pairs, 2)`, by left rows, then best first, then the same
        text first, then by right rows; and their evidence. Pairs with a score of 0 are left out.
    """
    num_candidates = max(k, NUM_CANDIDATES)
    keys = _keys(scorer, left, right)
    best = [np.zeros((0, 2), np.int64)]
    evidence: list[PairEvidence] = []
    with ProgressLine(len(left), is_wanted=shows_progress) as progress:
        for rows in _batches(np.arange(len(left)), num_candidates):
            pairs = _candidates(scorer, left, right, keys, rows, num_candidates, min_score)
            found = scorer.pair_evidence(left, right, pairs, min_score)
            left_rows, right_rows = pairs.T
            is_same = left.text_hashes[left_rows] == right.text_hashes[right_rows]
            chosen = _best(left_rows, found.scores, is_same, k, min_score)
            best.append(pairs[chosen])
            evidence.append(found.take(chosen))
            progress.update("texts", [progress.rate("texts")], advance=len(rows))
    return np.concatenate(best), PairEvidence.joined(evidence)


def similar_pairs(
    scorer: TextScorer, texts: Texts, min_score: float, *, shows_progress: bool = False
) -> tuple[NDArray[np.int64], PairEvidence]:
    """Finds the pairs of different texts of a list that have a minimum score.

    Texts with many similar texts are searched again with more candidates, so that large groups are
    found whole.

    Args:
        scorer: The scorer.
        texts: Distinct texts.
        min_score: Minimum score; pairs with a score of 0 are left out.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of the pairs, `(num_pairs, 2)`, the smaller row first, sorted; and their evidence.
    """
    found = [np.zeros(0, np.int64)]
    evidence: list[PairEvidence] = []
    num_texts = len(texts)
    longer = _LongerTexts(scorer, texts, min_score) if scorer.is_lexical else None
    rows = np.arange(num_texts) if longer is None else longer.order
    num_candidates = _NUM_SIMILAR
    while len(rows):
        num_similar = np.zeros(num_texts, np.int64)
        with ProgressLine(len(rows), is_wanted=shows_progress) as progress:
            for batch in _batches(rows, num_candidates):
                keys = _by_vectors_of(scorer, texts, texts, batch, num_candidates + 1)
                if longer is not None:
                    keys.append(longer.candidates(batch, num_candidates))
                lefts, rights = np.divmod(np.concatenate(keys), num_texts)
                ends = np.sort(np.stack([batch[lefts], rights], axis=1), axis=1)
                # All find many of the same pairs. A text finds itself, too.
                pair_keys = distinct_integers(ends[:, 0] * num_texts + ends[:, 1])
                pairs = np.stack(np.divmod(pair_keys, num_texts), axis=1)
                pairs = pairs[pairs[:, 0] != pairs[:, 1]]
                common = scorer.pair_evidence(texts, texts, pairs, min_score)
                is_similar = (common.scores >= min_score) & (common.scores > 0)
                found.append(pairs[is_similar] @ [num_texts, 1])
                evidence.append(common.take(is_similar))
                for ends_found in pairs[is_similar].T:
                    num_similar += np.bincount(ends_found, minlength=num_texts)
                progress.update("texts", [progress.rate("texts")], advance=len(batch))
        rows = rows[num_similar[rows] >= num_candidates / 2]
        num_candidates *= _GROWTH
        rows = rows[: _MAX_ADDED // num_candidates]
    all_found, first = np.unique(np.concatenate(found), return_index=True)
    pairs = np.stack(np.divmod(all_found, max(num_texts, 1)), axis=1)
    return pairs, PairEvidence.joined(evidence).take(first)


def pairs_with_rare_words(
    scorer: TextScorer, texts: Texts, min_score: float
) -> tuple[NDArray[np.int64], PairEvidence]:
    """Finds the pairs of different texts of a list with a minimum score and a rare common word.

    Args:
        scorer: The scorer.
        texts: Distinct texts.
        min_score: Minimum score.

    Returns:
        As `similar_pairs`.
    """
    num_texts = len(texts)
    of_words = texts.num_texts_of_word
    ones = texts.ones[:, (of_words > 1) & (of_words <= MAX_RARE)]
    by_word = ones.T.tocsr()
    found = [np.zeros((0, 2), np.int64)]
    evidence: list[PairEvidence] = []
    for batch in _batches(np.arange(num_texts), MAX_RARE):
        common = ones[batch] @ by_word
        pairs = np.stack([batch[row_numbers(common)], common.indices], axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        both = scorer.pair_evidence(texts, texts, pairs, min_score)
        is_similar = both.scores >= min_score
        found.append(pairs[is_similar])
        evidence.append(both.take(is_similar))
    return np.concatenate(found), PairEvidence.joined(evidence)


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
        min_score: Minimum score of similar texts.

    Attributes:
        order: Rows, by length.
    """

    def __init__(self, scorer: TextScorer, texts: Texts, min_score: float) -> None:
        num_texts = len(texts)
        self._texts = texts
        self._keys = alike_words(texts, texts, _PART_OF_POSTINGS)
        self._max_postings = _max_postings(num_texts)
        self._lengths = np.maximum(texts.lengths, 1e-6)
        self._needed = scorer.least_ngrams(texts, np.arange(num_texts), min_score)
        self.order = np.argsort(self._lengths, kind="stable")
        self._places = np.empty(num_texts, np.int64)
        self._places[self.order] = np.arange(num_texts)
        step = max(_BLOCK, num_texts // _MAX_BLOCKS + 1)
        self._blocks = []
        for start in range(0, num_texts, step):
            rows = self.order[start : start + step]
            by_word = texts.by_word_of(rows)
            lengths = self._lengths[rows]
            least = float(self._needed[rows].min())
            self._blocks.append(_Block(start, float(lengths[0]), least, by_word))

    def candidates(self, rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Finds candidates of some rows, by length.

        Args:
            rows: Rows in the order of `order`.
            k: Maximum number of candidates for each row.

        Returns:
            Pairs as one integer, `place * num_texts + row`, for places in `rows`.
        """
        found = self._texts.ones[rows] @ self._keys
        rare = rare_keys(found, self._texts.num_texts_of_word, self._max_postings)
        lengths = self._lengths[rows]
        # Pairs may need several words, of which one is a good part of their cosine.
        parts = np.minimum(
            _PART_OF_COSINE, _PART_OF_WORDS / np.maximum(self._texts.num_words[rows], 1)
        )
        # Frequent words that are not looked up may be common words, too.
        missing = (row_sums(found, found.data) - row_sums(rare, rare.data)) / lengths**2
        places = row_numbers(rare)
        rare.data = rare.data / lengths[places]
        pairs = [np.zeros(0, np.int64)]
        cosines = [np.zeros(0, np.float32)]
        num_texts = len(self._texts)
        for block in self._blocks:
            if block.start + block.by_word.shape[1] <= self._places[rows[0]]:
                continue
            least = np.maximum(self._needed[rows], block.least_ngrams) - missing
            least = np.maximum(least, 1e-6).astype(np.float32)
            min_shares = parts * block.min_length * least
            kept = entries(rare, np.flatnonzero(rare.data >= min_shares[places]))
            products = kept @ block.by_word
            is_enough = products.data >= np.repeat(least, np.diff(products.indptr))
            hits = np.flatnonzero(is_enough)
            lefts = np.searchsorted(products.indptr, hits, "right") - 1
            rights = self.order[block.start + products.indices[hits]]
            needed = np.maximum(self._needed[rows[lefts]], self._needed[rights]) - missing[lefts]
            is_pair = products.data[hits] >= needed
            is_pair &= self._places[rights] > self._places[rows[lefts]]
            pairs.append(lefts[is_pair] * num_texts + rights[is_pair])
            cosines.append(products.data[hits[is_pair]])
        return largest(np.concatenate(pairs), np.concatenate(cosines), num_texts, k)


def _batches(rows: NDArray[np.int64], num_candidates: int) -> Iterator[NDArray[np.int64]]:
    """Yields rows by turns, as many as fit into memory with their candidates."""
    step = min(_BATCH, max(_MAX_BATCH_PAIRS // num_candidates, 1))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _max_postings(num_texts: int) -> int:
    """Returns the maximum number of texts that are found by the words of a text."""
    return max(int(_POSTINGS * num_texts**0.5), _MIN_POSTINGS)


def _by_vectors_of(
    scorer: TextScorer, left: Texts, right: Texts, rows: NDArray[np.int64], k: int
) -> list[NDArray[np.int64]]:
    """Returns the k nearest right texts of some left rows by vectors, if there are not too many."""
    is_small = len(left) * len(right) <= _MAX_PRODUCTS
    if scorer.embedder is None or not (is_small or not scorer.is_lexical):
        return []
    return _by_vectors(left.vectors[rows], right.vectors, k)


def _keys(scorer: TextScorer, left: Texts, right: Texts) -> sparse.csr_array | None:
    """Returns the right words that each left word looks up, or `None` for vectors only."""
    return alike_words(left, right) if scorer.is_lexical else None


def _candidates(
    scorer: TextScorer,
    left: Texts,
    right: Texts,
    word_keys: sparse.csr_array | None,
    rows: NDArray[np.int64],
    k: int,
    min_score: float,
) -> NDArray[np.int64]:
    """Returns the pairs of some left rows that are worth comparing, `(num_pairs, 2)`, sorted."""
    num_right = len(right)
    keys = [_same_texts(left, right, rows), *_by_vectors_of(scorer, left, right, rows, k)]
    if word_keys is not None:
        max_postings = max(_max_postings(num_right), int(_PART_OF_TEXTS * num_right))
        ones = left.ones if len(rows) == len(left) else left.ones[rows]
        found_words = product(ones, word_keys)
        rare_words = rare_keys(found_words, right.num_texts_of_word, max_postings)
        min_cosines = 0.6 * scorer.least_ngrams(left, rows, min_score)
        lengths = np.maximum(left.lengths[rows], 1e-6)
        missing = row_sums(found_words, found_words.data) - row_sums(rare_words, rare_words.data)
        min_products = min_cosines * lengths - missing / lengths
        keys.append(nearest_pairs(rare_words, right.by_word, k, min_products))
    # All find many of the same pairs.
    distinct_keys = distinct_integers(np.concatenate(keys))
    places, columns = np.divmod(distinct_keys, max(num_right, 1))
    return np.stack([rows[places], columns], axis=1)


def _best(
    rows: NDArray[np.int64],
    scores: NDArray[np.float32],
    is_same: NDArray[np.bool_],
    k: int,
    min_score: float,
) -> NDArray[np.int64]:
    """Returns the indices of the k best pairs of each row, best first; `rows` is sorted."""
    # Of equal scores the same text comes first; the others stay in order, as lexsort is stable.
    order = np.lexsort((~is_same, -scores, rows))
    is_enough = (scores >= min_score) & (scores > 0)
    order = order[is_enough[order]]
    return order[ranks(rows[order]) < k]


# All return a pair as one integer, `row * num_right + column`: NumPy finds distinct
# integers faster than distinct rows of an array.


def _same_texts(left: Texts, right: Texts, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the pairs of left texts and the first right rows with the same text."""
    order = right.by_hash
    if not len(order):
        return np.zeros(0, np.int64)
    hashes = left.text_hashes[rows]
    places = np.searchsorted(right.text_hashes, hashes, sorter=order)
    columns = order[np.minimum(places, len(order) - 1)]
    is_same = right.text_hashes[columns] == hashes
    return np.flatnonzero(is_same) * len(right) + columns[is_same]


def _by_vectors(
    left: NDArray[np.float32], right: NDArray[np.float32], k: int
) -> list[NDArray[np.int64]]:
    """Returns the k pairs with the largest cosines of each left vector."""
    keys: list[NDArray[np.int64]] = []
    num_right = len(right)
    if not num_right:
        return keys
    k = min(k, num_right)
    step = max(_MAX_COSINES // num_right, 1)
    for start in range(0, len(left), step):
        block = left[start : start + step]
        cosines = block @ right.T
        least = _some_of_the_largest(cosines, k)
        for row in range(len(block)):
            columns = np.flatnonzero(cosines[row] >= least[row])
            order = np.argpartition(cosines[row][columns], -k)
            keys.append((start + row) * num_right + columns[order[-k:]])
    return keys


def _some_of_the_largest(values: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    """Returns a value of each row that at least k values reach, and few more.

    It is found in a tenth of the time of a partition of the rows.
    """
    num_rows, num_columns = values.shape
    width = num_columns // _LAYERS
    if width < k:
        return np.full(num_rows, -np.inf, np.float32)
    layers = values[:, : _LAYERS * width].reshape(num_rows, _LAYERS, width)
    return np.partition(layers.max(axis=1), -k, axis=1)[:, -k]
