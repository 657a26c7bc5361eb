"""Shards in both formats can be read by other programs."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from tf_charagram.bulk._shards.folder import _write_npy, _write_parquet
from tf_charagram.bulk._shards.inputs import Shard
from tf_charagram.errors import ConfigError

SHARD = Shard("part-00000-00001", "folder/a.txt", 11, ["cat", "caf\u00e9 \0", ""])
VECTORS = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("vectors", [VECTORS, np.asfortranarray(VECTORS), VECTORS[:, ::2]])
def test_npy(tmp_path, vectors):
    with open(tmp_path / "a.npy", "wb") as file:
        _write_npy(file, SHARD, vectors)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), vectors)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy", mmap_mode="r"), vectors)


def test_parquet():
    parquet = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    _write_parquet(file, SHARD, VECTORS)
    table = parquet.read_table(file)
    assert [str(field.type) for field in table.schema] == [
        "string", "int64", "string", "fixed_size_list<element: float>[4]",
    ]  # fmt: skip
    assert table.column("file").to_pylist() == ["folder/a.txt"] * 3
    assert table.column("line").to_pylist() == [11, 12, 13]
    assert table.column("text").to_pylist() == SHARD.texts
    assert table.column("embedding").to_pylist() == VECTORS.tolist()


def test_formats_are_checked_before_anything_is_read(make_job, monkeypatch):
    with pytest.raises(ConfigError, match=r"Unknown format 'parket'. Did you mean 'parquet'\?"):
        make_job(format="parket")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match=r"pip install .*\[parquet\]'"):
        make_job(format="parquet")
