"""Bags of character n-grams weighted by tf-idf: a baseline that needs no training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_charagram.lazy import extra_module


class CharacterTfidf:
    """Weights the character n-grams of texts by tf-idf, with scikit-learn.

    The n-grams are those of `charagram`: lowercase, white space collapsed, one space at both ends
    of the text. Rows have unit length.

    Args:
        orders: The smallest and the largest order of n-grams.

    Raises:
        ConfigError: scikit-learn is not installed.
    """

    def __init__(self, orders: tuple[int, int] = (2, 4)) -> None:
        text = extra_module("sklearn.feature_extraction.text", "sklearn")
        self._vectorizer = text.TfidfVectorizer(
            analyzer="char", ngram_range=orders, preprocessor=_padded, dtype=np.float32
        )

    def fit(self, texts: Sequence[str]) -> None:
        """Counts the texts that contain each n-gram."""
        self._vectorizer.fit(texts)

    def encode(self, texts: Sequence[str]) -> Any:
        """Embeds texts; n-grams that were not counted are left out.

        Returns:
            SciPy CSR matrix, float32 `(num_texts, num_ngrams)`.
        """
        return self._vectorizer.transform(texts)


def _padded(text: str) -> str:
    return f" {' '.join(text.lower().split())} "
