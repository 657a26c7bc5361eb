"""Files written whole or not at all, by one process at a time."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import IO, Any

from tf_charagram.errors import ConfigError, DataError, RunError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
#: Error numbers of places that cannot be written to.
UNWRITABLE = (*_FULL, *_FORBIDDEN, errno.ENAMETOOLONG, errno.ELOOP)
_MAKE_ROOM = (
    "Free some space and repeat the command, with --resume if it has that flag; nothing was lost."
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# A killed process may take this long to release its locks.
_PATIENCE_S = 2.0
_TICK_S = 0.05


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Explains write errors of the code within.

    Raises:
        RunError: The disk is full or `path` cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise RunError(f"Cannot write {path}: {write_problem(error)}") from error


@contextmanager
def tensorflow_writing(path: str | Path) -> Iterator[None]:
    """Explains write errors of TensorFlow, which raises its own.

    Raises:
        RunError: The disk is full or `path` cannot be written.
    """
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        reason = " ".join(error.message.split())
        raise RunError(f"Cannot write {path}: {reason}. Is the disk full? {_MAKE_ROOM}") from error


@contextmanager
def whole_file(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Opens a file that appears under `path` only once it is complete and on disk.

    Args:
        path: The file, whose folder is created if necessary. A pipe or a device, such as
            `/dev/null`, is written to directly. A link is replaced, and its target is unchanged.
        mode: `"wb"`, or `"w"` for UTF-8 text with LF line ends.

    Raises:
        RunError: The disk is full or the file cannot be written; an existing file is unchanged.
    """
    path = Path(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with writing(path):
        if _is_device(path):
            with open(path, mode, **text) as file:  # type: ignore[call-overload]
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with _claimed(path, _open_file) as partial:
            with open(partial, mode, **text) as file:  # type: ignore[call-overload]
                yield file
                # The content first: a power cut must not leave an empty file of this name.
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)


def to_stdout(text: str) -> None:
    """Writes text to standard output.

    Raises:
        RunError: Its encoding lacks a letter of the text.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        raise RunError(
            f"Standard output cannot show {text[error.start]!a}, because its encoding is "
            f"{encoding}. Write to a file, or set PYTHONIOENCODING=utf-8."
        ) from error
    sys.stdout.write(text)


def check_output(path: str, overwrite: bool) -> None:
    """Checks, before a long computation, that a file can be written.

    Args:
        path: The file; `"-"` is standard output.
        overwrite: Whether an older file may be replaced.

    Raises:
        ConfigError: It is not a local path.
        RunError: It exists, or cannot be written.
    """
    check_local(path)
    if path == "-" or _is_device(Path(path)):
        return
    file = Path(path)
    if file.is_dir():
        raise RunError(f"{path} is a folder. Give a file.")
    if os.path.lexists(file) and not overwrite:
        raise RunError(f"{path} exists. Add --overwrite to replace it, or give another file.")
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with _claimed(file, _open_file):
            pass


def _is_device(path: Path) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def partial_folder(path: str | Path) -> Iterator[Path]:
    """Creates an empty folder next to `path`, to fill and rename; otherwise removed at the end.

    Raises:
        RunError: It cannot be written.
    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _claimed(path, _open_folder) as partial:
            yield partial


