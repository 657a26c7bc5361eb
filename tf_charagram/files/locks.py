"""A lock on a folder, which ends with the process that holds it, however that ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from tf_charagram.errors import RunError
from tf_charagram.files.writing import try_lock, write_problem

# A process that is ending, perhaps killed, may take so long to give its locks back.
_PATIENCE_S = 2.0
_TICK_S = 0.05


class FolderLock:
    """Keeps other processes from writing to a folder; a context manager, too.

    It leaves no file. The lock is on the folder itself, so what is in it can be replaced, and not
    the folder.

    Args:
        folder: The folder; it need not exist before `acquire`.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._descriptor: int | None = None

    def acquire(self, *, on_wait: Callable[[], object] | None = None) -> None:
        """Makes the folder where there is none, and locks it; does nothing if this has it locked.

        Args:
            on_wait: Called once if another process has it locked, and then that is waited for. By
                default that is an error.

        Raises:
            RunError: Another process writes to the folder, or it cannot be made.
        """
        if self._descriptor is not None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            kind = "a file" if self._folder.exists() else "a link that leads nowhere"
            raise RunError(f"{self._folder} is {kind}. Give a folder.") from error
        except OSError as error:
            raise RunError(f"Cannot write {self._folder}: {write_problem(error)}") from error
        try:
            descriptor = os.open(self._folder, os.O_RDONLY)
        except PermissionError:  # Windows, which opens no folders
            return
        self._wait(descriptor, on_wait)
        self._descriptor = descriptor

    def _wait(self, descriptor: int, on_wait: Callable[[], object] | None) -> None:
        """Locks an open folder, or closes it where another process does not give it back."""
        end = time.monotonic() + _PATIENCE_S
        has_said = False
        while not try_lock(descriptor):
            if time.monotonic() > end and on_wait is None:
                os.close(descriptor)
                raise RunError(
                    f"{self._folder} is in use: another process writes to it. Wait for its end, or "
                    "give another folder."
                )
            if on_wait is not None and not has_said:
                on_wait()
                has_said = True
            time.sleep(_TICK_S)

    def release(self) -> None:
        """Unlocks the folder, if this has it locked."""
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
