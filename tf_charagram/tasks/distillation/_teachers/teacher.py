"""Teachers: files of vectors, and models of sentence-transformers whose vectors are cached."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram._common.reporting import ProgressLine
from tf_charagram._files.writing import FolderLock, check_is_file, sha256_of, writing
from tf_charagram.errors import ConfigError, DataError

SENTENCE_TRANSFORMERS = "sentence-transformers:"
# Fits into the caches of a core: 1.4 times as fast as 256 for texts of 64 characters.
_CPU_BATCH = 32
_BATCH = 256
# Texts are truncated to this before they are hashed and embedded: no teacher reads further.
_MAX_CHARS = 10_000


class SentenceTransformer:
    """A model of the package sentence-transformers, which the extra `teacher` installs.

    Args:
        name: A folder, or a name that the package can download.

    Attributes:
        name: Name that distinguishes it from other teachers.
        dim: Width of its vectors.

    Raises:
        ConfigError: The package is not installed, or there is no such model.
    """

    def __init__(self, name: str) -> None:
        self.name = SENTENCE_TRANSFORMERS + name
        path = Path(name)
        if path.is_dir():
            # Vectors are cached by this name, and the folder may get another model.
            self.name += f" {_fingerprint(path)}"
        package = extra_module("sentence_transformers", "teacher")
        # Half the memory and twice the speed on machines that support it; the vectors differ in
        # the third digit.
        options: dict[str, Any] = {"model_kwargs": {"dtype": "bfloat16"}}
        try:
            self._model = package.SentenceTransformer(name, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"The teacher '{name}' cannot be loaded: {' '.join(str(error).split())}"
            ) from error
        # Renamed in version 6.
        width = getattr(self._model, "get_embedding_dimension", None)
        self.dim = int((width or self._model.get_sentence_embedding_dimension)())

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the vectors of texts, float32 `(len(texts), dim)`."""
        vectors = self._model.encode(
            list(texts),
            batch_size=_CPU_BATCH if self._model.device.type == "cpu" else len(texts),
            convert_to_tensor=True,
            show_progress_bar=False,
        )
        return vectors.float().cpu().numpy()


