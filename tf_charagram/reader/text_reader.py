"""`TextReader`: texts in, vectors out, without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models.vectors import paired_cosines, unit_rows
from tf_charagram.reader.files import StoredModel, read_model
from tf_charagram.reader.flat import Batch, stacked
from tf_charagram.text.arguments import paired_texts, strings_of, texts_of
from tf_charagram.text.batches import bounded_batches, in_threads

_BATCH = 2000
_MAX_BATCH_CHARS = 1_000_000


class TextReader:
    """Embeds texts with a model of n-grams, without TensorFlow.

    The vectors are those of `TextEmbedder` up to rounding. A reader starts in a fraction of a
    second, works in threads and in forked processes, and can neither be trained nor exported.

    Args:
        model: The parts of a model.

    Example:
        >>> reader = TextReader.load("english")
        >>> reader.encode(["a cat", "two cats"]).shape
        (2, 384)
        >>> reader.read_as(["my pasword"])
        ['my password']
    """

    def __init__(self, model: StoredModel) -> None:
        self._model = model

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        correct_spelling: bool = True,
        keep_words: str | Path | Iterable[str] | None = None,
    ) -> Self:
        """Loads a saved model.

        Args:
            path: A model folder, a run folder, or the name of a model that ships with the package.
            correct_spelling: Let a model with a dictionary read misspelled words as known words.
            keep_words: Correctly spelled words, or texts made of them, such as all texts that are
                searched; or the path of a UTF-8 file with such lines. These words are read as
                written, and misspelled words may be read as them.

        Raises:
            ConfigError: The encoder does not sum n-grams, or `keep_words` is neither a path nor a
                list of texts.
            RunError: The folder does not contain an embedder, is damaged, or was written by a newer
                version; or the file of words cannot be read.
        """
        return cls(read_model(path, correct_spelling, keep_words))

    @property
    def dim(self) -> int:
        """Width of the embeddings."""
        return self._model.table.dim

    def encode(
        self, texts: Iterable[str | bytes], *, normalize: bool = False
    ) -> NDArray[np.float32]:
        """Returns the embeddings of texts, float32 `(num_texts, dim)`.

        Vectors are not normalized by default, so their dot products are not cosines.

        Args:
            texts: A list, array or column of a data frame of strings. Empty texts and broken UTF-8
                have defined embeddings.
            normalize: Whether to return vectors of unit length. Zero vectors stay zero.

        Raises:
            ConfigError: `texts` is a single string, a mapping or a data frame, or has a row that is
                missing or of another type.
        """
        vectors = [np.zeros((0, self.dim), np.float32)]
        for _, embedded in in_threads(self._encoded, _batches(texts)):
            vectors.append(unit_rows(embedded) if normalize else embedded)
        return np.concatenate(vectors)

    def _encoded(self, texts: Sequence[str | bytes]) -> NDArray[np.float32]:
        readings = self._model.symbols.readings(texts)
        both = self._vectors(stacked(readings.read, readings.written))
        vectors = both[: len(texts)]
        shares = np.expand_dims(readings.shares, 1)
        mixed = shares * vectors[readings.changed] + (1 - shares) * both[len(texts) :]
        vectors[readings.changed] = mixed
        return vectors

    def _vectors(self, batch: Batch) -> NDArray[np.float32]:
        model = self._model
        ids = model.ngrams.ids(batch)
        vectors = model.activation(model.table.sums(ids) + model.bias)
        if model.dense is None:
            return vectors
        kernel, bias = model.dense
        return model.activation(vectors @ kernel + bias)

    def similarity(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes]
    ) -> NDArray[np.float32]:
        """Returns the cosines of corresponding texts, float32 `(num_texts,)`.

        Args:
            left: Texts: a list, array or column of a data frame.
            right: The same number of texts.

        Raises:
            ConfigError: The arguments differ in length, or one of them is a single string or
                contains other values.
        """
        lefts, rights = paired_texts(left, right)
        left_vectors = self.encode(lefts, normalize=True)
        right_vectors = self.encode(rights, normalize=True)
        return paired_cosines(left_vectors, right_vectors)

    def read_as(self, texts: Iterable[str | bytes]) -> list[str]:
        """Returns texts with misspelled words replaced by the words that they are read as.

        Only a model with a dictionary corrects words; all else stays as it is.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return self._model.symbols.read_as(strings_of(texts))

    def known_share(self, texts: Iterable[str | bytes]) -> NDArray[np.float32]:
        """Returns the share of the visible characters of each text that the model knows.

        Args:
            texts: A list, array or column of a data frame of strings.

        Returns:
            float32 `(num_texts,)`; 1 for texts without visible characters.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        shares = [np.zeros(0, np.float32)]
        for batch in _batches(texts):
            shares.append(self._model.symbols.known_share(batch))
        return np.concatenate(shares)


def _batches(texts: Iterable[str | bytes]) -> Iterable[Any]:
    return bounded_batches(texts_of(texts, "texts"), _BATCH, _MAX_BATCH_CHARS)
