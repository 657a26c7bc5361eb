"""Finds the pairs of texts that are worth comparing in detail."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.reporting import ProgressLine
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.similarities import Texts

#: Candidates per text from each of the two indexes (vectors, n-grams).
NUM_CANDIDATES = 40
# N-grams of a text are looked up from the rarest on, until this many texts were found, with
# repetitions: frequent n-grams tell little and are in most texts.
_MAX_POSTINGS = 5000
# Above so many pairs of texts, candidates are found by n-grams alone: multiplying all vectors
# would take longest.
_MAX_PRODUCTS = 2_000_000_000
# Cosines in memory at the same time: 64 MB.
_MAX_COSINES = 1 << 24
# Left texts whose candidates are in memory at the same time.
_BATCH = 2000


def best_pairs(
    scorer: TextScorer,
    left: Texts,
    right: Texts,
    k: int,
    min_score: float,
    num_candidates: int = NUM_CANDIDATES,
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
        num_candidates: Candidates per text from each of the two indexes; at least k are used.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of left and right texts, `(num_pairs, 2)`, by left rows, then best first, then the same
        text first, then by right rows; and the scores, float32 `(num_pairs,)`. Pairs with a score
        of 0 are left out.
    """
    num_candidates = max(k, num_candidates)
    num_left = len(left)
    num_right = len(right)
    is_small = num_left * num_right <= _MAX_PRODUCTS
    uses_vectors = scorer.embedder is not None and (is_small or not scorer.is_lexical)
    best = [np.zeros((0, 2), np.int64)]
    best_scores = [np.zeros(0, np.float32)]
    with ProgressLine(num_left, is_wanted=shows_progress) as progress:
        for start in range(0, num_left, _BATCH):
            stop = min(start + _BATCH, num_left)
            keys = [np.zeros(0, np.int64)]
            if uses_vectors:
                vectors = left.vectors[start:stop]
                keys += _by_vectors(vectors, right.vectors, num_candidates)
            if scorer.is_lexical:
                ngrams = left.ngrams[start:stop]
                keys += _by_ngrams(ngrams, right.by_ngram, num_candidates)
            keys.append(_same_texts(left.texts[start:stop], right))
            # All find many of the same pairs.
            distinct_keys = np.unique(np.concatenate(keys))
            rows, columns = np.divmod(distinct_keys, num_right)
            rows += start
            pairs = np.stack([rows, columns], axis=1)
            scores = scorer.pair_scores(left, right, pairs)
            is_same = left.text_hashes[rows] == right.text_hashes[columns]
            chosen = _best(rows, scores, is_same, k, min_score)
            best.append(pairs[chosen])
            best_scores.append(scores[chosen])
            progress.update(f"{stop:,} texts", (), advance=stop - start)
    return np.concatenate(best), np.concatenate(best_scores)


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


def _same_texts(left: Sequence[str], right: Texts) -> NDArray[np.int64]:
    """Returns the pairs of left texts and the first right rows with the same text."""
    keys = []
    for row, text in enumerate(left):
        column = right.row_of.get(text)
        if column is not None:
            keys.append(row * len(right) + column)
    return np.array(keys, np.int64)


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


def _by_ngrams(
    left: sparse.csr_array, by_ngram: sparse.csr_array, k: int
) -> list[NDArray[np.int64]]:
    """Returns the k pairs with the largest cosines of rare n-grams of each left text."""
    keys = []
    num_right = by_ngram.shape[1]
    document_counts = np.diff(by_ngram.indptr)
    cosines = _rare_ngrams(left, document_counts) @ by_ngram
    for row, (start, stop) in enumerate(pairwise(cosines.indptr.tolist())):
        columns = cosines.indices[start:stop].astype(np.int64)
        if len(columns) > k:
            columns = _nearest(cosines.data[start:stop], columns, k)
        keys.append(row * num_right + columns)
    return keys


def _nearest(cosines: NDArray[np.float32], columns: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Returns the columns of the k largest cosines; of equal cosines, the lower columns."""
    order = np.argpartition(cosines, -k)
    last = cosines[order[-k]]
    if np.count_nonzero(cosines >= last) == k:
        return columns[order[-k:]]
    larger = columns[cosines > last]
    equal = np.sort(columns[cosines == last])
    return np.concatenate([larger, equal[: k - len(larger)]])


def _rare_ngrams(
    ngrams: sparse.csr_array, document_counts: NDArray[np.integer]
) -> sparse.csr_array:
    """Drops the frequent n-grams of each text.

    The n-grams that stay are in at most `_MAX_POSTINGS` texts, with repetitions.

    Args:
        ngrams: Tf-idf of texts, `(num_texts, num_ngrams)`.
        document_counts: Number of texts with each n-gram, `(num_ngrams,)`.
    """
    rows = ngrams.tocoo().row
    counts = document_counts[ngrams.indices]
    # Text by text, the rarest n-grams first; each text keeps its place.
    order = np.lexsort((counts, rows))
    totals = np.cumsum(counts[order])
    # Where the text of each n-gram starts.
    starts = ngrams.indptr[rows]
    totals_before = np.append(0, totals)[starts]
    is_kept = totals - totals_before <= _MAX_POSTINGS
    # The rarest n-gram stays: a text whose n-grams are all frequent would find nothing.
    is_kept[starts] = True
    kept = np.sort(order[is_kept])
    splits = np.searchsorted(kept, ngrams.indptr)
    return sparse.csr_array((ngrams.data[kept], ngrams.indices[kept], splits), ngrams.shape)
