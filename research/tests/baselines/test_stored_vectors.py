"""Vectors of texts from files in all formats."""

from __future__ import annotations

import numpy as np
import pytest

from research.baselines.stored_vectors import StoredVectors
from research.readers.text_vectors import read_text_vectors
from tf_charagram.errors import ConfigError, DataError

TEXTS = ["a cat", "the  dog", "c"]
VECTORS = np.array([[1, 0.5], [2, 3], [-1, 0]], np.float32)


def write(folder, suffix, texts=TEXTS, vectors=VECTORS):
    path = folder / f"v.{suffix}"
    if suffix == "npy":
        np.save(path, vectors)
        path.with_suffix(".txt").write_text("".join(f"{text}\n" for text in texts))
    elif suffix == "npz":
        np.savez(path, texts=np.array(texts), vectors=vectors)
    elif suffix == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({"text": texts, "vector": vectors.tolist()})
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        rows = ("\t".join([t, *map(str, v)]) + "\n" for t, v in zip(texts, vectors, strict=True))
        path.write_text("".join(rows))
    return path


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet", "tsv"])
def test_formats(tmp_path, suffix):
    baseline = StoredVectors.load(write(tmp_path, suffix))
    found = baseline.encode(["c", "the dog", "c", " a\tcat"])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, VECTORS[[2, 1, 2, 0]])


def test_missing_texts(tmp_path):
    message = r"v\.npz: lacks the vectors of 4 of 5 texts: 'x', 'y', 'z'\. --save-pairs of another"
    with pytest.raises(DataError, match=message):
        StoredVectors.load(write(tmp_path, "npz")).encode(["x", "c", "y", "z", "w"])


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_as_many_texts_as_vectors(tmp_path, suffix):
    path = write(tmp_path, suffix, texts=TEXTS[:2])
    with pytest.raises(DataError, match="a vector for each text, found 3 for 2 texts"):
        read_text_vectors(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.tsv", "a\t1\t2\nb\t1\n", r"v\.tsv:2: expected a text and 2 numbers, found 1"),
        ("v.tsv", "a\tx\n", r"v\.tsv:1: could not convert"),
        ("v.tsv", "a\tnan\n", r"v\.tsv:1: expected finite numbers"),
        ("v.tsv", "a\t1e39\n", r"v\.tsv:1: expected finite numbers"),
        ("v.tsv", "\n", "expected texts with numbers, found none"),
        ("v.bin", "", r"in a file \.npy, \.npz, \.parquet or \.tsv"),
        ("v.npz", "x", "cannot be read as arrays of NumPy"),
    ],
)
def test_errors(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_text_vectors(tmp_path / name)


def test_more_errors(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_text_vectors(tmp_path / "none.npy")
    np.savez(tmp_path / "v.npz", vectors=VECTORS)
    with pytest.raises(DataError, match=r"expected two arrays, .*found vectors float32 \(3, 2\)"):
        read_text_vectors(tmp_path / "v.npz")
    with pytest.raises(DataError, match="holds vectors with NaN"):
        read_text_vectors(write(tmp_path, "npy", vectors=VECTORS * np.nan))
    with pytest.raises(ConfigError, match=r"texts \(2\) does not match number of vectors \(3\)"):
        StoredVectors(TEXTS[:2], VECTORS)
