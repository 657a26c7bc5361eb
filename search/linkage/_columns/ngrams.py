"""Trigrams of many texts at once, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.search._pairs.flat_arrays import (
    NO_IDS,
    Floats,
    Ids,
    distinct_integers,
    pairs_of_keys,
    places_in,
)

# Bits of a code point in the key of a trigram.
_BITS = 21


def trigrams(texts: Sequence[str]) -> tuple[Ids, Ids]:
    """Finds the trigrams of texts with a space at both ends.

    Returns:
        The row of each trigram, ascending, and its key, which holds its three code points.
    """
    # A zero ends a text, so that trigrams of two texts are told from others.
    joined = "".join(f" {text} \0" for text in texts)
    encoded = joined.encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(encoded, np.uint32).astype(np.int64)
    if len(points) < 3:
        return NO_IDS, NO_IDS
    ends = points == 0
    rows = np.cumsum(ends)[:-2]
    first, second, third = points[:-2], points[1:-1], points[2:]
    is_inside = (first > 0) & (second > 0) & (third > 0)
    keys = (first << 2 * _BITS) | (second << _BITS) | third
    return rows[is_inside], keys[is_inside]


class TrigramCounts(NamedTuple):
    """Counts of trigrams in texts.

    Attributes:
        num_texts: Number of texts.
        keys: The trigrams, ascending, `(num_trigrams,)`.
        counts: Number of texts with each, `(num_trigrams,)`.
    """

    num_texts: int
    keys: Ids
    counts: Ids

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> TrigramCounts:
        """Counts trigrams."""
        _, columns, known = _distinct_trigrams(texts)
        return cls(len(texts), known, np.bincount(columns, minlength=len(known)))

    def of(self, keys: Ids) -> Ids:
        """Returns the counts of some trigrams."""
        # The last count is of all other trigrams.
        counts = np.append(self.counts, 0)
        return counts[places_in(self.keys, keys)]


def _distinct_trigrams(
    texts: Sequence[str],
) -> tuple[Ids, Ids, Ids]:
    """Returns the row and the column of each distinct trigram of a text, and the key of each."""
    rows, keys = trigrams(texts)
    known, columns = np.unique(keys, return_inverse=True)
    keys_of_rows = distinct_integers(rows * len(known) + columns)
    return *pairs_of_keys(keys_of_rows, len(known)).T, known


def trigram_tfidf(texts: Sequence[str], counted: TrigramCounts | None = None) -> sparse.csr_array:
    """Returns the tf-idf of trigrams, rows of length 1 or 0, float32 `(num_texts, num_trigrams)`.

    Each trigram counts once in a text.

    Args:
        texts: The texts.
        counted: Counts in other texts. Default: in these.
    """
    rows, columns, known = _distinct_trigrams(texts)
    num_texts = len(texts)
    if counted is None:
        counts = np.bincount(columns, minlength=len(known))
    else:
        num_texts = counted.num_texts
        counts = counted.of(known)
    idf = 1 + np.log((1 + num_texts) / (1 + counts))
    weights = idf[columns]
    lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(texts)))
    weights = (weights / lengths[rows]).astype(np.float32)
    return sparse.csr_array((weights, (rows, columns)), (len(texts), len(known)))


def trigram_cosines(
    texts: Sequence[str], pairs: NDArray[np.integer], counted: TrigramCounts | None = None
) -> Floats:
    """Returns the cosines of the tf-idf of pairs of texts, float32 `(num_pairs,)`."""
    vectors = trigram_tfidf(texts, counted)
    left, right = pairs.T
    products = vectors[left].multiply(vectors[right])
    return np.asarray(products.sum(axis=1), np.float32).ravel()
