"""Chooses how to make a model smaller so that it fits into a given size.

The rule comes from scores of a model of words (110,733 n-grams, 300 dimensions) on WS353 and STS;
`benchmarks/sizes.py` measures it. int8 costs next to nothing, so it comes first. Most n-grams cost
little, too, as long as about 100 per dimension are left; below that, dimensions cost less.
"""

from __future__ import annotations

import math

import keras

from tf_charagram.errors import ConfigError
from tf_charagram.export.compression.options import DTYPES, ShrinkOptions
from tf_charagram.export.compression.quantization import quantization_problem
from tf_charagram.export.compression.reducing import reduced
from tf_charagram.export.compression.tables import can_project, can_prune
from tf_charagram.files.writing import temporary_folder
from tf_charagram.models.embedder import TextEmbedder

_NGRAMS_PER_DIM = 100
#: Below these, scores fall steeply.
_LEAST_DIM = 50
_LEAST_NGRAMS = _NGRAMS_PER_DIM * _LEAST_DIM
#: Names, shapes and the card have a few digits more in a larger model.
_MARGIN = 2_000
# A key and a row number in the look-up table.
_VOCABULARY_BYTES = 16


def fitting_options(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    max_mb: float,
    extra_bytes: int = 0,
) -> ShrinkOptions:
    """Chooses how to make a model small enough at the least loss.

    The first of these that fits: float32; float16; int8; int8 with fewer n-grams, at least 100
    per dimension, and as many dimensions as that allows. Where only n-grams or only dimensions can
    be reduced, see `ShrinkOptions`, they alone are.

    Args:
        vectorizer: Of the model, not folded.
        encoder: Of the model.
        max_mb: Largest size of the folder that `TextEmbedder.export` writes, in 10^6 bytes.
        extra_bytes: What comes into the folder besides.

    Returns:
        Options for `shrink`, without `max_mb`.

    Raises:
        ConfigError: The model cannot be made so small.
    """
    if problem := quantization_problem(encoder):
        size = saved_model_bytes(vectorizer, encoder) + extra_bytes
        if size <= max_mb * 1e6:
            return ShrinkOptions()
        raise ConfigError(
            f"`max_mb` must be at least {_megabytes(size)} for this model. "
            f"Received: max_mb={max_mb:g}. {problem}"
        )
    num_rows, dim = vectorizer.num_rows, encoder.dim
    least_dim = min(_LEAST_DIM, dim) if can_project(encoder) else dim

    def least_rows(dim: int) -> int:
        if not can_prune(vectorizer):
            return num_rows
        return min(num_rows, _NGRAMS_PER_DIM * dim if can_project(encoder) else _LEAST_NGRAMS)

    smallest = _options(vectorizer, encoder, least_rows(least_dim), least_dim)
    smallest_bytes = saved_model_bytes(*reduced(vectorizer, encoder, smallest))
    smallest_bytes += _MARGIN + extra_bytes
    # What is left for the table, and for the look-up of its rows.
    room = max_mb * 1e6 - smallest_bytes
    room += least_rows(least_dim) * _row_bytes("int8", least_dim)
    for dtype in DTYPES:
        if num_rows * _row_bytes(dtype, dim) <= room:
            return ShrinkOptions(dtype)
    for fewer in range(dim, least_dim - 1, -1):
        rows = min(num_rows, int(room / _row_bytes("int8", fewer)))
        if rows >= least_rows(fewer):
            return _options(vectorizer, encoder, rows, fewer)
    raise ConfigError(
        f"`max_mb` must be at least {_megabytes(smallest_bytes)} for this model, which then has "
        f"{least_rows(least_dim):,} rows of {least_dim} int8. Received: max_mb={max_mb:g}. "
        "For a smaller one, give `dtype`, `max_ngrams` and `dim` yourself."
    )


def saved_model_bytes(vectorizer: keras.layers.Layer, encoder: keras.layers.Layer) -> int:
    """Returns the size of the folder that `TextEmbedder.export` writes, by writing it."""
    with temporary_folder() as folder:
        path = folder / "saved_model"
        TextEmbedder(vectorizer, encoder).export(path)
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _megabytes(size: float) -> str:
    """Returns a size in 10^6 bytes with three digits, rounded up."""
    return f"{math.ceil(size / 1e3) / 1e3:.3f}"


def _options(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, rows: int, dim: int
) -> ShrinkOptions:
    return ShrinkOptions(
        "int8",
        max_ngrams=rows if rows < vectorizer.num_rows else None,
        dim=dim if dim < encoder.dim else None,
    )


def _row_bytes(dtype: str, dim: int) -> int:
    """Returns the bytes of a row; those of its n-gram matter where the number of rows changes."""
    scale = 4 if dtype == "int8" else 0
    return {"float32": 4, "float16": 2, "int8": 1}[dtype] * dim + scale + _VOCABULARY_BYTES
