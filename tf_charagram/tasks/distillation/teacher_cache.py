"""Vectors that a teacher computed, kept on disk: computed once, and resumed after a kill."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tf_charagram.errors import DataError
from tf_charagram.files.json_files import read_json, write_json
from tf_charagram.files.locks import FolderLock
from tf_charagram.files.writing import partial_folder, writing
from tf_charagram.tasks.distillation.teacher import Teacher

_FORMAT_VERSION = 1
_BATCH = 256
# Texts are cut here before they are hashed and embedded: no teacher reads on.
_MAX_CHARS = 10_000
_SYNC_EVERY = 64
_SETTINGS, _VECTORS = "cache.json", "vectors.f16"


class CachedVectors(NamedTuple):
    """The vectors of lines.

    Attributes:
        vectors: Of distinct texts, float16 `(num_texts, dim)`, on disk.
        rows: Which of them is that of each line, int64 `(num_lines,)`.
    """

    vectors: np.ndarray
    rows: np.ndarray


class VectorCache:
    """Vectors of distinct texts in one file, which grows batch by batch.

    The folder is named by the teacher and the texts, so it fits no others. The order of the rows
    follows from the texts alone, longest first, so the number of whole rows in the file tells where
    a stopped run goes on: what was cut short is computed again, and nothing else.

    Args:
        folder: Folder of all caches.
        teacher: Computes what is missing.
        lines: The texts; those that are equal are embedded once.
    """

    def __init__(self, folder: str | Path, teacher: Teacher, lines: Sequence[str]) -> None:
        self.teacher = teacher
        lines = [line[:_MAX_CHARS] for line in lines]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(lines))}
        texts = list(numbers)
        # Texts of like length need little padding, and what takes most memory comes first.
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        self._texts = [texts[number] for number in order]
        place = np.empty(len(texts), np.int64)
        place[order] = np.arange(len(texts))
        self.rows = place[np.array([numbers[line] for line in lines], np.int64)]
        self._about = {
            "format_version": _FORMAT_VERSION,
            "teacher": teacher.name,
            "dim": teacher.dim,
            "num_texts": len(texts),
            "sha256": _sha256(self._texts),
        }
        name = _sha256([teacher.name, str(teacher.dim), str(self._about["sha256"])])[:32]
        self.folder = Path(folder) / name

    @property
    def num_done(self) -> int:
        """Texts whose vectors are on disk."""
        try:
            return (self.folder / _VECTORS).stat().st_size // self._row_bytes
        except OSError:
            return 0

    @property
    def _row_bytes(self) -> int:
        return 2 * self.teacher.dim

    def vectors(self, *, show_progress: bool = False) -> CachedVectors:
        """Returns the vectors of the lines; those that are not on disk are computed.

        Args:
            show_progress: Show a progress bar on standard error.

        Raises:
            DataError: The cache is damaged, or the teacher gives vectors of another shape.
            RunError: The folder cannot be written, for instance because the disk is full.
        """
        self._open()
        if self.num_done < len(self._texts):
            lock = FolderLock(self.folder)
            lock.acquire(on_wait=self._say_that_it_waits)
            with lock:
                self._compute(show_progress)
        path = self.folder / _VECTORS
        vectors = np.memmap(path, np.float16, "r", shape=(len(self._texts), self.teacher.dim))
        return CachedVectors(vectors, self.rows)

    def _open(self) -> None:
        """Makes the folder, or checks that it holds what it is named by."""
        path = self.folder / _SETTINGS
        if not self.folder.exists():
            with partial_folder(self.folder) as partial:
                write_json(partial / _SETTINGS, self._about)
                (partial / _VECTORS).touch()
                try:
                    partial.rename(self.folder)
                except OSError:
                    if not self.folder.exists():  # Else another process was faster.
                        raise
        try:
            about = read_json(path)
        except (OSError, ValueError) as error:
            raise DataError(path, f"is damaged ({error}). Delete its folder.") from error
        if about != self._about:
            raise DataError(path, "is the cache of other lines. Delete its folder.")
        if self.num_done > len(self._texts):
            raise DataError(self.folder / _VECTORS, "has too many rows. Delete its folder.")

    def _say_that_it_waits(self) -> None:
        Console(stderr=True).print(
            f"Another process computes these vectors in {self.folder}; waiting for them.",
            soft_wrap=True, markup=False,
        )  # fmt: skip

    def _compute(self, show_progress: bool) -> None:
        done = self.num_done
        columns = (
            TextColumn("{task.completed:,} texts of the teacher"), BarColumn(),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        )  # fmt: skip
        console = Console(stderr=True)
        with (
            writing(self.folder),
            open(self.folder / _VECTORS, "r+b") as file,
            Progress(*columns, console=console, disable=not show_progress) as progress,
        ):
            file.truncate(done * self._row_bytes)
            file.seek(0, os.SEEK_END)
            task = progress.add_task("embed", total=len(self._texts), completed=done)
            for number, first in enumerate(range(done, len(self._texts), _BATCH)):
                batch = self._texts[first : first + _BATCH]
                file.write(self._encode(batch).tobytes())
                file.flush()
                if number % _SYNC_EVERY == 0:
                    os.fsync(file.fileno())
                progress.advance(task, len(batch))
            os.fsync(file.fileno())

    def _encode(self, texts: list[str]) -> np.ndarray:
        vectors = np.asarray(self.teacher.encode(texts))
        if vectors.shape != (len(texts), self.teacher.dim):
            raise DataError(
                self.teacher.name,
                f"expected vectors of shape {(len(texts), self.teacher.dim)}, "
                f"received {vectors.shape}",
            )
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
            # Of unit length, which float16 holds whatever the scale was.
            return (vectors / np.maximum(lengths, 1e-30)).astype(np.float16)


def _sha256(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()
