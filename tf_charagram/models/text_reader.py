"""`TextReader`: texts in, vectors out, without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.arrays import ArrayFile
from tf_charagram.errors import ConfigError
from tf_charagram.models._answers.answers import EmbeddingAnswers
from tf_charagram.models._answers.explanation import EncoderLayers
from tf_charagram.models._answers.vectors import ACTIVATIONS, unit_rows
from tf_charagram.models._encoding.row_sums import RowSums
from tf_charagram.models._storage.locations import EMBEDDER, model_folder
from tf_charagram.models._storage.stored_model import NGRAM_ENCODER, StoredModel, stored_model
from tf_charagram.models._storage.stored_tables import SCALES, StoredTable
from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.arguments import texts_of
from tf_charagram.text._algorithm.batches import bounded_batches, in_threads
from tf_charagram.text._algorithm.flat import stacked
from tf_charagram.text._algorithm.ids import Ngrams
from tf_charagram.text._algorithm.symbols import Symbols
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.alphabet import Alphabet

T = TypeVar("T", bound=str | bytes)

_BATCH = 2000
_MAX_BATCH_CHARS = 1_000_000
_TABLE = "ngrams/table"


class _Parts(NamedTuple):
    """The parts of a model: what reads texts, finds ids, and sums rows."""

    symbols: Symbols
    ngram_ids: Ngrams
    table: RowSums
    layers: EncoderLayers


class TextReader(EmbeddingAnswers):
    """Embeds texts with a model of n-grams, without TensorFlow.

    The vectors are those of `TextEmbedder` up to rounding. A reader starts in a fraction of a
    second, works in threads and in forked processes, and can neither be trained nor exported.
    `load` makes one.

    Examples:
        >>> reader = TextReader.load("english")
        >>> reader.encode(["a cat", "two cats"]).shape
        (2, 384)
        >>> reader.read_as(["my pasword"])
        ['my password']
    """

    def __init__(self, parts: _Parts) -> None:
        self._table = parts.table
        self._layers = parts.layers
        self._ngrams = parts.ngram_ids
        self._symbols = parts.symbols

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        kind: str | None = EMBEDDER,
        correct_spelling: bool = True,
        keep_words: str | Path | Iterable[str] | None = None,
        word_counts: Mapping[str, int] | None = None,
    ) -> Self:
        """Loads a saved model.

        Args:
            path: A model folder, a run folder, or the name of a model that ships with the package.
            kind: The expected kind of model; `None` also loads the part of a scorer or classifier
                that embeds texts.
            correct_spelling: Let a model with a dictionary read misspelled words as known words.
            keep_words: Correctly spelled words, or texts made of them, such as all texts that are
                searched; or the path of a UTF-8 file with such lines; or a mapping of words to
                their counts. These words are read as written, and misspelled words may be read as
                them.
            word_counts: How often words occur in the texts of a job. If the model weighs words,
                words that are rare in these texts count more.

        Raises:
            ConfigError: The encoder does not sum n-grams, or `keep_words` is neither a path nor a
                list of texts.
            RunError: The folder does not contain an embedder, is damaged, or was written by a newer
                version; or the file of words cannot be read.
        """
        opened = stored_model(
            path,
            kind,
            correct_spelling=correct_spelling,
            keep_words=keep_words,
            word_counts=word_counts,
        )
        with opened as stored:
            encoder = stored.config["encoder"]["name"]
            if encoder == NGRAM_ENCODER:
                return cls(_parts_of(stored))
        raise ConfigError(
            f"{model_folder(path)} has the encoder '{encoder}', which needs TensorFlow. "
            "Load it with TextEmbedder."
        )

    @property
    def symbols(self) -> Symbols:
        """Reads texts as symbols: folds them, and corrects their words."""
        return self._symbols

    @property
    def max_chars(self) -> int | None:
        """Characters of a text that count; `None` for no limit."""
        return self.symbols.max_chars

    @property
    def can_explain(self) -> bool:
        """Whether `explain` tells all n-grams apart; a folded model has their sums only."""
        return not self._ngrams.longest_only

    @property
    def dim(self) -> int:
        """Width of the embeddings."""
        return self._table.dim

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
        texts = list(texts_of(texts, "texts"))
        # One array: joining those of all batches would take the memory twice.
        vectors = np.empty((len(texts), self.dim), np.float32)
        start = 0
        for batch, embedded in self.encode_batches(texts):
            stop = start + len(batch)
            vectors[start:stop] = unit_rows(embedded) if normalize else embedded
            start = stop
        return vectors

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
        batches: Iterable[Any] = bounded_batches(texts_of(texts, "texts"), _BATCH, _MAX_BATCH_CHARS)
        return in_threads(self._encoded, batches)

    def _encoded(self, texts: Sequence[str | bytes]) -> NDArray[np.float32]:
        readings = self.symbols.readings(texts)
        # In one batch, because each product with the table has a fixed price.
        batch = stacked(arrays, readings.read, readings.written)
        ids, weights = self._ngrams.weighted(batch, longest=True)
        both = self._layers.applied(self._table.sums(ids, weights))
        vectors = both[: len(texts)]
        shares = np.expand_dims(readings.shares, 1)
        mixed = shares * vectors[readings.changed] + (1 - shares) * both[len(texts) :]
        vectors[readings.changed] = mixed
        return vectors

    def _ngram_ids(self) -> Ngrams:
        return self._ngrams

    def _row_vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        return self._table.rows(ids)

    def _encoder_layers(self) -> EncoderLayers:
        return self._layers


def _parts_of(stored: StoredModel) -> _Parts:
    """Makes the parts of a reader.

    Raises:
        KeyError: An array or a setting is missing.
        ValueError: An array has another shape or values out of range.
    """
    symbols, ngram_ids = text_parts(stored.config["vectorizer"], stored.state, stored.dictionary)
    weights = stored.weights
    encoder = stored.config["encoder"]["config"]
    dim = encoder["dim"]
    num_rows = encoder["num_rows"]
    if num_rows < ngram_ids.num_rows + ngram_ids.unknown_rows:
        raise ValueError(f"its table has {num_rows} rows, too few for its n-grams")
    scales = None
    width = dim
    kind = weights.infos[_TABLE].dtype.kind
    if kind in "iu":
        scales = _array(weights, _TABLE + SCALES, num_rows, 1)
        # Two four-bit integers per byte.
        width = dim if kind == "i" else (dim + 1) // 2
    rows = _array(weights, _TABLE, num_rows, width)
    dense = None
    if encoder["num_layers"] == 2:
        dense = (_array(weights, "dense/kernel", dim, dim), _array(weights, "dense/bias", dim))
    # Weights are named by the encoder, whose name can be chosen.
    bias = _array(weights, f"{encoder['name']}/bias", dim)
    layers = EncoderLayers(bias, ACTIVATIONS[encoder["activation"]], dense)
    table = RowSums(StoredTable(rows, scales), dim, ngram_ids)
    return _Parts(symbols, ngram_ids, table, layers)


def text_parts(
    settings: dict[str, Any], state: dict[str, np.ndarray], dictionary: Dictionary | None
) -> tuple[Symbols, Ngrams]:
    """Makes what reads texts and finds the ids of their n-grams, in NumPy.

    Args:
        settings: The settings of an `NgramVectorizer`.
        state: Its vocabulary.
        dictionary: Its dictionary.

    Raises:
        KeyError: An array or a setting is missing.
        ValueError: The vocabulary is damaged.
    """
    alphabet = Alphabet.from_array(state["alphabet"]) if "alphabet" in state else None
    keys = None
    orders = settings["orders"]
    num_rows = settings["hash_buckets"]
    unknown_rows = settings["unknown_rows"]
    if num_rows is None:
        keys = state["keys"]
        if keys.ndim != 1 or not len(keys) or keys.min() < 1:
            raise ValueError("the vocabulary must be a list of keys above 0")
        num_rows = len(keys)
        orders = state["orders"].tolist()
    ngram_ids = Ngrams(
        orders,
        keys,
        alphabet,
        arrays,
        num_rows=num_rows,
        rows_per_ngram=settings["rows_per_ngram"],
        longest_only=settings["longest_only"],
        unknown_rows=unknown_rows,
        # Older models lack it.
        hash_signs=settings.get("hash_signs", False),
    )
    symbols = Symbols(
        alphabet,
        dictionary,
        lowercase=settings["lowercase"],
        unicode_form=settings["unicode_form"],
        max_chars=settings["max_chars"],
        fold_characters=settings["fold_characters"],
        keep_unknown=unknown_rows > 0,
    )
    return symbols, ngram_ids


def _array(weights: ArrayFile, name: str, *shape: int) -> np.ndarray:
    """Returns an array of weights.

    Raises:
        KeyError: It is missing.
        ValueError: It has another shape.
    """
    found = weights.infos[name].shape
    if found != shape:
        raise ValueError(f"the array '{name}' is {found}, where {shape} is expected")
    return weights.mapped(name)
