"""Text vectors with their texts, as written by other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.writing import check_is_file
from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.errors import DataError
from tf_charagram.tasks.distillation._teachers.vectors import read_vectors

TextVectors = tuple[list[str], NDArray[np.floating[Any]]]


def read_text_vectors(path: str | Path, *, on_bad_line: str | BadLines = "error") -> TextVectors:
    """Reads texts and their vectors.

    Args:
        path: One of

            * `FILE.npy`, an array `(num_texts, dim)`, and `FILE.txt`, one text per line in the same
              order;
            * `FILE.npz` with two arrays, one of strings and one of vectors;
            * `FILE.parquet` with a column `text` and one of lists of numbers;
            * `FILE.tsv`, plain or gzip: a text and its numbers, separated by tabs, as written by
              `charagram embed`.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards; of
            `.tsv` only.

    Returns:
        The texts, and their vectors, floating-point `(num_texts, dim)`.

    Raises:
        ConfigError: pyarrow is needed and not installed.
        DataError: A file cannot be read or recognized, or the numbers of texts and vectors differ.
    """
    path = Path(path)
    check_is_file(path)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix == ".tsv":
        return _read_tsv(path, BadLines.of(on_bad_line))
    if suffix == ".npz":
        texts, vectors = _read_npz(path)
    elif suffix == ".npy":
        texts, vectors = (
            [text for _, text in read_lines(path.with_suffix(".txt"))],
            read_vectors(path),
        )
    elif suffix == ".parquet":
        texts, vectors = _parquet_texts(path), read_vectors(path)
    else:
        raise DataError(path, "expected vectors of texts in a file .npy, .npz, .parquet or .tsv")
    if len(texts) != len(vectors):
        raise DataError(
            path,
            f"expected a vector for each text, found {len(vectors):,} for {len(texts):,} texts",
        )
    if not np.isfinite(vectors).all():
        raise DataError(path, "holds vectors with NaN or infinity. Compute them again.")
    return texts, vectors


def _read_npz(path: Path) -> TextVectors:
    try:
        with open(path, "rb") as file:
            arrays = dict(np.load(file, allow_pickle=False))
    except Exception as error:  # A damaged archive may raise anything.
        raise DataError(path, f"cannot be read as arrays of NumPy: {error}") from error
    texts = [array for array in arrays.values() if array.dtype.kind == "U" and array.ndim == 1]
    vectors = [array for array in arrays.values() if array.dtype.kind == "f" and array.ndim == 2]
    if len(texts) != 1 or len(vectors) != 1:
        described = ", ".join(
            f"{name} {array.dtype} {array.shape}" for name, array in arrays.items()
        )
        raise DataError(
            path,
            "expected two arrays, strings (num_texts,) and floats (num_texts, dim); "
            f"found {described or 'none'}",
        )
    return texts[0].tolist(), vectors[0]


def _parquet_texts(path: Path) -> list[str]:
    parquet = extra_module("pyarrow.parquet", "parquet")
    try:
        column = parquet.read_table(path, columns=["text"])["text"]
    except Exception as error:  # A damaged file may raise anything.
        raise DataError(path, f"expected a column 'text' in it: {error}") from error
    texts = column.to_pylist()
    if not all(isinstance(text, str | None) for text in texts):
        raise DataError(path, f"expected strings in the column 'text', found {column.type}")
    return [text or "" for text in texts]


def _read_tsv(path: Path, bad: BadLines) -> TextVectors:
    texts: list[str] = []
    rows: list[NDArray[np.float32]] = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        text, *cells = line.split("\t")
        try:
            with np.errstate(over="ignore"):
                row = np.array([float(cell) for cell in cells], np.float32)
            if not len(row) or (rows and len(row) != len(rows[0])):
                width = f"{len(rows[0])} numbers" if rows else "numbers"
                raise ValueError(f"expected a text and {width}, found {len(row)}")
            if not np.isfinite(row).all():
                raise ValueError("expected finite numbers, found NaN or infinity")
        except ValueError as error:
            bad.report(path, number, str(error))
            continue
        texts.append(text)
        rows.append(row)
    if not rows:
        raise DataError(path, "expected texts with numbers, found none")
    return texts, np.stack(rows)
