"""Vectors of texts: unit length, and the nearest ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


def _unchanged(vectors: np.ndarray) -> np.ndarray:
    return vectors


def _relu(vectors: np.ndarray) -> np.ndarray:
    return np.maximum(vectors, 0)


#: The non-linearities of encoders that sum n-grams.
ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": _unchanged,
    "tanh": np.tanh,
    "relu": _relu,
}


class Neighbor(NamedTuple):
    """A text, its cosine with the query, and its row: its position among the texts, from 0."""

    text: str
    cosine: float
    row: int


def nearest(cosines: NDArray[np.floating], k: int, own: int = -1) -> NDArray[np.intp]:
    """Returns the positions of the k largest cosines, largest first; ties in order.

    Args:
        cosines: `(num_words,)`.
        k: Number of positions.
        own: A position to leave out, or -1.
    """
    # One more than k, because `own` may be among them.
    num_kept = k + 1
    positions = np.arange(len(cosines))
    if num_kept < len(cosines):
        smallest = np.partition(cosines, -num_kept)[-num_kept]
        # All ties with the smallest, of which the stable sort keeps the first.
        positions = np.flatnonzero(cosines >= smallest)
    order = np.argsort(-cosines[positions], kind="stable")
    positions = positions[order]
    return positions[positions != own][:k]


def paired_cosines(lefts: np.ndarray, rights: np.ndarray) -> np.ndarray:
    """Returns the cosines of corresponding rows of unit length, `(n,)`."""
    # Rounding may give a little more than 1.
    return np.clip(np.sum(lefts * rights, axis=1), -1, 1)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Returns each row divided by its length; zero rows stay zero."""
    # Squares of large numbers overflow in float32.
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    lengths = np.sqrt(squares)
    divisors = np.where(lengths > 1e-6, lengths, np.inf)
    unit = vectors / divisors[:, np.newaxis]
    return unit.astype(vectors.dtype)


def nearest_texts(
    query: NDArray[np.floating], vectors: NDArray[np.floating], texts: Sequence[str], k: int
) -> list[Neighbor]:
    """Returns the k texts with the largest cosines to a query, largest first; ties by row.

    Args:
        query: Embedding of unit length, `(dim,)`.
        vectors: Embeddings of the texts, of unit length, `(num_texts, dim)`.
        texts: The texts.
        k: Number of texts.
    """
    # Rounding may give cosines a little above 1.
    cosines = np.clip(vectors @ query, -1, 1)
    neighbors = []
    for row in nearest(cosines, k).tolist():
        neighbors.append(Neighbor(texts[row], float(cosines[row]), row))
    return neighbors
