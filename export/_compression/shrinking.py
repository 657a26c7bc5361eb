"""Makes a model smaller for serving: fewer bits per number, n-grams or dimensions.

The order in which `max_mb` tries these comes from the scores of a model of words (110,733 n-grams,
300 dimensions) on WS353 and STS, measured by `benchmarks/sizes.py`. int8 costs next to nothing,
so it comes first. Most n-grams cost little as long as about 100 per dimension are left; below that,
reducing the dimension costs less.
"""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import keras
import numpy as np

from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.export._compression.options import ShrinkOptions
from tf_charagram.export._compression.quantization import QuantizedEncoder, quantization_problem
from tf_charagram.models._encoding.prefix_sums import fold
from tf_charagram.models._storage.stored_tables import SERVED_DTYPES as DTYPES
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

_NGRAMS_PER_DIM = 100
# Scores fall steeply below these.
_MIN_DIM = 50
_MIN_NGRAMS = _NGRAMS_PER_DIM * _MIN_DIM
# Names, shapes and the card take a few more digits in a larger model.
_MARGIN = 2_000
# A key and a row number in the lookup table.
_KEY_BYTES = 16


def shrink(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, options: ShrinkOptions
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Makes a model smaller: prunes n-grams, projects, folds n-grams, then quantizes the table.

    The result is for `TextEmbedder(vectorizer, encoder)`, to encode and to export; it cannot be
    trained further.

    Args:
        vectorizer: Vectorizer of the model that training saved.
        encoder: Its encoder.
        options: What to do; by default, only fold n-grams: the rows of an n-gram's prefixes are
            added to its own, so that a text reads one row per position.

    Returns:
        The smaller vectorizer and encoder; the arguments are not changed.

    Raises:
        ConfigError: The model does not support an option; the message says which it supports.

    Examples:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["cat", "cats", "dog"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> options = ShrinkOptions(dtype="int8", max_ngrams=10, dim=4)
        >>> vectorizer, encoder = shrink(vectorizer, encoder, options)
        >>> vectorizer.num_rows, encoder.dim
        (10, 4)
    """
    if options.max_mb is not None:
        options = fitting_options(vectorizer, encoder, options.max_mb)
    if options.max_ngrams is not None:
        vectorizer, encoder = pruned(vectorizer, encoder, options.max_ngrams)
    if options.dim is not None:
        encoder = projected(encoder, options.dim)
    # Folding sums rows of float32, so it comes before quantization.
    vectorizer, encoder = fold(vectorizer, encoder)
    if options.dtype != "float32":
        encoder = QuantizedEncoder(encoder, options.dtype)
    return vectorizer, encoder


def fitting_options(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    max_mb: float,
    extra_bytes: int = 0,
) -> ShrinkOptions:
    """Chooses the options that keep a model under a size limit at the smallest loss of quality.

    Tries float32, float16, int8, then int8 with fewer n-grams (at least 100 per dimension) and as
    many dimensions as that allows.

    Args:
        vectorizer: Vectorizer of the model, not folded.
        encoder: Its encoder.
        max_mb: Size limit of the folder that `TextEmbedder.export` writes, in 10^6 bytes.
        extra_bytes: Size of other files in that folder.

    Returns:
        Options for `shrink`, without `max_mb`.

    Raises:
        ConfigError: The model cannot be made that small.
    """
    problem = quantization_problem(encoder)
    if problem is not None:
        size = saved_model_bytes(vectorizer, encoder) + extra_bytes
        if size <= max_mb * 1e6:
            return ShrinkOptions()
        raise ConfigError(
            f"`max_mb` must be at least {_megabytes(size)} for this model. "
            f"Received: max_mb={max_mb:g}. {problem}"
        )
    num_rows = vectorizer.num_rows
    dim = encoder.dim
    min_dim = min(_MIN_DIM, dim) if can_project(encoder) else dim
    smallest_rows = _min_rows(vectorizer, encoder, min_dim)
    smallest = _int8_options(vectorizer, encoder, smallest_rows, min_dim)
    # The smallest model is written once. Larger ones differ only in their table and its lookup.
    smaller_vectorizer, smaller_encoder = shrink(vectorizer, encoder, smallest)
    min_bytes = saved_model_bytes(smaller_vectorizer, smaller_encoder) + _MARGIN + extra_bytes
    other_bytes = min_bytes - smallest_rows * _row_bytes("int8", min_dim)
    room = max_mb * 1e6 - other_bytes
    for dtype in DTYPES:
        if num_rows * _row_bytes(dtype, dim) <= room:
            return ShrinkOptions(dtype)  # type: ignore[arg-type]
    for smaller_dim in range(dim, min_dim - 1, -1):
        rows = min(num_rows, int(room / _row_bytes("int8", smaller_dim)))
        if rows >= _min_rows(vectorizer, encoder, smaller_dim):
            return _int8_options(vectorizer, encoder, rows, smaller_dim)
    raise ConfigError(
        f"`max_mb` must be at least {_megabytes(min_bytes)} for this model, which then has "
        f"{smallest_rows:,} rows of {min_dim} int8. Received: max_mb={max_mb:g}. "
        "For an even smaller one, set `dtype`, `max_ngrams` and `dim` yourself."
    )


def _min_rows(vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, dim: int) -> int:
    """Returns the smallest number of rows that `max_mb` chooses for a dimension."""
    if not _can_prune(vectorizer):
        return int(vectorizer.num_rows)
    num_ngrams = _NGRAMS_PER_DIM * dim if can_project(encoder) else _MIN_NGRAMS
    return min(vectorizer.num_rows, num_ngrams + vectorizer.unknown_rows)


def saved_model_bytes(vectorizer: keras.layers.Layer, encoder: keras.layers.Layer) -> int:
    """Returns the size of the folder that `TextEmbedder.export` writes, by writing it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "saved_model"
        TextEmbedder(vectorizer, encoder).export(path)
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _megabytes(size: float) -> str:
    """Formats a size in 10^6 bytes with three digits, rounded up."""
    return f"{math.ceil(size / 1e3) / 1e3:.3f}"


def _int8_options(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, rows: int, dim: int
) -> ShrinkOptions:
    max_ngrams = rows - vectorizer.unknown_rows
    return ShrinkOptions(
        "int8",
        max_ngrams=max_ngrams if rows < vectorizer.num_rows else None,
        dim=dim if dim < encoder.dim else None,
    )


def _row_bytes(dtype: str, dim: int) -> int:
    """Returns the bytes of a table row and of its key."""
    number_bytes = {"float32": 4, "float16": 2, "int8": 1}[dtype]
    # Each row of int8 has a scale in float32.
    scale_bytes = 4 if dtype == "int8" else 0
    return number_bytes * dim + scale_bytes + _KEY_BYTES


def _can_prune(vectorizer: keras.layers.Layer) -> bool:
    """Returns whether n-grams can be dropped: each must have a row of its own that is not a sum."""
    is_ngrams = isinstance(vectorizer, NgramVectorizer)
    return is_ngrams and vectorizer.vocabulary is not None and not vectorizer.longest_only


def can_project(encoder: keras.layers.Layer) -> bool:
    """Returns whether embeddings are linear in the table, so that it can be projected."""
    if type(encoder) is Charagram:
        return encoder.activation == "linear" and encoder.num_layers == 1
    return type(encoder) is WordAverage


def pruned(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    max_ngrams: int,
    count_power: float = 1.0,
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Keeps the n-grams with the largest count times norm of their row.

    Args:
        vectorizer: N-gram vectorizer with a vocabulary, not folded.
        encoder: Encoder that sums the rows of n-grams.
        max_ngrams: Number of n-grams to keep, at most.
        count_power: Exponent of the count. Below 1 it favors n-grams that are rare in running
            text, which single words need if the vocabulary was counted in sentences.

    Raises:
        ConfigError: There is no vocabulary, or the n-grams are folded.
    """
    if not _can_prune(vectorizer):
        raise ConfigError(
            "`max_ngrams` needs a vocabulary of n-grams, each with a row of its own: a model that "
            "is not hashed, not folded and not of words. Use `dtype` or `dim`."
        )
    old = vectorizer.vocabulary
    if max_ngrams >= len(old):
        return vectorizer, encoder
    table = encoder.ngram_table.numpy()[: len(old)]
    norms = np.linalg.norm(table, axis=1)
    weights = old.counts.astype(np.float64) ** count_power * norms
    order = np.argsort(-weights, kind="stable")
    rows = np.sort(order[:max_ngrams])
    vocabulary = NgramVocabulary(old.orders, old.alphabet, old.keys[rows], old.counts[rows])
    return with_ngrams(vectorizer, encoder, vocabulary, rows)


def with_ngrams(
    vectorizer: NgramVectorizer,
    encoder: keras.layers.Layer,
    vocabulary: NgramVocabulary,
    rows: np.ndarray,
) -> tuple[NgramVectorizer, keras.layers.Layer]:
    """Returns a model with fewer n-grams.

    Args:
        vectorizer: Vectorizer of the model.
        encoder: Its encoder.
        vocabulary: The n-grams to keep.
        rows: Their rows, int64 `(len(vocabulary),)`.
    """
    # The rows of unknown characters follow the n-grams, and stay.
    num_ngrams = vectorizer.num_rows - vectorizer.unknown_rows
    rows = np.append(rows, np.arange(num_ngrams, vectorizer.num_rows))
    values = []
    for weight in encoder.weights:
        value = weight.numpy()
        values.append(value[rows] if weight is encoder.ngram_table else value)
    smaller = vectorizer.with_parts(vocabulary, vectorizer.dictionary)
    return smaller, remade(encoder, values, num_rows=len(rows))


def projected(encoder: keras.layers.Layer, dim: int) -> keras.layers.Layer:
    """Projects embeddings onto the principal directions of the table.

    These are the `dim` eigenvectors of R^T R with the largest eigenvalues, where R is the table.
    No mean is subtracted, so cosines are equal to cosines of the original embeddings in the
    subspace.

    Args:
        encoder: Encoder that is linear in its table: `charagram` with a linear layer, or
            `word_average`.
        dim: Width of the new embedding, at most the width of the encoder.

    Raises:
        ConfigError: The encoder is not linear, or is narrower than `dim`.
    """
    if not can_project(encoder):
        raise ConfigError(
            "`dim` needs an embedding that is linear in its table: `charagram` with a linear "
            f"activation and one layer, or `word_average`. Received: {encoder.name}."
        )
    if dim > encoder.dim:
        raise ConfigError(
            f"`dim` must be at most that of the model, {encoder.dim}. Received: dim={dim}"
        )
    if dim == encoder.dim:
        return encoder
    # The table, and for `charagram` the bias.
    values = [weight.numpy() for weight in encoder.weights]
    [table] = [value for value in values if value.ndim == 2]
    squares = (table.T @ table).astype(np.float64)
    _, directions = np.linalg.eigh(squares)
    # `eigh` returns the smallest first.
    largest = directions[:, ::-1][:, :dim]
    projection = largest.astype(np.float32)
    return remade(encoder, [value @ projection for value in values], dim=dim)


def remade(
    encoder: keras.layers.Layer, values: list[np.ndarray], **changes: Any
) -> keras.layers.Layer:
    """Returns a copy of an encoder with other options and weights."""
    remade = type(encoder).from_config({**encoder.get_config(), **changes})
    remade.set_weights(values)
    return remade
