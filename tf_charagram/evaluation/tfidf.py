"""Bags of character n-grams, weighted by tf-idf."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.extras import extra_module


class CharacterTfidf:
    """Counts the character n-grams of texts and weights them by tf-idf, with scikit-learn.

    The n-grams are those of `charagram`: in lower case, with white space collapsed and one space at
    both ends of the text. Rows have unit length.

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
        self._is_fixed = False
        self._is_fitted = False

    @classmethod
    def load(cls, path: str | Path, orders: tuple[int, int] = (2, 4)) -> Self:
        """Counts the n-grams of a file of texts, one per line; `fit` then does nothing more.

        Raises:
            ConfigError: scikit-learn is not installed.
            DataError: The file cannot be read, or has no text.
        """
        baseline = cls(orders)
        try:
            baseline._learn(text for _, text in read_lines(path) if text.strip())
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DataError(path, f"expected texts, one per line ({error})") from error
        baseline._is_fixed = True
        return baseline

    def fit(self, texts: Sequence[str]) -> None:
        """Counts in how many of the texts each n-gram is, unless a file said so."""
        if not self._is_fixed:
            self._learn(texts)

    def encode(self, texts: Sequence[str]) -> Any:
        """Embeds texts; n-grams that were not counted are left out.

        Returns:
            SciPy's CSR matrix, float32 `(num_texts, num_ngrams)`.

        Raises:
            ConfigError: Nothing was counted yet.
        """
        if not self._is_fitted:
            raise ConfigError("tf-idf needs to know in how many texts n-grams are: `fit` it first.")
        return self._vectorizer.transform(texts)

    def notes(self) -> list[str]:
        """Returns nothing: there is nothing to say."""
        return []

    def _learn(self, texts: Iterable[str]) -> None:
        self._vectorizer.fit(texts)
        self._is_fitted = True


def _padded(text: str) -> str:
    return f" {' '.join(text.lower().split())} "
