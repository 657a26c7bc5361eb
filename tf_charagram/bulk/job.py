"""The job: model, inputs and output, as all engines share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf_charagram.bulk.folder import Record, ShardFolder
from tf_charagram.bulk.formats import FORMATS, check_format
from tf_charagram.bulk.inputs import InputFile, Shard, read_shards
from tf_charagram.errors import ConfigError, DataError, check_positive
from tf_charagram.files.writing import sha256_of, whole_file
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.locations import model_sha256
from tf_charagram.text.parallel import in_threads

# While one shard is written to disk, the next one is embedded.
_SHARDS_AT_ONCE = 2


@dataclass(frozen=True)
class EmbedJob:
    """Embeds the lines of files into a folder of shards.

    Args:
        model: Run folder or model folder.
        inputs: The files.
        output: Folder of the shards.
        format: `"npy"` or `"parquet"`.
        shard_lines: Lines of a shard.
        batch_size: Lines embedded at a time. Default: as for `TextEmbedder.encode`.

    Raises:
        ConfigError: A value is out of range, or an input cannot be read twice.
    """

    model: str
    inputs: tuple[InputFile, ...]
    output: str
    format: str = "npy"
    shard_lines: int = 50_000
    batch_size: int | None = None

    def __post_init__(self) -> None:
        check_format(self.format)
        for name in ("shard_lines", "batch_size"):
            if (value := getattr(self, name)) is not None:
                check_positive(**{name: value})
        for file in self.inputs:
            if file.size is None:
                raise ConfigError(
                    f"Shards need files, which a resumed run can read again. Received: {file.path}"
                )

    def open_folder(self, *, resume: bool = False, overwrite: bool = False) -> ShardFolder:
        """Creates the folder of the shards, or resumes it; see `ShardFolder.open`."""
        settings: dict[str, Any] = {
            "model_sha256": model_sha256(self.model),
            "format": self.format,
            "dtype": "float32",
            "shard_lines": self.shard_lines,
            "inputs": [{"path": file.path, "bytes": file.size} for file in self.inputs],
        }
        return ShardFolder.open(self.output, settings, resume=resume, overwrite=overwrite)

    def pending_shards(self, number: int, done: dict[str, Record]) -> Iterator[Shard]:
        """Streams the shards of an input that are not embedded yet.

        Args:
            number: The number of the input.
            done: The records of the shards that are done, by name.

        Raises:
            DataError: The input cannot be read, or has changed.
        """
        file = self.inputs[number]
        for shard in read_shards(file, number, self.shard_lines):
            record = done.get(shard.name)
            if record is None:
                yield shard
            elif not shard.identity().items() <= record.items():
                raise DataError(
                    file.path,
                    "has changed since it was embedded. Start again with --overwrite, or give "
                    "another --output.",
                    line=shard.first_line,
                )


class ShardEmbedder:
    """Embeds shards and writes each to its file; what every engine calls.

    Args:
        job: What the shards are part of.
        embedder: The model of the job.
    """

    def __init__(self, job: EmbedJob, embedder: TextEmbedder) -> None:
        self._job = job
        self._embedder = embedder

    def __call__(self, shard: Shard) -> Record:
        """Embeds a shard and writes its file; returns its record."""
        name = f"{shard.name}.{self._job.format}"
        path = Path(self._job.output) / name
        vectors = self._embedder.encode(shard.texts, batch_size=self._job.batch_size)
        with whole_file(path) as file:
            FORMATS[self._job.format](file, shard, vectors)
        return {
            "name": name,
            **shard.identity(),
            "bytes": path.stat().st_size,
            "sha256": sha256_of(path),
        }


def run_local(job: EmbedJob, done: dict[str, Record], embedder: TextEmbedder) -> Iterator[Record]:
    """Embeds what is pending on all cores of this machine; yields the records, in order."""
    shards = (
        shard for number in range(len(job.inputs)) for shard in job.pending_shards(number, done)
    )
    done_in_order = in_threads(
        ShardEmbedder(job, embedder), shards, _SHARDS_AT_ONCE, num_waiting=_SHARDS_AT_ONCE
    )
    return (record for _, record in done_in_order)
