"""Word vectors in memory, with the frequency rank of each word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from research.readers.word_vectors import scan_vectors
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import DataError


class LookedUp(NamedTuple):
    """The vectors of some words.

    Attributes:
        vectors: float32 `(num_words, dim)`; zeros for a word without a vector.
        is_known: bool `(num_words,)`, whether there is a vector.
        ranks: Positions in the file from 1, int64 `(num_words,)`; for words not in the file, one
            more than the last.
    """

    vectors: NDArray[np.float32]
    is_known: NDArray[np.bool_]
    ranks: NDArray[np.int64]


class WordTable(Protocol):
    """Vectors of words.

    Attributes:
        dim: Width of the vectors.
        num_words: Number of words in the file.
    """

    dim: int
    num_words: int

    def look_up(self, words: Sequence[str]) -> LookedUp:
        """Returns the vectors of words, as written or else in lowercase."""


class VectorsInMemory:
    """Word vectors from a file: of some words, or of all.

    Args:
        words: The words, each once.
        vectors: float32 `(len(words), dim)`.
        ranks: The place of each in the file, from 1, `(len(words),)`. Default: their order.
        num_words: Number of words in the file. Default: that of `words`.
    """

    def __init__(
        self,
        words: Sequence[str],
        vectors: NDArray[np.float32],
        ranks: Sequence[int] | None = None,
        num_words: int | None = None,
    ) -> None:
        self.dim = vectors.shape[1]
        self.num_words = len(words) if num_words is None else num_words
        self._rows = {word: row for row, word in enumerate(words)}
        # The last row is that of all words without a vector.
        self._vectors = np.vstack([vectors, np.zeros((1, self.dim), np.float32)])
        ranks = range(1, len(words) + 1) if ranks is None else ranks
        self._ranks = np.array([*ranks, self.num_words + 1], np.int64)

    @classmethod
    def load(
        cls,
        path: str | Path,
        words: Iterable[str] | None = None,
        *,
        on_bad_line: str | BadLines = "error",
    ) -> Self:
        """Loads the vectors of some words; takes memory only for these.

        Args:
            path: The file, see `scan_vectors`. The first vector of a repeated word counts.
            words: The words, which are also searched in lowercase. Defaults to all.
            on_bad_line: As for `scan_vectors`.

        Raises:
            DataError: The file cannot be read, or lacks all of the words.
        """
        wanted = None
        if words is not None:
            wanted = {form for word in words for form in (word, word.lower())}
        rows: dict[str, tuple[int, NDArray[np.float32]]] = {}
        dim = rank = 0
        for rank, (word, vector) in enumerate(
            scan_vectors(path, wanted, on_bad_line=on_bad_line), start=1
        ):
            if vector is not None:
                dim = len(vector)
                rows.setdefault(word, (rank, vector))
        if not rows:
            of = "" if wanted is None else " in the texts"
            raise DataError(path, f"expected vectors of words{of}, found none among {rank:,} words")
        vectors = np.zeros((len(rows), dim), np.float32)
        for row, (_, vector) in enumerate(rows.values()):
            vectors[row] = vector
        return cls(list(rows), vectors, [rank for rank, _ in rows.values()], rank)

    def look_up(self, words: Sequence[str]) -> LookedUp:
        """Returns the vectors of words; see `WordTable.look_up`."""
        find, unknown = self._rows.get, len(self._rows)
        rows = np.array([find(word, find(word.lower(), unknown)) for word in words], np.intp)
        return LookedUp(self._vectors[rows], rows < unknown, self._ranks[rows])


class FastTextTable:
    """Word vectors of a fastText model, which builds those of unknown words from n-grams.

    If the vocabulary of the model is lowercase, words are lowercased.

    Args:
        model: The model, see `load_fasttext`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.dim = int(model.get_dimension())
        words = model.get_words(on_unicode_error="replace")
        self.num_words = len(words)
        self._ranks = {word: rank for rank, word in enumerate(words, start=1)}
        self._is_lower = all(word == word.lower() for word in words)

    def look_up(self, words: Sequence[str]) -> LookedUp:
        """Returns the vectors of words; see `WordTable.look_up`."""
        forms = [self._form(word) for word in words]
        vectors = np.zeros((len(forms), self.dim), np.float32)
        for row, form in enumerate(forms):
            vectors[row] = self._model.get_word_vector(form)
        ranks = [self._ranks.get(form, self.num_words + 1) for form in forms]
        return LookedUp(vectors, np.any(vectors != 0, axis=1), np.array(ranks, np.int64))

    def _form(self, word: str) -> str:
        lower = word.lower()
        is_better = word not in self._ranks and (self._is_lower or lower in self._ranks)
        return lower if is_better else word
