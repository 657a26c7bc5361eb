"""Files of a teacher's vectors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.errors import DataError
from tf_charagram.tasks.distillation._teachers.vectors import read_vectors

HEADER = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, %d)}"
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def npy(header):
    """Returns an array of NumPy with a header of its own."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_npy(tmp_path, dtype):
    np.save(tmp_path / "v.npy", VECTORS.astype(dtype))
    vectors = read_vectors(tmp_path / "v.npy")
    assert isinstance(vectors, np.memmap)
    assert_array_equal(vectors, VECTORS)


@pytest.mark.parametrize("kind", ["list", "fixed"])
def test_parquet(tmp_path, kind):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    lists = arrow.list_(arrow.float32(), *([2] if kind == "fixed" else []))
    table = {"text": ["a", "b", "c"], "embedding": arrow.array(VECTORS.tolist(), lists)}
    parquet.write_table(arrow.table(table), tmp_path / "v.parquet", row_group_size=2)
    assert_array_equal(read_vectors(tmp_path / "v.parquet"), VECTORS)


@pytest.mark.parametrize(
    ("column", "problem"),
    [([[1.0], None, [2.0]], "same shape"), (["a", "b", "c"], "found none"),
     ([[1.0], [1.0, 2.0], [3.0]], "same shape")],
)  # fmt: skip
def test_bad_parquet(tmp_path, column, problem):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"embedding": column}), tmp_path / "v.parquet")
    with pytest.raises(DataError, match=problem):
        read_vectors(tmp_path / "v.parquet")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("v.npy", b"", "cannot be read as vectors"),
        ("v.npy", npy(b"{'descr': '<f4', 'shape': (2,"), "cannot be read as vectors"),
        ("v.npy", npy(HEADER % 2**60), "cannot be read as vectors"),
        ("v.parquet", b"PAR1", "cannot be read as vectors"),
        ("v.txt", b"1 2", "in a file .npy or .parquet"),
    ],
)
def test_bad_files(tmp_path, name, content, problem):
    if name == "v.parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=problem):
        read_vectors(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        read_vectors(tmp_path / "none.npy")


@pytest.mark.parametrize(
    "array", [np.zeros(3, np.float32), np.zeros((3, 0)), np.zeros((3, 2), int)],
    ids=["one dimension", "no width", "integers"],
)  # fmt: skip
def test_other_arrays(tmp_path, array):
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(DataError, match="one vector of floating-point numbers per line"):
        read_vectors(tmp_path / "v.npy")
