"""The readers of vectors: of words and of texts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from research.readers.text_vectors import read_text_vectors
from tests.campaigns.fuzz.targets.files import file_target
from tf_charagram.data.readers.word_vectors import load_word_vectors, read_words
from tf_charagram.tasks.distillation.teacher_vectors import read_vectors

_ROWS = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
_WORD2VEC = b"2 3\ncat 0.5 -1 2e-3\na\xc2\xa0dog 1 2 3\n"
#: What NumPy's header is made of.
NPY_TOKENS = (
    b"'descr'",
    b"'<f4'",
    b"'|O'",
    b"'<f8'",
    b"'>i2'",
    b"'<U9'",
    b"(2, 3)",
    b"(",
    b"1152921504606846976",
    b"-1",
    b"True",
    b"\x93NUMPY\x01\x00",
    b"'fortran_order'",
)


def npy(array: np.ndarray) -> bytes:
    """Returns an array as the bytes of `np.save`."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(compressed: bool = False, **arrays: np.ndarray) -> bytes:
    """Returns arrays as the bytes of `np.savez`."""
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def _parquet() -> list[bytes]:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    table = arrow.table(
        {"text": ["cat", "dog"],
         "vector": arrow.array(_ROWS.tolist(), arrow.list_(arrow.float32()))}
    )  # fmt: skip
    file = io.BytesIO()
    parquet.write_table(table, file)
    return [file.getvalue()]


def _words(path: Path) -> list[Any]:
    known = load_word_vectors(path, ["cat", "dog"])
    return [list(read_words(path)), known.matrix]


TARGETS = [
    file_target("vectors.word2vec-text", "vectors.txt", _words, [_WORD2VEC, _WORD2VEC[4:]],
                (b" ", b"\n", b"2 3\n", b"0 0\n")),
    file_target("vectors.npy", "teacher.npy", read_vectors, [npy(_ROWS)], NPY_TOKENS,
                looks=lambda array: np.asarray(array[:2])),
    file_target("vectors.texts-npy", "texts.npy", read_text_vectors, [npy(_ROWS)], NPY_TOKENS,
                beside={"texts.txt": b"cat\ndog\n"}),
    file_target("vectors.texts-npz", "texts.npz", read_text_vectors,
                [npz(texts=np.array(["cat", "dog"]), vectors=_ROWS),
                 npz(True, texts=np.array(["cat", "dog"]), vectors=_ROWS)], NPY_TOKENS),
    file_target("vectors.texts-tsv", "texts.tsv", read_text_vectors,
                [b"cat\t0.5\t1\ndog\t-1\t2e-3\n"], (b"\t", b"\n", b"nan", b"inf", b"_")),
    file_target("vectors.parquet", "texts.parquet", read_text_vectors, _parquet,
                (b"PAR1", b"text", b"vector", b"list")),
]  # fmt: skip