@contextmanager
def replaced_folder(path: str | Path, holds: str) -> Iterator[Path]:
    """Yields a path to write a new folder to, which then replaces the old one.

    Args:
        path: The folder, or a link to it.
        holds: Name of a file in it. An old folder without that file is replaced only if empty.

    Raises:
        RunError: The folder cannot be written, or `path` is a file or another kind of folder.
    """
    path = Path(os.path.realpath(path))
    if path.is_file():
        raise RunError(f"{path} is a file. Give a folder.")
    has_files = path.is_dir() and any(path.iterdir())
    if has_files and not (path / holds).is_file():
        raise RunError(
            f"{path} holds other files and no {holds}, so it is not replaced. Give another folder."
        )
    # The process may be killed between any two steps, which must not leave half a folder.
    old = path.with_name(f".{path.name}.old")
    with partial_folder(path) as partial:
        yield partial
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            os.rename(path, old)
        os.rename(partial, path)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _claimed(path: Path, open_: Callable[[Path], int]) -> Iterator[Path]:
    """Opens an empty file or folder next to `path` and locks it; deletes it at the end.

    The name is the same each time, so the remains of a killed process are overwritten. While
    another process or thread has it, the next free name is used.
    """
    names = chain([""], (f".{os.getpid()}-{number}" for number in count(1)))
    descriptor = None
    while descriptor is None:
        partial = path.with_name(f".{path.name}{next(names)}.part")
        descriptor = _claim(partial, open_)
    try:
        yield partial
    finally:
        if _is_at(descriptor, partial):
            _try_remove(partial)
        os.close(descriptor)


def _claim(partial: Path, open_: Callable[[Path], int]) -> int | None:
    """Opens, locks and empties a file or folder; returns `None` if it is locked already."""
    while True:
        descriptor = open_(partial)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        # Its previous owner may have renamed it between opening and locking.
        if _is_at(descriptor, partial):
            if partial.is_dir():
                for child in partial.iterdir():
                    _try_remove(child)
            return descriptor
        os.close(descriptor)


def _open_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _open_folder(path: Path) -> int:
    path.mkdir(exist_ok=True)
    return os.open(path, os.O_RDONLY)


def _try_remove(path: Path) -> None:
    with suppress(OSError):
        remove(path)


def _lock(descriptor: int) -> bool:
    """Locks an open file or folder until it is closed; returns `False` if it is locked already.

    On file systems without locks, such as some network ones, it always succeeds.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Returns whether an open file or folder is still the one at a path."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


class FolderLock:
    """Keeps other processes from writing to a folder; also a context manager.

    The folder itself is locked, so there is no lock file.

    Args:
        folder: The folder; `acquire` creates it if necessary.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Locks the folder, unless this object has locked it already.

        Raises:
            RunError: Another process has locked the folder, or it cannot be created.
        """
        if self._descriptor is not None:
            return
        if self._folder.is_file():
            raise RunError(f"{self._folder} is a file. Give a folder.")
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._folder, os.O_RDONLY)
        end = time.monotonic() + _PATIENCE_S
        while not _lock(descriptor):
            if time.monotonic() > end:
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


def remove(path: Path) -> None:
    """Deletes a file, a folder with its contents, or a link, but not its target."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def write_problem(error: OSError) -> str:
    """Returns the reason of a failed write and a remedy."""
    if error.errno in _FULL:
        return f"{error.strerror}. {_MAKE_ROOM}"
    if error.errno in _FORBIDDEN:
        return f"{error.strerror}. Choose a writable place, or change its permissions."
    return error.strerror or str(error)


def check_local(output: str) -> None:
    """Checks that an output is a path, not an address such as `gs://BUCKET/NAME`.

    Raises:
        ConfigError: It is an address.
    """
    if _ADDRESS.match(output):
        raise ConfigError(f"{output} is not a local path. Write to one, and copy the result.")


def check_free(path: Path) -> None:
    """Checks that a path is free.

    Raises:
        RunError: It exists.
    """
    if path.exists() or path.is_symlink():
        raise RunError(f"{path} exists. Delete it, or give another folder.")


def check_is_file(path: str | Path, advice: str = "") -> None:
    """Checks that there is a file to read.

    Args:
        path: The file.
        advice: Appended to error messages.

    Raises:
        DataError: There is no file, or a folder instead.
    """
    if Path(path).is_dir():
        raise DataError(path, f"is a folder where a file is needed{advice}")
    if not Path(path).is_file():
        raise DataError(path, f"no such file{advice}")


def regular_size(path: str | Path) -> int:
    """Returns the size of a file in bytes.

    Raises:
        OSError: It is missing, or not a regular file: reading a device or a pipe may never end.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", os.fspath(path))
    return status.st_size


def sha256_of(path: str | Path) -> str:
    """Returns the SHA-256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
