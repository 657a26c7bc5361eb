"""Weights as the arrays of a model folder: in float32, or tables in fewer bits."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError, RunError, unknown_name
from tf_charagram.files.arrays import ArrayFile
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.layers.huge_pages import aligned_empty, shared_tensor
from tf_charagram.layers.placement import beside
from tf_charagram.models.table_dtypes import TABLE_DTYPES, StoredTable, stored_table

#: Added to the name of a table of integers, for the array of its scales.
_SCALES = "/scales"
# Rows of a table of integers converted to float32 at a time; they stay in the cache of a core.
_BLOCK_ROWS = 1024
#: Larger weights may sum to infinity; those of a model that learned anything are far smaller.
_LARGEST = 1e20


def weight_arrays(
    weights: Sequence[keras.Variable], encoder: keras.layers.Layer, table_dtype: str
) -> dict[str, np.ndarray]:
    """Returns the arrays to store, by the path of their weight.

    Args:
        weights: Those of encoder and head.
        encoder: Its embedding tables are stored in `table_dtype`, all else in float32.
        table_dtype: One of `TABLE_DTYPES`.

    Raises:
        ConfigError: There is no such `table_dtype`, a table cannot be stored in it, or a weight is
            not finite.
    """
    if table_dtype not in TABLE_DTYPES:
        raise ConfigError(unknown_name("table_dtype", table_dtype, TABLE_DTYPES))
    arrays = {weight.path: _view(weight) for weight in weights}
    for name, numbers in arrays.items():
        if not (largest := _largest(numbers)) <= _LARGEST:
            raise ConfigError(
                f"A model is saved only if its weights can be computed with. Received: '{name}' "
                f"holds {largest}. Train again with a smaller learning rate."
            )
    if table_dtype == "float32":
        return arrays
    tables = [table.path for table in embedding_tables(encoder)]
    if not tables:
        raise ConfigError(
            f"`table_dtype` must be float32 for {type(encoder).__name__}, which has no "
            f"embedding table. Received: table_dtype={table_dtype}"
        )
    for name in tables:
        arrays[name], scales = stored_table(arrays[name], table_dtype)
        if scales is not None:
            arrays[name + _SCALES] = scales
    return arrays


def check_shapes(weights: Sequence[keras.Variable], stored: ArrayFile) -> None:
    """Checks that each weight has an array of its shape.

    Raises:
        KeyError: The scales of integers are missing.
        RunError: Another array is missing.
        ValueError: An array has another shape.
    """
    for weight in weights:
        if weight.path not in stored.infos:
            raise RunError(f"lacks the array '{weight.path}'.")
        info, expected = stored.infos[weight.path], tuple(weight.shape)
        if info.dtype.kind in "iu" and len(expected) != 2:
            raise ValueError(f"the array '{weight.path}' holds integers, but is not a table")
        if info.dtype.kind in "iu":
            scales = stored.infos[weight.path + _SCALES]
            if scales.shape != (expected[0], 1):
                raise ValueError(f"the scales of '{weight.path}' are {scales.shape}")
            if info.dtype == np.uint8:
                expected = (expected[0], (expected[1] + 1) // 2)
        if info.shape != expected:
            raise ValueError(
                f"the array '{weight.path}' is {info.shape}, where {expected} is expected"
            )


def restore(weight: keras.Variable, stored: ArrayFile) -> None:
    """Assigns its stored array to a weight; a table of integers without another in float32.

    Raises:
        ValueError: It holds NaN, infinity, or a number too large to compute with.
    """
    rows, scales = _read(weight.path, stored)
    table = aligned_empty(weight.shape)
    if scales is None:
        table[...] = rows
    else:
        for first in range(0, len(rows), _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            table[block] = StoredTable(rows[block], scales[block]).restored(weight.shape[-1])
    with beside(weight.value):
        weight.assign(shared_tensor(table))


def _read(name: str, stored: ArrayFile) -> StoredTable:
    """Returns the array of a weight, and its scales if it is one of integers."""
    rows, scales = stored.read(name), None
    if rows.dtype.kind in "iu":
        scales = stored.read(name + _SCALES)
    for numbers in (rows, scales):
        if numbers is not None and not (largest := _largest(numbers)) <= _LARGEST:
            raise ValueError(f"the array '{name}' holds {largest}, too large to compute with")
    return StoredTable(rows, scales)


def _largest(numbers: np.ndarray) -> float:
    """Returns the largest absolute value; NaN if there is one; 0 for integers."""
    if numbers.dtype.kind != "f" or not numbers.size:
        return 0.0
    # What is not finite is the smallest or the largest number.
    return max(abs(float(numbers.min())), abs(float(numbers.max())))


def _view(weight: keras.Variable) -> np.ndarray:
    """Returns the values of a weight in float32, without the copy that `numpy()` makes."""
    with beside(weight.value):
        return np.asarray(memoryview(tf.cast(tf.convert_to_tensor(weight), tf.float32)))