def _fingerprint(folder: Path) -> str:
    """Returns a hash of the files of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    about = [f"{path.relative_to(folder)} {sha256_of(path)}" for path in files]
    return hashlib.sha256("\n".join(about).encode("utf-8", "surrogateescape")).hexdigest()[:16]


@cache
def find_teacher(spec: str) -> SentenceTransformer:
    """Returns the teacher of a `--teacher` value that is not a file.

    It stays in memory until `find_teacher.cache_clear()`.

    Raises:
        ConfigError: The value is not `sentence-transformers:NAME_OR_FOLDER`, or the model cannot be
            loaded.
    """
    name = spec.removeprefix(SENTENCE_TRANSFORMERS)
    if name == spec or not name:
        raise ConfigError(
            "`teacher` must be a file .npy or .parquet, or sentence-transformers:NAME_OR_FOLDER. "
            f"Received: {spec}"
        )
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    return SentenceTransformer(name)


class VectorCache:
    """The vectors of distinct texts in one file, which grows batch by batch.

    The name of its folder is a hash of the teacher and the texts. The order of the rows follows
    from the texts, longest first, so a stopped run continues after the last complete row.

    Args:
        folder: Folder of all caches.
        teacher: Computes missing vectors.
        lines: The texts; each distinct text is embedded once.

    Attributes:
        rows: Row of the vector of each line, int64 `(num_lines,)`.
    """

    def __init__(
        self, folder: str | Path, teacher: SentenceTransformer, lines: Sequence[str]
    ) -> None:
        self.teacher = teacher
        lines = [line[:_MAX_CHARS] for line in lines]
        # Texts of similar length need little padding, and the longest need the most memory.
        self._texts = sorted(dict.fromkeys(lines), key=len, reverse=True)
        row_of = {text: row for row, text in enumerate(self._texts)}
        self.rows = np.array([row_of[line] for line in lines], np.int64)
        digest = hashlib.sha256()
        for text in (teacher.name, str(teacher.dim), *self._texts):
            encoded = text.encode("utf-8", "surrogatepass")
            # With its length, so that no two lists of texts give the same bytes.
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        self.folder = Path(folder) / digest.hexdigest()[:32]
        self._file = self.folder / "vectors.f16"

    @property
    def num_done(self) -> int:
        """The number of texts whose vectors are on disk."""
        if not self._file.exists():
            return 0
        # A killed process may have written a part of a row.
        return self._file.stat().st_size // self._row_bytes

    @property
    def _row_bytes(self) -> int:
        return 2 * self.teacher.dim

    def vectors(self) -> np.ndarray:
        """Returns the vectors of the distinct texts; computes vectors that are not on disk.

        Returns:
            float16 `(num_texts, dim)`, on disk.

        Raises:
            RunError: The folder cannot be written, for instance because the disk is full.
        """
        if self.num_done < len(self._texts):
            # Two runs with one teacher may start at the same time; the second run waits.
            lock = FolderLock(self.folder)
            lock.acquire(on_wait=self._report_wait)
            with lock:
                self._compute()
        shape = (len(self._texts), self.teacher.dim)
        return np.memmap(self._file, np.float16, "r", shape=shape)

    def _report_wait(self) -> None:
        ProgressLine(None).say(
            f"Another process computes these vectors in {self.folder}; waiting for them."
        )

    def _compute(self) -> None:
        done = self.num_done
        total = len(self._texts)
        with (
            writing(self.folder),
            open(self._file, "ab") as file,
            ProgressLine(total, done) as progress,
        ):
            file.truncate(done * self._row_bytes)
            for first in range(done, total, _BATCH):
                batch = self._texts[first : first + _BATCH]
                file.write(self._encode(batch).tobytes())
                file.flush()
                progress.update("teacher", [f"{total:,} texts"], advance=len(batch))
            os.fsync(file.fileno())

    def _encode(self, texts: list[str]) -> np.ndarray:
        vectors = self.teacher.encode(texts)
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
            # Unit vectors fit into float16 at any scale of the teacher.
            return (vectors / np.maximum(lengths, 1e-30)).astype(np.float16)


def read_vectors(path: str | Path) -> np.ndarray:
    """Opens a file of vectors; the vectors of `.npy` stay on disk until they are read.

    Args:
        path: `FILE.npy`, a floating-point array `(num_texts, dim)`; or `FILE.parquet` with exactly
            one column of lists of numbers, all of one length.

    Returns:
        Floating-point `(num_texts, dim)`, read-only.

    Raises:
        ConfigError: pyarrow is not installed.
        DataError: The file cannot be read or contains something else.
    """
    path = Path(path)
    check_is_file(path)
    if path.suffix not in (".npy", ".parquet"):
        raise DataError(path, "expected vectors in a file .npy or .parquet")
    try:
        if path.suffix == ".npy":
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            vectors = _read_parquet(path)
    except ConfigError:
        raise
    except Exception as error:  # A damaged file may raise anything.
        raise DataError(path, f"cannot be read as vectors: {error}") from error
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
        raise DataError(
            path,
            "expected one vector of floating-point numbers per line, (num_lines, dim); "
            f"found {vectors.dtype} {vectors.shape}",
        )
    return vectors


def _read_parquet(path: Path) -> np.ndarray:
    parquet = extra_module("pyarrow.parquet", "parquet")
    names = [field.name for field in parquet.read_schema(path) if "list" in str(field.type)]
    if len(names) != 1:
        raise ValueError(f"expected one column of lists of numbers, found {names or 'none'}")
    column = parquet.read_table(path, columns=names)[names[0]]
    return np.stack(column.to_numpy())
