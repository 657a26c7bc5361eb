"""Files of a teacher's vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.writing import check_is_file
from tf_charagram.errors import ConfigError, DataError


def read_vectors(path: str | Path) -> np.ndarray:
    """Opens a file of vectors; the vectors of `.npy` stay on disk until they are read.

    Args:
        path: `FILE.npy`, a floating-point array `(num_texts, dim)`; or `FILE.parquet` with exactly
            one column of lists of numbers, all of one length.

    Returns:
        Floating-point `(num_texts, dim)`, read-only.

    Raises:
        ConfigError: pyarrow is not installed.
        DataError: The file cannot be read or contains something else.
    """
    path = Path(path)
    check_is_file(path)
    if path.suffix not in (".npy", ".parquet"):
        raise DataError(path, "expected vectors in a file .npy or .parquet")
    try:
        if path.suffix == ".npy":
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            vectors = _read_parquet(path)
    except ConfigError:
        raise
    except Exception as error:  # A damaged file may raise anything.
        raise DataError(path, f"cannot be read as vectors: {error}") from error
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
        raise DataError(
            path,
            "expected one vector of floating-point numbers per line, (num_lines, dim); "
            f"found {vectors.dtype} {vectors.shape}",
        )
    return vectors


def _read_parquet(path: Path) -> np.ndarray:
    parquet = extra_module("pyarrow.parquet", "parquet")
    names = [field.name for field in parquet.read_schema(path) if "list" in str(field.type)]
    if len(names) != 1:
        raise ValueError(f"expected one column of lists of numbers, found {names or 'none'}")
    column = parquet.read_table(path, columns=names)[names[0]]
    return np.stack(column.to_numpy())
