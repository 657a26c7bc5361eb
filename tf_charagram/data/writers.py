"""Writes vectors of texts, batch by batch; the file name tells the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np

from tf_charagram.data.tables import quoted
from tf_charagram.errors import ConfigError
from tf_charagram.files.json_files import to_json_lines
from tf_charagram.files.writing import to_stdout, whole_file

#: Writes one batch: texts, and their embeddings, float32 `(len(texts), dim)`.
WriteVectors: TypeAlias = Callable[[Sequence[str], np.ndarray], None]


@contextmanager
def open_vector_file(path: str | Path, dim: int) -> Iterator[WriteVectors]:
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
    suffix = Path(path).suffix
    if str(path) == "-":
        yield _line_writer(to_stdout, _to_tsv)
    elif suffix == ".npy":
        with whole_file(path) as file, _open_array(file, dim) as write:
            yield write
    else:
        with whole_file(path, "w") as file:
            yield _line_writer(file.write, _to_tsv if suffix == ".tsv" else _to_json_line)


def check_vector_file(path: str | Path) -> None:
    """Checks the name of a file for embeddings before they are computed.

    Raises:
        ConfigError: `open_vector_file` cannot write such a file.
    """
    if str(path) != "-" and Path(path).suffix not in (".npy", ".tsv", ".jsonl"):
        raise ConfigError(
            "--output must end in .npy, .tsv or .jsonl, be -, or end in / for a folder of shards. "
            f"Received: {path}"
        )


def _line_writer(
    write_text: Callable[[str], object], to_line: Callable[[str, list[str]], str]
) -> WriteVectors:
    def write(texts: Sequence[str], vectors: np.ndarray) -> None:
        for text, vector in zip(texts, vectors.tolist(), strict=True):
            write_text(to_line(text, [f"{value:.6g}" for value in vector]))

    return write


def _to_tsv(text: str, numbers: list[str]) -> str:
    return "\t".join([quoted(text, "\t"), *numbers]) + "\n"


def _to_json_line(text: str, numbers: list[str]) -> str:
    return to_json_lines([{"text": text, "embedding": list(map(float, numbers))}])


@contextmanager
def _open_array(file: IO[bytes], dim: int) -> Iterator[WriteVectors]:
    """Appends rows after a header, in which NumPy leaves room for the final number of rows."""
    num_rows = 0

    def write(texts: Sequence[str], vectors: np.ndarray) -> None:
        nonlocal num_rows
        num_rows += len(texts)
        file.write(np.ascontiguousarray(vectors, "<f4").tobytes())

    def write_header() -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": (num_rows, dim)}
        np.lib.format.write_array_header_1_0(file, header)

    write_header()
    yield write
    # The number of rows is known only now; the header has the same length as before.
    file.seek(0)
    write_header()
    file.seek(0, os.SEEK_END)
