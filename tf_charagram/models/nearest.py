"""Exact search: cosines of queries and texts in blocks, and the largest of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError

# 64 MB of float32.
_MAX_CELLS = 2**24


def cosine_rows(
    queries: NDArray[np.float32], vectors: NDArray[np.float32]
) -> Iterator[NDArray[np.float32]]:
    """Yields the cosines of each query with all vectors, in [-1, 1], float32 `(num_vectors,)`.

    Args:
        queries: Unit-length vectors `(num_queries, dim)`.
        vectors: Unit-length vectors `(num_vectors, dim)`.

    Raises:
        ConfigError: `vectors` is not finite.
    """
    size = max(1, _MAX_CELLS // max(1, len(vectors)))
    for start in range(0, len(queries), size):
        cosines = queries[start : start + size] @ vectors.T
        if not np.isfinite(cosines).all():
            raise ConfigError("`vectors` must be finite. Received: NaN or infinity")
        yield from np.clip(cosines, -1, 1, out=cosines)


def nearest(cosines: NDArray[np.floating], k: int, own: int = -1) -> NDArray[np.intp]:
    """Returns the positions of the k largest cosines, largest first; ties in order.

    Args:
        cosines: `(num_words,)`.
        k: Number of positions.
        own: A position to leave out, or -1.
    """
    num_kept = min(k + (own >= 0), len(cosines))
    smallest = np.partition(cosines, -num_kept)[-num_kept] if num_kept else np.inf
    positions = np.flatnonzero(cosines >= smallest)
    positions = positions[np.argsort(-cosines[positions], kind="stable")]
    return positions[positions != own][:k]
