"""The files a shard can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import numpy as np

from tf_charagram.bulk.inputs import Shard
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.extras import extra_module


def write_npy(file: IO[bytes], shard: Shard, vectors: np.ndarray) -> None:
    """Writes the embeddings, float32 `(num_lines, dim)`; row r is line `first_line + r`."""
    vectors = np.ascontiguousarray(vectors, "<f4")
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(vectors))
    # Not np.save, which forgets why it could not write.
    file.write(vectors.data)


def write_parquet(file: IO[bytes], shard: Shard, vectors: np.ndarray) -> None:
    """Writes the columns `file`, `line` (1-based), `text` and `embedding`."""
    pyarrow = extra_module("pyarrow", "parquet")
    parquet = extra_module("pyarrow.parquet", "parquet")
    values = pyarrow.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
    table = pyarrow.table(
        {
            "file": pyarrow.array([shard.path] * len(vectors)),
            "line": pyarrow.array(np.arange(len(vectors)) + shard.first_line),
            "text": pyarrow.array(shard.texts),
            "embedding": pyarrow.FixedSizeListArray.from_arrays(values, vectors.shape[1]),
        }
    )
    # Embeddings do not get smaller: to compress them only takes time.
    compression = dict.fromkeys(["file", "line", "text"], "zstd")
    parquet.write_table(
        table, file, use_dictionary=["file"],
        compression={**compression, "embedding.list.element": "none"},
    )  # fmt: skip


FORMATS: dict[str, Callable[[IO[bytes], Shard, np.ndarray], Any]] = {
    "npy": write_npy,
    "parquet": write_parquet,
}


def check_format(name: str) -> None:
    """Checks that a format exists and can be written here.

    Raises:
        ConfigError: It does not, or what it needs is not installed.
    """
    if name not in FORMATS:
        raise ConfigError(unknown_name("format", name, FORMATS))
    if name == "parquet":
        extra_module("pyarrow.parquet", "parquet")
