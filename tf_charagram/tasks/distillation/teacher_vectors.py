"""Vectors of texts that another model made: an array in a file, one row per line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram.errors import DataError
from tf_charagram.extras import extra_module
from tf_charagram.files.writing import check_is_file


def read_vectors(path: str | Path) -> np.ndarray:
    """Opens the vectors of a file; those of `.npy` stay on disk until they are read.

    Args:
        path: `FILE.npy`, a real array `(num_texts, dim)`; or `FILE.parquet`, whose one column of
            lists of numbers, all of one length, is read.

    Returns:
        Floating-point `(num_texts, dim)`, read-only.

    Raises:
        ConfigError: pyarrow is not installed.
        DataError: The file cannot be read, or holds something else.
    """
    path = Path(path)
    check_is_file(path)
    if path.suffix == ".npy":
        vectors = _read_npy(path)
    elif path.suffix == ".parquet":
        vectors = _read_parquet(path)
    else:
        raise DataError(path, "expected vectors in a file .npy or .parquet")
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
        raise DataError(
            path,
            "expected one vector of floating-point numbers per line, (num_lines, dim); "
            f"found {vectors.dtype} {vectors.shape}",
        )
    return vectors


def _read_npy(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # A damaged header may raise anything.
        raise DataError(path, f"is no array of NumPy, or is cut short ({error})") from error


def _read_parquet(path: Path) -> np.ndarray:
    arrow = extra_module("pyarrow", "parquet")
    parquet = extra_module("pyarrow.parquet", "parquet")
    try:
        schema = parquet.read_schema(path)
        names = [field.name for field in schema if _is_list_of_numbers(arrow, field.type)]
        if len(names) != 1:
            raise DataError(
                path, f"expected one column of lists of numbers, found {names or 'none'}"
            )
        column = parquet.read_table(path, columns=names)[names[0]].combine_chunks()
    except DataError:
        raise
    except Exception as error:  # A damaged file may raise anything.
        raise DataError(path, f"cannot be read as Parquet: {error}") from error
    if column.null_count:
        raise DataError(path, f"{column.null_count} rows of the column '{names[0]}' are empty")
    numbers = column.flatten().to_numpy(zero_copy_only=False)
    if len(column) == 0 or len(numbers) % len(column):
        raise DataError(path, "expected lists of one length, at least one")
    lengths = arrow.compute.list_value_length(column).to_numpy(zero_copy_only=False)
    if (lengths != lengths[0]).any():
        raise DataError(path, "expected lists of one length")
    return numbers.reshape(len(column), -1)


def _is_list_of_numbers(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and types.is_floating(kind.value_type)
