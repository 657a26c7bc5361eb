"""A lock on a folder, which ends with its process, even if that is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from tf_charagram.errors import RunError
from tf_charagram.files.writing import lock, write_problem

# A killed process may take this long to release its locks.
_PATIENCE_S = 2.0
_TICK_S = 0.05


class FolderLock:
    """Keeps other processes from writing to a folder; also a context manager.

    The folder itself is locked, so there is no lock file.

    Args:
        folder: The folder; `acquire` creates it if necessary.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._descriptor: int | None = None

    def acquire(self, *, on_wait: Callable[[], object] | None = None) -> None:
        """Locks the folder, unless this object has locked it already.

        Args:
            on_wait: If given, waits for other processes, and calls it once before.

        Raises:
            RunError: Another process has locked the folder, or it cannot be created.
        """
        if self._descriptor is not None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            kind = "a file" if self._folder.exists() else "a broken link"
            raise RunError(f"{self._folder} is {kind}. Give a folder.") from error
        except OSError as error:
            raise RunError(f"Cannot write {self._folder}: {write_problem(error)}") from error
        try:
            descriptor = os.open(self._folder, os.O_RDONLY)
        except PermissionError:  # Windows cannot open folders
            return
        end = time.monotonic() + _PATIENCE_S
        while not lock(descriptor):
            if on_wait is not None:
                on_wait()
                on_wait, end = None, float("inf")
            elif time.monotonic() > end:
                os.close(descriptor)
                raise RunError(
                    f"{self._folder} is in use: another process writes to it. Wait until it ends, "
                    "or give another folder."
                )
            time.sleep(_TICK_S)
        self._descriptor = descriptor

    def release(self) -> None:
        """Unlocks the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> FolderLock:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()
