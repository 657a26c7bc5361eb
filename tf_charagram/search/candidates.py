"""Finds the pairs of texts that are worth comparing in detail."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.reporting import ProgressLine
from tf_charagram.search.scoring import Texts, TextScorer

#: Texts that are compared in detail for each text: so many nearest by vectors, and by n-grams.
NUM_CANDIDATES = 40
# N-grams of a text are looked up from the rarest on, until this many texts were found, with
# repetitions, but at least the rarest: frequent n-grams tell little and are in most texts.
_MAX_POSTINGS = 5000
# Above so many products of vectors, candidates are found by n-grams alone.
_MAX_PRODUCTS = 2_000_000_000
# Numbers per block: 64 MB.
_BLOCK = 1 << 24
# Texts that are compared at once.
_BATCH = 2000


def best_pairs(
    scorer: TextScorer, left: Texts, right: Texts, k: int, min_score: float = 0.0,
    num_candidates: int = NUM_CANDIDATES, *, shows_progress: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:  # fmt: skip
    """Returns the k best right texts for each left one, and their scores.

    Args:
        scorer: The scorer.
        left: Texts.
        right: Texts.
        k: Number of right texts for each left one.
        min_score: Minimum score.
        num_candidates: Texts that are compared in detail, by vectors and by n-grams each.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of left and right texts, `(num_pairs, 2)`, by left rows, then best first, then by right
        rows; and the scores, float32 `(num_pairs,)`. Pairs with a score of 0 are left out.
    """
    uses_vectors = not scorer.is_lexical or len(left) * len(right) <= _MAX_PRODUCTS
    all_pairs, all_scores = [np.zeros((0, 2), np.int64)], [np.zeros(0, np.float32)]
    with ProgressLine(len(left), is_wanted=shows_progress) as progress:
        for start in range(0, len(left), _BATCH):
            batch = left.part(start, start + _BATCH)
            pairs = _candidates(
                batch, right, max(k, num_candidates), uses_vectors, scorer.is_lexical
            )
            scores = scorer.pair_scores(batch, right, pairs)
            order = np.lexsort((-scores, pairs[:, 0]))
            order = order[(scores[order] >= min_score) & (scores[order] > 0)]
            lefts = pairs[order, 0]
            order = order[np.arange(len(order)) - np.searchsorted(lefts, lefts) < k]
            all_pairs.append(pairs[order] + [start, 0])
            all_scores.append(scores[order])
            progress.update(f"{start + len(batch):,} texts", (), advance=len(batch))
    return np.concatenate(all_pairs), np.concatenate(all_scores)


def _candidates(
    left: Texts, right: Texts, k: int, uses_vectors: bool, uses_ngrams: bool
) -> NDArray[np.int64]:
    """Returns pairs of similar texts, rows of left and right ones, `(num_pairs, 2)`, sorted."""
    keys = [np.zeros(0, np.int64)]
    if left.vectors.shape[1] and uses_vectors:
        keys += _by_vectors(left.vectors, right.vectors, k)
    if right.ngrams.nnz and uses_ngrams:
        keys += _by_ngrams(left.ngrams, right.by_ngram, k)
    # Both kinds find many of the same.
    pairs = np.unique(np.concatenate(keys))
    return np.stack(np.divmod(pairs, max(len(right), 1)), axis=1)


def _by_vectors(
    left: NDArray[np.float32], right: NDArray[np.float32], k: int
) -> list[NDArray[np.int64]]:
    keys = []
    step = max(_BLOCK // max(len(right), 1), 1)
    for start in range(0, len(left), step):
        cosines = left[start : start + step] @ right.T
        rows = np.arange(start, start + len(cosines))[:, np.newaxis]
        nearest = np.arange(len(right))
        if k < len(right):
            nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
        keys.append((rows * len(right) + nearest).ravel())
    return keys


def _by_ngrams(
    left: sparse.csr_array, by_ngram: sparse.csr_array, k: int
) -> list[NDArray[np.int64]]:
    keys = []
    num_right = by_ngram.shape[1]
    found = _rare_ngrams(left, np.diff(by_ngram.indptr)) @ by_ngram
    for row, (first, stop) in enumerate(pairwise(found.indptr.tolist())):
        columns = found.indices[first:stop]
        if len(columns) > k:
            columns = columns[np.argpartition(found.data[first:stop], -k)[-k:]]
        keys.append(row * num_right + columns.astype(np.int64))
    return keys


def _rare_ngrams(ngrams: sparse.csr_array, df: NDArray[np.integer]) -> sparse.csr_array:
    """Returns the values of the rarest n-grams of each text, see `_MAX_POSTINGS`."""
    rows = np.repeat(np.arange(ngrams.shape[0]), np.diff(ngrams.indptr))
    order = np.lexsort((df[ngrams.indices], rows))
    found = np.cumsum(df[ngrams.indices[order]])
    before = np.append(0, found)[ngrams.indptr[:-1]]
    is_kept = np.empty(len(order), bool)
    is_kept[order] = found - before[rows] <= _MAX_POSTINGS
    is_kept[order[ngrams.indptr[:-1][np.diff(ngrams.indptr) > 0]]] = True
    splits = np.append(0, np.cumsum(is_kept))[ngrams.indptr]
    return sparse.csr_array((ngrams.data[is_kept], ngrams.indices[is_kept], splits), ngrams.shape)
