"""A folder of shards: its settings, the shards that are done, and their files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.identity import changes_since
from tf_charagram._files.json_files import (
    append_json_line,
    read_json,
    read_json_lines,
    to_json_lines,
    write_json,
)
from tf_charagram._files.writing import whole_file, writing
from tf_charagram.bulk._shards.inputs import Shard
from tf_charagram.errors import RunError

Record = dict[str, Any]


def _write_npy(file: IO[bytes], shard: Shard, vectors: np.ndarray) -> None:
    """Writes the embeddings, float32 `(num_lines, dim)`; row r is line `first_line + r`."""
    vectors = np.ascontiguousarray(vectors, "<f4")
    header = np.lib.format.header_data_from_array_1_0(vectors)
    np.lib.format.write_array_header_1_0(file, header)
    # `np.save` would lose the reason why a file cannot be written.
    file.write(vectors.data)


def _write_parquet(file: IO[bytes], shard: Shard, vectors: np.ndarray) -> None:
    """Writes the columns `file`, `line` (1-based), `text` and `embedding`."""
    pyarrow = extra_module("pyarrow", "parquet")
    parquet = extra_module("pyarrow.parquet", "parquet")
    num_lines, dim = vectors.shape
    values = pyarrow.array(vectors.astype(np.float32).ravel())
    table = pyarrow.table(
        {
            "file": [shard.path] * num_lines,
            "line": np.arange(shard.first_line, shard.first_line + num_lines),
            "text": shard.texts,
            "embedding": pyarrow.FixedSizeListArray.from_arrays(values, dim),
        }
    )
    parquet.write_table(
        table,
        file,
        use_dictionary=["file"],
        # Embeddings do not compress.
        compression={
            "file": "zstd",
            "line": "zstd",
            "text": "zstd",
            "embedding.list.element": "none",
        },
    )


FORMATS: dict[str, Callable[[IO[bytes], Shard, np.ndarray], None]] = {
    "npy": _write_npy,
    "parquet": _write_parquet,
}

_SHARD = re.compile(rf"part-\d{{5,}}-\d{{5,}}\.({'|'.join(FORMATS)})")


class ShardFolder:
    """The files of bulk embedding: opens a new folder, or resumes one.

    `manifest.json` has the identity of the folder and `is_complete`; `shards.jsonl` has a line for
    each shard that is done.

    Args:
        path: The folder.
        identity: The `settings` and `data_files` that a resumed run must share.
        resume: Keep the shards in the folder, if there are any.
        overwrite: Delete the shards in the folder, but no other files.

    Attributes:
        records: Records of the shards that are done, by name without suffix.
        damaged: Files of shards that are missing or cut short, and have to be embedded again.

    Raises:
        RunError: The folder has files and neither flag was given, is not a folder of shards, was
            started with other settings, or cannot be written.
    """

    def __init__(
        self, path: str | Path, identity: dict[str, Any], *, resume: bool, overwrite: bool
    ) -> None:
        self.path = Path(path)
        self.manifest = self.path / "manifest.json"
        self.shards = self.path / "shards.jsonl"
        self.records: dict[str, Record] = {}
        self.damaged: list[Path] = []
        if any(self.path.glob("[!.]*")):
            if not (resume or overwrite):
                raise RunError(
                    f"{self.path} exists. Add --resume to continue it, --overwrite to start "
                    "again, or give another --output."
                )
            if not self.manifest.is_file():
                raise RunError(
                    f"{self.path} is not a folder of shards, so nothing is written there."
                )
            if not overwrite:
                self._check_identity(identity)
                self._read_records()
        # Written before shards are deleted, so that a killed process leaves no records of them.
        self._write_records()
        write_json(self.manifest, {**identity, "is_complete": False})
        if overwrite:
            with writing(self.path):
                for path in self.path.iterdir():
                    if _SHARD.fullmatch(path.name):
                        path.unlink()

    def add(self, record: Record) -> None:
        """Records that a shard is done; a resumed run will skip it.

        Raises:
            RunError: The record cannot be written, for instance because the disk is full.
        """
        self.records[_key(record)] = record
        append_json_line(self.shards, record)

    def complete(self) -> None:
        """Sorts the records in the order of the input, and marks the folder as complete."""
        self._write_records()
        write_json(self.manifest, {**read_json(self.manifest), "is_complete": True})

    def _check_identity(self, identity: dict[str, Any]) -> None:
        changed = changes_since(self.manifest, identity)
        if changed:
            raise RunError(
                f"{self.path} was started with other settings: {', '.join(changed)}. Resume with "
                "the same, start again with --overwrite, or give another --output."
            )

    def _read_records(self) -> None:
        """Reads the records of intact shards; the others are embedded again."""
        for record in read_json_lines(self.shards):
            path = self.path / record["name"]
            if path.is_file() and path.stat().st_size == record["bytes"]:
                self.records[_key(record)] = record
            else:
                self.damaged.append(path)

    def _write_records(self) -> None:
        with whole_file(self.shards, "w") as file:
            file.write(to_json_lines(self.records[key] for key in sorted(self.records)))


def _key(record: Record) -> str:
    return Path(record["name"]).stem
