"""Model, inputs and output of bulk embedding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.writing import check_is_file, sha256_of, whole_file
from tf_charagram.bulk._shards.folder import FORMATS, Record
from tf_charagram.bulk._shards.inputs import InputFile, Shard, read_shards, read_texts
from tf_charagram.errors import ConfigError, DataError, check_name, check_positive
from tf_charagram.models._storage.choice import Embedder, first_texts, load_embedder
from tf_charagram.models._storage.locations import model_sha256
from tf_charagram.models._storage.own_words import word_options


@dataclass(frozen=True)
class EmbedJob:
    """Model, inputs and output of bulk embedding.

    Args:
        model: Run folder or model folder.
        inputs: The files.
        output: Folder of the shards.
        format: `"npy"` or `"parquet"`.
        shard_lines: Maximum number of lines of a shard.
        keep_words: File of correctly spelled words that are read as written; or `None` for words
            that are frequent in the first texts.
        own_weights: Whether words are weighed by their rarity in the first texts, too.

    Raises:
        ConfigError: A value is out of range, or an input is a stream.
        DataError: `keep_words` is not a file.
    """

    model: str
    inputs: tuple[InputFile, ...]
    output: str
    format: str = "npy"
    shard_lines: int = 50_000
    keep_words: str | None = None
    own_weights: bool = False

    def __post_init__(self) -> None:
        check_name("format", self.format, FORMATS)
        if self.format == "parquet":
            extra_module("pyarrow.parquet", "parquet")
        check_positive(shard_lines=self.shard_lines)
        if self.keep_words is not None:
            check_is_file(self.keep_words)
        for file in self.inputs:
            if file.size is None:
                raise ConfigError(
                    f"Shards need files, which a resumed run can read again. Received: {file.path}"
                )

    @cached_property
    def embedder(self) -> Embedder:
        """The model, which is loaded when it is first used."""
        # Bytes are about as many as characters, which choose the library.
        sizes = [file.size or 0 for file in self.inputs]
        first = first_texts(self._readable_texts())
        options = word_options(self.model, first, self.keep_words, self.own_weights)
        return load_embedder(self.model, sum(sizes), **options)

    def _readable_texts(self) -> Iterator[str]:
        """Yields texts up to a damaged line, which is reported when its shard is embedded."""
        with suppress(DataError):
            yield from read_texts(self.inputs)

    def identity(self) -> dict[str, Any]:
        """Returns the settings, and the files with their sizes, that a resumed run must share."""
        # By content, because another model may have come to the same path.
        settings = {
            "model_sha256": model_sha256(self.model),
            "format": self.format,
            "shard_lines": self.shard_lines,
            "keep_words_sha256": self.keep_words and sha256_of(self.keep_words),
            "own_weights": self.own_weights,
        }
        sizes = {file.path: file.size for file in self.inputs}
        return {"settings": settings, "data_files": sizes}

    def pending_shards(self, number: int, done: dict[str, Record]) -> Iterator[Shard]:
        """Streams the shards of an input that are not done yet.

        Args:
            number: Number of the input.
            done: Records of the shards that are done, by name.

        Raises:
            DataError: The input cannot be read, or has changed.
        """
        path = self.inputs[number].path
        for shard in read_shards(path, number, self.shard_lines):
            record = done.get(shard.name)
            if record is None:
                yield shard
            elif not shard.identity().items() <= record.items():
                raise DataError(
                    path,
                    "has changed since it was embedded. Start again with --overwrite, or give "
                    "another --output.",
                    line=shard.first_line,
                )

    def embed(self, shard: Shard, embedder: Embedder) -> Record:
        """Embeds a shard and writes its file; returns its record."""
        name = f"{shard.name}.{self.format}"
        path = Path(self.output) / name
        vectors = embedder.encode(shard.texts)
        with whole_file(path) as file:
            FORMATS[self.format](file, shard, vectors)
        return {"name": name, **shard.identity(), "bytes": path.stat().st_size}
