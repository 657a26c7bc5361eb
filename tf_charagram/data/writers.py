"""Writes vectors of texts, batch by batch; the file name tells the format."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from tf_charagram.errors import ConfigError
from tf_charagram.files.json_files import to_json_lines
from tf_charagram.files.writing import whole_file


class VectorWriter(Protocol):
    """Writes batches of texts and their embeddings."""

    def write(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Writes one batch; `vectors` is float32 `(len(texts), dim)`."""


@contextmanager
def open_vector_writer(path: str | Path, dim: int) -> Iterator[VectorWriter]:
    """Opens a file for embeddings, which appears only once it is complete.

    Args:
        path: `FILE.npy`: one array; `FILE.tsv`: the text, then the numbers; `FILE.jsonl`: objects
            with `text` and `embedding`; `-`: standard output, as tsv.
        dim: Width of the embeddings.

    Raises:
        ConfigError: The suffix is unknown.
        RunError: The file cannot be written.
    """
    check_vector_file(path)
    if str(path) == "-":
        yield _LineWriter(sys.stdout, _to_tsv)
        return
    suffix = Path(path).suffix
    if suffix == ".npy":
        with whole_file(path) as file, _NpyWriter(file, dim) as writer:
            yield writer
    else:
        with whole_file(path, "w") as file:
            yield _LineWriter(file, _to_tsv if suffix == ".tsv" else _to_json_line)


def check_vector_file(path: str | Path) -> None:
    """Checks the name of a file for embeddings before they are computed.

    Raises:
        ConfigError: `open_vector_writer` cannot write such a file.
    """
    if str(path) != "-" and Path(path).suffix not in (".npy", ".tsv", ".jsonl"):
        raise ConfigError(
            "--output must end in .npy, .tsv or .jsonl, be -, or end in / for a folder of shards. "
            f"Received: {path}"
        )


class _LineWriter:
    """Writes a line per text, made by `to_line`."""

    def __init__(self, file: IO[str], to_line: Callable[[str, list[str]], str]) -> None:
        self._file = file
        self._to_line = to_line

    def write(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        for text, vector in zip(texts, vectors.tolist(), strict=True):
            self._file.write(self._to_line(text, [f"{value:.6g}" for value in vector]))


def _to_tsv(text: str, numbers: list[str]) -> str:
    # A tab or a line end inside a text would start the next column or row.
    return "\t".join([" ".join(text.split()), *numbers]) + "\n"


def _to_json_line(text: str, numbers: list[str]) -> str:
    return to_json_lines([{"text": text, "embedding": list(map(float, numbers))}])


class _NpyWriter:
    """Appends rows after a header, in which NumPy leaves room for the final number of rows."""

    def __init__(self, file: IO[bytes], dim: int) -> None:
        self._file = file
        self._dim = dim
        self._num_rows = 0

    def __enter__(self) -> _NpyWriter:
        self._write_header()
        return self

    def write(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        del texts
        self._num_rows += len(vectors)
        self._file.write(np.ascontiguousarray(vectors, "<f4").tobytes())

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is not None:
            return
        self._file.seek(0)
        self._write_header()
        self._file.seek(0, os.SEEK_END)

    def _write_header(self) -> None:
        shape = (self._num_rows, self._dim)
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
