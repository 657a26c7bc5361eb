"""Files written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from tf_charagram.errors import ConfigError, DataError, RunError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: What to do about a full disk.
MAKE_ROOM = (
    "Free some space and give the same command, with --resume if it has that; nothing was lost."
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TAKEN = (errno.EACCES, errno.EAGAIN)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_PATH = (errno.ENAMETOOLONG, errno.ELOOP)
#: Numbers of errors that say that a place cannot be written to.
UNWRITABLE = (*_FULL, *_FORBIDDEN, *_NO_PATH)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Says what cannot be written, and why, where the code within fails to.

    Raises:
        RunError: The disk is full or `path` cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise RunError(f"Cannot write {path}: {write_problem(error)}") from error


@contextmanager
def whole_file(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Opens a file that appears under `path` only once it is complete and on disk.

    Args:
        path: The file. Its folder is created. A pipe or a device, such as `/dev/null`, is written
            to as it is. A link to a file is replaced, and the file it leads to stays as it is.
        mode: `"wb"`, or `"w"` for UTF-8 text with LF line ends.

    Raises:
        RunError: The disk is full or the file cannot be written; what was there is untouched.
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
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)


def _is_device(path: Path) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def partial_folder(path: str | Path) -> Iterator[Path]:
    """Makes an empty folder beside `path` to fill; removed at the end unless it was renamed.

    Raises:
        RunError: It cannot be written.
    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _claimed(path, _open_folder) as partial:
            yield partial


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Makes a folder for temporary files, and deletes it at the end.

    Raises:
        RunError: It cannot be written; a disk may be full, or all that there is read-only.
    """
    try:
        with TemporaryDirectory() as folder:
            yield Path(folder)
    except OSError as error:
        if error.errno not in (*UNWRITABLE, errno.ENOENT):
            raise
        raise RunError(
            f"Cannot write temporary files: {write_problem(error)} TMPDIR names another folder "
            "for them."
        ) from error


@contextmanager
def _claimed(path: Path, open_: Callable[[Path], int]) -> Iterator[Path]:
    """Gives a name beside `path` that nobody else writes to; deletes what is there at the end.

    The name is the same each time, so what a killed process left is written over by the next. If a
    process that lives has it, or another thread of this one, this takes the next name that is free.
    """
    names = chain([""], (f".{os.getpid()}-{number}" for number in count(1)))
    partials = (path.with_name(f".{path.name}{name}.part") for name in names)
    partial, descriptor = next(
        (partial, descriptor)
        for partial in partials
        if (descriptor := _claim(partial, open_)) is not None
    )
    try:
        yield partial
    finally:
        if _is_at(descriptor, partial):
            _try_remove(partial)
        os.close(descriptor)


def _claim(partial: Path, open_: Callable[[Path], int]) -> int | None:
    """Opens and locks what is to become a file or folder; `None` if somebody else has it."""
    while True:
        descriptor = open_(partial)
        if not try_lock(descriptor):
            os.close(descriptor)
            return None
        # Between the two, who had it before may have given it its final name.
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


def remove(path: Path) -> None:
    """Deletes a file, a folder with all that is in it, or a link, but not what that leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _try_remove(path: Path) -> None:
    with suppress(OSError):
        remove(path)


def try_lock(descriptor: int) -> bool:
    """Locks an open file or folder until it is closed; returns whether no one else has it locked.

    Where nothing can be locked, as on some network file systems, nobody has.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _TAKEN
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Returns whether an open file or folder is still the one at a path."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


def write_problem(error: OSError) -> str:
    """Says what stopped a write, and what to do about it."""
    if error.errno in _FULL:
        return f"{error.strerror}. {MAKE_ROOM}"
    if error.errno in _FORBIDDEN:
        return f"{error.strerror}. Choose a place that you may write to, or change its permissions."
    return error.strerror or str(error)


def check_local(output: str) -> None:
    """Checks that an output is a path, and no address such as `gs://BUCKET/NAME`.

    Raises:
        ConfigError: It is an address, of which a folder of that name would be made here.
    """
    if _ADDRESS.match(output):
        raise ConfigError(
            f"{output} is not a path on this machine. Write to one, and copy what is there."
        )


def check_is_file(path: str | Path, advice: str = "") -> None:
    """Checks that there is a file to read.

    Args:
        path: Where it should be.
        advice: What to add where there is none.

    Raises:
        DataError: There is nothing, or a folder.
    """
    if Path(path).is_dir():
        raise DataError(path, f"is a folder where a file is needed{advice}")
    if not Path(path).is_file():
        raise DataError(path, f"no such file{advice}")


def sha256_of(path: str | Path) -> str:
    """Returns the SHA-256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
