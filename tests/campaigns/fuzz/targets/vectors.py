"""The readers of vectors: of words and of texts."""

from __future__ import annotations

import io
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np

from research.readers.text_vectors import read_text_vectors
from tests.campaigns.fuzz.targets.files import file_target
from tf_charagram.data.readers.word_vector_file import scan_vectors
from tf_charagram.data.readers.word_vectors import load_word_vectors, read_words
from tf_charagram.tasks.distillation.teacher_vectors import read_vectors

_ROWS = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
_WORD2VEC = b"2 3\ncat 0.5 -1 2e-3\na\xc2\xa0dog 1 2 3\n"
_BINARY = b"2 3\n" + b"".join(
    word + b" " + struct.pack("<3f", *row)
    for word, row in zip((b"cat", b"dog"), _ROWS, strict=True)
)
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


class KeyedVectors:
    """Stands for gensim's class of this name."""


def _gensim() -> bytes:
    """Returns what `KeyedVectors.save` writes, pickled under the name of gensim's class."""

    vectors = KeyedVectors()
    vars(vectors).update(index_to_key=["cat", "dog"], vectors=_ROWS, vector_size=3)
    name = f"{__name__}\nKeyedVectors".encode()
    return pickle.dumps(vectors, 2).replace(name, b"gensim.models.keyedvectors\nKeyedVectors")


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


def _scanned(path: Path) -> list[Any]:
    return [vector for _, vector in scan_vectors(path) if vector is not None]


TARGETS = [
    file_target("vectors.word2vec-text", "vectors.txt", _words, [_WORD2VEC, _WORD2VEC[4:]],
                (b" ", b"\n", b"2 3\n", b"0 0\n")),
    file_target("vectors.word2vec-any", "vectors.bin", _scanned, [_BINARY, _WORD2VEC],
                (b" ", b"\n", b"2 3\n", b"999999999999 3\n", b"2 999999999999\n")),
    file_target("vectors.gensim", "vectors.kv", _scanned, [_gensim()],
                (b"cos\nsystem\n", b"cbuiltins\neval\n", b"R.", b"tR.", b"\x85", b"}", b"]",
                 b"cnumpy\ndtype\n", b"cnumpy\nndarray\n", b"I1152921504606846976\n")),
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
