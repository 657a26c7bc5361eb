"""`TextReader`: texts in, vectors out, without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import RunError
from tf_charagram.models.explanation import Parts, mixed, summands
from tf_charagram.models.locations import EMBEDDER, read_kind
from tf_charagram.models.vectors import paired_cosines, unit_rows
from tf_charagram.reader.files import StoredModel, read_model
from tf_charagram.text import arrays
from tf_charagram.text.arguments import paired_texts, strings_of, texts_of
from tf_charagram.text.batches import bounded_batches, in_threads
from tf_charagram.text.flat import Batch, Rows, stacked
from tf_charagram.text.symbols import Symbols

T = TypeVar("T", bound=str | bytes)

_BATCH = 2000
_MAX_BATCH_CHARS = 1_000_000


class TextReader:
    """Embeds texts with a model of n-grams, without TensorFlow.

    The vectors are those of `TextEmbedder` up to rounding. A reader starts in a fraction of a
    second, works in threads and in forked processes, and can neither be trained nor exported.

    Args:
        model: The parts of a model.

    Examples:
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
                searched; or the path of a UTF-8 file with such lines; or a mapping of words to
                their counts. These words are read as written, and misspelled words may be read as
                them.

        Raises:
            ConfigError: The encoder does not sum n-grams, or `keep_words` is neither a path nor a
                list of texts.
            RunError: The folder does not contain an embedder, is damaged, or was written by a newer
                version; or the file of words cannot be read.
        """
        kind = read_kind(path)
        if kind != EMBEDDER:
            raise RunError(f"{path} contains a model of the kind '{kind}'. Expected: '{EMBEDDER}'.")
        return cls(read_model(path, correct_spelling, keep_words))

    @property
    def symbols(self) -> Symbols:
        """Reads texts as symbols: folds them, and corrects their words."""
        return self._model.symbols

    @property
    def max_chars(self) -> int | None:
        """Characters of a text that count; `None` for no limit."""
        return self._model.symbols.max_chars

    @property
    def can_explain(self) -> bool:
        """Whether `ngrams` tells all n-grams apart; a folded model has their sums only."""
        return not self._model.ngrams.longest_only

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
        for _, embedded in self.encode_batches(texts):
            vectors.append(unit_rows(embedded) if normalize else embedded)
        return np.concatenate(vectors)

    def encode_batches(self, texts: Iterable[T]) -> Iterator[tuple[list[T], NDArray[np.float32]]]:
        """Embeds a stream of texts on all cores.

        Args:
            texts: Strings in any iterable, consumed lazily.

        Yields:
            The texts of a batch, at most 2,000, and their embeddings, float32 `(len(batch), dim)`;
            in order.

        Raises:
            ConfigError: `texts` is a single string.
        """
        return in_threads(self._encoded, _batches(texts))

    def _encoded(self, texts: Sequence[str | bytes]) -> NDArray[np.float32]:
        readings = self._model.symbols.readings(texts)
        both = self._vectors(stacked(arrays, readings.read, readings.written))
        vectors = both[: len(texts)]
        shares = np.expand_dims(readings.shares, 1)
        mixed = shares * vectors[readings.changed] + (1 - shares) * both[len(texts) :]
        vectors[readings.changed] = mixed
        return vectors

    def _vectors(self, batch: Batch) -> NDArray[np.float32]:
        model = self._model
        ids = model.ngrams(batch)
        vectors = model.activation(model.table.sums(ids) + model.bias)
        if model.dense is None:
            return vectors
        kernel, bias = model.dense
        return model.activation(vectors @ kernel + bias)

    def ngrams(self, text: str | bytes) -> Parts:
        """Returns a text as the sum of its n-grams."""
        readings = self._model.symbols.readings([text])
        read = self._parts(readings.read)
        if not len(readings.changed):
            return read
        [share] = readings.shares.tolist()
        return mixed(share, read, self._parts(readings.written))

    def _parts(self, batch: Batch) -> Parts:
        """Returns the first text of a batch as the sum of its n-grams."""
        model = self._model
        spans, ids = model.ngrams.spans(batch)
        lengths = [len(rows) for rows in ids]
        rows = Rows(np.array([*chain(*ids)], np.int64), np.append(0, np.cumsum(lengths)))
        vectors = summands(model.table.sums(rows), model.bias, model.activation, model.dense)
        return Parts(model.symbols.string(batch), spans, vectors)

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
