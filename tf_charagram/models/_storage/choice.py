"""Chooses who embeds texts: the reader, which starts at once, or TensorFlow, which is faster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram.models._storage.stored_model import sums_ngrams
from tf_charagram.models.text_reader import TextReader

#: From so many characters on, TensorFlow saves more time than it takes to start.
MANY_CHARS = 13_000_000


@runtime_checkable
class Embedder(Protocol):
    """A model that embeds texts: a `TextReader` or a `TextEmbedder`."""

    @property
    def dim(self) -> int:
        """Width of the embeddings."""

    @property
    def max_chars(self) -> int | None:
        """Characters of a text that count; `None` for no limit."""

    def encode(self, texts: Iterable[str | bytes], *, normalize: bool = ...) -> NDArray[np.float32]:
        """Returns the embeddings of texts, float32 `(num_texts, dim)`."""

    def encode_batches(
        self, texts: Iterable[str]
    ) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Yields batches of texts with their embeddings, float32 `(len(batch), dim)`."""


def load_embedder(model: str | Path, num_chars: int, **options: Any) -> Embedder:
    """Loads a model as a reader or with TensorFlow, whichever embeds texts sooner.

    The vectors are the same up to rounding.

    Args:
        model: A model folder, a run folder, or the name of a model that ships with the package.
        num_chars: Number of characters of the texts, or an estimate.
        **options: `correct_spelling`, `keep_words` and `word_counts`, passed to `load`.

    Raises:
        ConfigError: The model needs TensorFlow, which is not installed; or an option is invalid.
        RunError: The model cannot be loaded.
    """
    is_fast = num_chars < MANY_CHARS or find_spec("tensorflow") is None
    if is_fast and sums_ngrams(model):
        return TextReader.load(model, **options)
    load_tensorflow()
    from tf_charagram.models.embedder import TextEmbedder

    return TextEmbedder.load(model, folded=True, **options)


def load_anywhere(model: str | Path, **options: Any) -> Embedder:
    """Loads a model as a `TextEmbedder`, or as a `TextReader` where TensorFlow is not installed.

    Args:
        model: A model folder, a run folder, or the name of a model that ships with the package.
        **options: Arguments of `TextEmbedder.load`, or of `TextReader.load`.

    Raises:
        ConfigError: The model needs TensorFlow, which is not installed; or an option is invalid.
        RunError: The model cannot be loaded.
    """
    if find_spec("tensorflow") is None:
        return TextReader.load(model, **options)
    load_tensorflow()
    from tf_charagram.models.embedder import TextEmbedder

    return TextEmbedder.load(model, **options)


def num_chars_of(texts: Sequence[str]) -> int:
    """Counts the characters of texts, and the line end of each."""
    return sum(map(len, texts)) + len(texts)


def first_texts(texts: Iterable[str]) -> list[str]:
    """Takes texts from a stream until they are many; the stream keeps the others."""
    first = []
    num_chars = 0
    for text in texts:
        first.append(text)
        num_chars += len(text) + 1
        if num_chars >= MANY_CHARS:
            break
    return first
