"""Finds the pairs of texts that are worth comparing in detail."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram._common.reporting import ProgressLine
from tf_charagram.search._pairs.alike_words import alike_words
from tf_charagram.search._pairs.rare_keys import distinct_integers, nearest_pairs, rare_keys
from tf_charagram.search._pairs.similarities import Texts
from tf_charagram.search.scoring import TextScorer

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
# Pairs of texts are compared in detail if their words have this part of the cosine of n-grams that
# the minimum score needs: frequent n-grams, and words that are hardly alike, are not looked up.
_PART_OF_COSINE = 0.6
# Above so many pairs of texts, candidates are found by n-grams alone: multiplying all vectors
# would take longest.
_MAX_PRODUCTS = 2_000_000_000
# Cosines in memory at the same time: 64 MB.
_MAX_COSINES = 1 << 24
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
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
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
        text first, then by right rows; and the scores, float32 `(num_pairs,)`. Pairs with a score
        of 0 are left out.
    """
    num_candidates = max(k, NUM_CANDIDATES)
    keys = _keys(scorer, left, right)
    best = [np.zeros((0, 2), np.int64)]
    best_scores = [np.zeros(0, np.float32)]
    with ProgressLine(len(left), is_wanted=shows_progress) as progress:
        for rows in _batches(np.arange(len(left)), num_candidates):
            pairs = _candidates(scorer, left, right, keys, rows, num_candidates, min_score)
            scores = scorer.pair_scores(left, right, pairs, min_score)
            left_rows, right_rows = pairs.T
            is_same = left.text_hashes[left_rows] == right.text_hashes[right_rows]
            chosen = _best(left_rows, scores, is_same, k, min_score)
            best.append(pairs[chosen])
            best_scores.append(scores[chosen])
            progress.update(f"{rows[-1] + 1:,} texts", (), advance=len(rows))
    return np.concatenate(best), np.concatenate(best_scores)


def similar_pairs(
    scorer: TextScorer, texts: Texts, min_score: float, *, shows_progress: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Finds the pairs of different texts of a list that have a minimum score.

    Texts with many similar texts are searched again with more candidates, so that large groups are
    found whole.

    Args:
        scorer: The scorer.
        texts: Distinct texts.
        min_score: Minimum score; pairs with a score of 0 are left out.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of the pairs, `(num_pairs, 2)`, the smaller row first, sorted; and the scores, float32
        `(num_pairs,)`.
    """
    found = [np.zeros((0, 2), np.int64)]
    found_scores = [np.zeros(0, np.float32)]
    rows = np.arange(len(texts))
    num_candidates = _NUM_SIMILAR
    keys = _keys(scorer, texts, texts)
    while len(rows):
        num_similar = np.zeros(len(texts), np.int64)
        with ProgressLine(len(rows), is_wanted=shows_progress) as progress:
            for batch in _batches(rows, num_candidates):
                # A text finds itself, too.
                pairs = _candidates(
                    scorer, texts, texts, keys, batch, num_candidates + 1, min_score
                )
                pairs = pairs[pairs[:, 0] != pairs[:, 1]]
                scores = scorer.pair_scores(texts, texts, pairs, min_score)
                is_similar = (scores >= min_score) & (scores > 0)
                found.append(pairs[is_similar])
                found_scores.append(scores[is_similar])
                np.add.at(num_similar, pairs[is_similar, 0], 1)
                progress.update(f"{len(batch):,} texts", (), advance=len(batch))
        rows = np.flatnonzero(num_similar >= num_candidates / 2)
        num_candidates *= _GROWTH
        rows = rows[: _MAX_ADDED // num_candidates]
    return _undirected(np.concatenate(found), np.concatenate(found_scores))


def _undirected(
    pairs: NDArray[np.int64], scores: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Keeps each pair once, with its larger score, sorted.

    The scores of (a, b) and (b, a) differ a little: soft tf-idf takes partners for the words of the
    first text only.
    """
    pairs = np.sort(pairs, axis=1)
    order = np.lexsort((-scores, pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    is_new = np.diff(pairs, axis=0, prepend=-1).any(axis=1)
    return pairs[is_new], scores[order][is_new]


def _batches(rows: NDArray[np.int64], num_candidates: int) -> Iterator[NDArray[np.int64]]:
    """Yields rows by turns, as many as fit into memory with their candidates."""
    step = min(_BATCH, max(_MAX_BATCH_PAIRS // num_candidates, 1))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


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
    is_small = len(left) * num_right <= _MAX_PRODUCTS
    keys = [_same_texts(left, right, rows)]
    if scorer.embedder is not None and (is_small or not scorer.is_lexical):
        keys += _by_vectors(left.vectors[rows], right.vectors, k)
    if word_keys is not None:
        max_postings = max(int(_POSTINGS * num_right**0.5), _MIN_POSTINGS)
        found_words = left.ones[rows] @ word_keys
        rare_words = rare_keys(found_words, np.diff(right.by_word.indptr), max_postings)
        min_cosines = _PART_OF_COSINE * scorer.least_ngrams(left, rows, min_score)
        lengths = np.maximum(left.lengths[rows], 1e-6)
        missing = found_words.sum(axis=1) - rare_words.sum(axis=1)
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
    # The rank of a pair in its row is its distance from the first pair of the row.
    sorted_rows = rows[order]
    firsts = np.searchsorted(sorted_rows, sorted_rows)
    ranks = np.arange(len(order)) - firsts
    return order[ranks < k]


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
    keys = []
    num_right = len(right)
    step = max(_MAX_COSINES // max(num_right, 1), 1)
    for start in range(0, len(left), step):
        block = left[start : start + step]
        cosines = block @ right.T
        columns = np.arange(num_right)
        if k < num_right:
            order = np.argpartition(cosines, -k, axis=1)
            columns = order[:, -k:]
        rows = np.arange(start, start + len(block))
        block_keys = rows[:, np.newaxis] * num_right + columns
        keys.append(block_keys.ravel())
    return keys
