"""The vectors of texts for an encoder that is not trained, computed once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.encoding import distinct


def cached_vectors(
    embedder: TextEmbedder, texts: Iterable[str | bytes], *, batch_size: int = 1000
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Embeds each distinct text once.

    Args:
        embedder: Vectorizer and encoder, which are not trained.
        texts: The texts, such as the lefts and then the rights of pairs; many may be equal.
        batch_size: Texts embedded at a time.

    Returns:
        The vectors of the distinct texts, float32 `(num_distinct, dim)`; and for each text the row
        of its vector, int64 `(num_texts,)`.

    Raises:
        ConfigError: `batch_size` is below 1.
    """
    known, rows = distinct(texts)
    return embedder.encode(known, batch_size=batch_size), rows
