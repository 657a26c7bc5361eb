"""Counts of more keys than fit into memory: sorted runs on disk, merged as a stream."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from tf_charagram.errors import RunError
from tf_charagram.text.key_counts import KeyCounts, merged

_ITEM_BYTES = 8


class CountStore:
    """Adds up counts in bounded memory, exactly.

    What does not fit is spilled to a temporary file without a name, which is gone with the process,
    however that ends. It is in the folder of `tempfile`: `TMPDIR` chooses another.

    Args:
        max_distinct: Most keys held in memory, 16 bytes each, and about 60 while they are merged.
    """

    def __init__(self, max_distinct: int) -> None:
        self._max_distinct = max_distinct
        self._held: list[KeyCounts] = []
        self._num_held = 0
        self._runs: _RunFile | None = None

    def add(self, counted: KeyCounts) -> None:
        """Adds counts.

        Raises:
            RunError: They cannot be spilled, for instance because the disk is full.
        """
        if not len(counted.keys):
            return
        self._held.append(counted)
        self._num_held += len(counted.keys)
        if self._num_held > self._max_distinct:
            self._merge()
            # With less than half of the room, the next counts would soon be merged again.
            if self._num_held > self._max_distinct // 2:
                self._spill()

    def chunks(self) -> Iterator[KeyCounts]:
        """Yields all counts, each key once, in ascending order.

        Raises:
            RunError: As for `add`.
        """
        self._merge()
        if self._runs is None:
            yield from self._held
            return
        if self._held:
            self._spill()
        yield from self._runs.merged(self._max_distinct)

    def close(self) -> None:
        """Forgets all counts, and deletes what was spilled."""
        self._held, self._num_held = [], 0
        if self._runs is not None:
            self._runs.close()
            self._runs = None

    def _merge(self) -> None:
        if len(self._held) > 1:
            self._held = [merged(self._held)]
            self._num_held = len(self._held[0].keys)

    def _spill(self) -> None:
        if self._runs is None:
            self._runs = _RunFile()
        self._runs.append(self._held[0])
        self._held, self._num_held = [], 0


class _RunFile:
    """Sorted counts one after another in a file: the keys of a run, then their counts."""

    def __init__(self) -> None:
        with _spilling():
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="charagram-counts-")
        self._sizes: list[int] = []

    def append(self, counted: KeyCounts) -> None:
        """Writes a run."""
        with _spilling():
            self._file.seek(0, 2)
            for array in counted:
                # Not np.tofile, which forgets why it could not write.
                self._file.write(np.ascontiguousarray(array, np.int64).data)
            self._file.flush()
        self._sizes.append(len(counted.keys))

    def merged(self, max_distinct: int) -> Iterator[KeyCounts]:
        """Yields the sum of all runs, of which it reads about `max_distinct` keys at a time."""
        at_a_time = max(1, max_distinct // len(self._sizes))
        offsets = np.cumsum([0, *self._sizes[:-1]]) * 2
        cursors = [
            _Cursor(self._file, int(offset), size, at_a_time)
            for offset, size in zip(offsets, self._sizes, strict=True)
        ]
        while cursors:
            # Up to here, no run has keys that were not read yet.
            last_key = min(cursor.head.keys[-1] for cursor in cursors)
            yield merged([cursor.take(last_key) for cursor in cursors])
            cursors = [cursor for cursor in cursors if len(cursor.head.keys)]

    def close(self) -> None:
        """Deletes the file."""
        self._file.close()


class _Cursor:
    """Reads a run from its beginning to its end.

    Args:
        file: The file.
        offset: Where in it the run begins, in items.
        size: Keys of the run.
        at_a_time: Keys read at a time.

    Attributes:
        head: The next keys; none at the end.
    """

    def __init__(self, file: IO[bytes], offset: int, size: int, at_a_time: int) -> None:
        self._file, self._offset, self._size = file, offset, size
        self._at_a_time = at_a_time
        self._position = 0
        self.head = self._next()

    def take(self, last_key: int) -> KeyCounts:
        """Returns the counts of the next keys up to `last_key`, of those that were read."""
        number = int(np.searchsorted(self.head.keys, last_key, side="right"))
        taken, self.head = self.head.part(None, number), self.head.part(number, None)
        if not len(self.head.keys):
            self.head = self._next()
        return taken

    def _next(self) -> KeyCounts:
        number = min(self._at_a_time, self._size - self._position)
        start = self._offset + self._position
        self._position += number
        return KeyCounts(self._array(start, number), self._array(start + self._size, number))

    def _array(self, start: int, number: int) -> np.ndarray:
        self._file.seek(start * _ITEM_BYTES)
        return np.frombuffer(self._file.read(number * _ITEM_BYTES), np.int64)


@contextmanager
def _spilling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"Cannot write n-gram counts to {tempfile.gettempdir()}: {error.strerror or error}. "
            "Free some space there, or set TMPDIR to a folder on a larger disk."
        ) from error
