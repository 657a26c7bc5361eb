"""Finds the texts that are worth comparing with each text in detail, and the best of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.reporting import ProgressLine
from tf_charagram.search._pairs.alike_words import alike_words
from tf_charagram.search._pairs.flat_arrays import (
    NO_IDS,
    Flags,
    Floats,
    Ids,
    Matrix,
    SparseRows,
    distinct_integers,
    ranks,
)
from tf_charagram.search._pairs.prepared import Directions, Texts
from tf_charagram.search._pairs.rare_keys import (
    nearest_pairs,
    product,
    rare_keys,
    row_sums,
)
from tf_charagram.search.scoring import PairEvidence, TextScorer

#: Candidates per text from each of the two indexes (vectors, n-grams).
NUM_CANDIDATES = 40
# Texts that are found by the words of a text, with repetitions: so many times the square root of
# the number of texts.
_POSTINGS = 20
_MIN_POSTINGS = 5000
# The same for a query, as a part of the texts: of a million texts with typos, 1 to 3 % more are
# found first. All texts of a list would take too long.
_PART_OF_TEXTS = 0.05
# Words without n-grams have no length, and words that are hardly alike are all the same.
_MIN_SQUARE = 1e-12
_MIN_SIMILARITY = 1e-3
# Above so many pairs of texts, candidates are found by n-grams alone: multiplying all vectors
# would take longest.
_MAX_PRODUCTS = 2_000_000_000
# Cosines in memory at the same time: 64 MB.
_MAX_COSINES = 1 << 24
# Parts of the cosines of a text that are laid over each other to find the largest ones.
_LAYERS = 64
# Of so many right texts, cosines are computed of those that are near in the main directions only:
# so many times as many as are wanted. Of 100,000 lines, they have 96 % of the 40 nearest, and 98 %
# of the 10 nearest; most others are found by words.
_MANY_TEXTS = 20_000
_NUM_NEAR = 8
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
) -> tuple[Ids, PairEvidence]:
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
        for rows in batches(np.arange(len(left)), num_candidates):
            pairs = _candidates(scorer, left, right, keys, rows, num_candidates, min_score)
            found = scorer.pair_evidence(left, right, pairs, min_score)
            left_rows, right_rows = pairs.T
            is_same = left.text_hashes[left_rows] == right.text_hashes[right_rows]
            chosen = _best(left_rows, found.scores, is_same, k, min_score)
            best.append(pairs[chosen])
            evidence.append(found.take(chosen))
            progress.update("texts", [progress.rate("texts")], advance=len(rows))
    return np.concatenate(best), PairEvidence.joined(evidence)


def batches(rows: Ids, num_candidates: int) -> Iterator[Ids]:
    """Yields rows by turns, as many as fit into memory with their candidates."""
    step = min(_BATCH, max(_MAX_BATCH_PAIRS // num_candidates, 1))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def max_postings_of(num_texts: int) -> int:
    """Returns the maximum number of texts that are found by the words of a text."""
    return max(int(_POSTINGS * num_texts**0.5), _MIN_POSTINGS)


def by_vectors_of(scorer: TextScorer, left: Texts, right: Texts, rows: Ids, k: int) -> list[Ids]:
    """Returns the k nearest right texts of some left rows by vectors, if there are not too many."""
    is_small = len(left) * len(right) <= _MAX_PRODUCTS
    if scorer.embedder is None or not (is_small or not scorer.is_lexical):
        return []
    directions = None
    if scorer.is_lexical and len(right) > _MANY_TEXTS:
        directions = right.main_directions
    return _by_vectors(left.vectors[rows], right.vectors, k, directions)


def _keys(scorer: TextScorer, left: Texts, right: Texts) -> Matrix | None:
    """Returns the right words that each left word looks up, or `None` for vectors only."""
    return alike_words(left, right) if scorer.is_lexical else None


def _candidates(
    scorer: TextScorer,
    left: Texts,
    right: Texts,
    word_keys: Matrix | None,
    rows: Ids,
    k: int,
    min_score: float,
) -> Ids:
    """Returns the pairs of some left rows that are worth comparing, `(num_pairs, 2)`, sorted."""
    num_right = len(right)
    keys = [_same_texts(left, right, rows), *by_vectors_of(scorer, left, right, rows, k)]
    if word_keys is not None:
        max_postings = max(max_postings_of(num_right), int(_PART_OF_TEXTS * num_right))
        found_words = product(_ones(left, rows), word_keys)
        squares = np.maximum(right.word_lengths[found_words.indices] ** 2, _MIN_SQUARE)
        similarities = np.clip(found_words.data / squares, _MIN_SIMILARITY, 1)
        rare_words = rare_keys(found_words, right.num_texts_of_word, max_postings, similarities)
        min_products = None
        if min_score > 0:
            min_cosines = 0.6 * scorer.least_ngrams(left, rows, min_score)
            lengths = np.maximum(left.lengths[rows], 1e-6)
            kept = row_sums(rare_words, rare_words.data)
            missing = row_sums(found_words, found_words.data) - kept
            min_products = min_cosines * lengths - missing / lengths
        keys.append(nearest_pairs(rare_words, right.by_word, k, min_products))
    # All find many of the same pairs.
    distinct_keys = distinct_integers(np.concatenate(keys))
    places, columns = np.divmod(distinct_keys, max(num_right, 1))
    return np.stack([rows[places], columns], axis=1)


def _ones(texts: Texts, rows: Ids) -> Matrix:
    """Returns a 1 for each word of some adjacent texts, `(num_rows, num_words)`."""
    splits = texts.lists.splits[rows[0] : rows[-1] + 2]
    ids = texts.lists.ids[splits[0] : splits[-1]]
    # Integers of one kind: SciPy would convert the other matrix for each product.
    indptr = (splits - splits[0]).astype(ids.dtype)
    shape = len(rows), len(texts.lists.words)
    return SparseRows(np.ones(len(ids), np.float32), ids, indptr, shape)


def _best(
    rows: Ids,
    scores: Floats,
    is_same: Flags,
    k: int,
    min_score: float,
) -> Ids:
    """Returns the indices of the k best pairs of each row, best first; `rows` is sorted."""
    # Of equal scores the same text comes first; the others stay in order, as lexsort is stable.
    order = np.lexsort((~is_same, -scores, rows))
    is_enough = (scores >= min_score) & (scores > 0)
    order = order[is_enough[order]]
    return order[ranks(rows[order]) < k]


# All return a pair as one integer, `row * num_right + column`: NumPy finds distinct
# integers faster than distinct rows of an array.


def _same_texts(left: Texts, right: Texts, rows: Ids) -> Ids:
    """Returns the pairs of left texts and the first right rows with the same text."""
    order = right.by_hash
    if not len(order):
        return NO_IDS
    hashes = left.text_hashes[rows]
    places = np.searchsorted(right.text_hashes, hashes, sorter=order)
    columns = order[np.minimum(places, len(order) - 1)]
    is_same = right.text_hashes[columns] == hashes
    return np.flatnonzero(is_same) * len(right) + columns[is_same]


def _by_vectors(
    left: Floats,
    right: Floats,
    k: int,
    directions: Directions | None = None,
) -> list[Ids]:
    """Returns the k pairs with the largest cosines of each left vector.

    Args:
        left: Vectors of unit length.
        right: Vectors of unit length.
        k: Number of pairs.
        directions: Directions in which right vectors that may be near are found first.
    """
    keys: list[Ids] = []
    num_right = len(right)
    if not num_right:
        return keys
    k = min(k, num_right)
    num_near = k
    near_left, near_right = left, right.T
    if directions is not None:
        num_near = min(_NUM_NEAR * k, num_right)
        near_left, near_right = left @ directions.basis, directions.coordinates
    step = max(_MAX_COSINES // num_right, 1)
    # New memory for each block would take a fifth of the time.
    cosines = np.empty((min(step, len(left)), num_right), np.float32)
    for start in range(0, len(left), step):
        block = near_left[start : start + step]
        near = np.matmul(block, near_right, out=cosines[: len(block)])
        least = _some_of_the_largest(near, num_near)
        for row, vector in enumerate(left[start : start + step]):
            columns = np.flatnonzero(near[row] >= least[row])
            columns = columns[_largest_of(near[row][columns], num_near)]
            if directions is not None:
                columns = columns[_largest_of(right.take(columns, axis=0) @ vector, k)]
            keys.append((start + row) * num_right + columns)
    return keys


def _largest_of(values: Floats, k: int) -> NDArray[np.intp]:
    """Returns the places of the k largest values."""
    return np.argpartition(values, -k)[-k:]


def _some_of_the_largest(values: Floats, k: int) -> Floats:
    """Returns a value of each row that at least k values reach, and few more.

    It is found in a tenth of the time of a partition of the rows.
    """
    num_rows, num_columns = values.shape
    width = num_columns // _LAYERS
    if width < k:
        return np.full(num_rows, -np.inf, np.float32)
    layers = values[:, : _LAYERS * width].reshape(num_rows, _LAYERS, width)
    return np.partition(layers.max(axis=1), -k, axis=1)[:, -k]
