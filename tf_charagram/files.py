"""Files written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from tf_charagram.errors import RunError

#: What to do about a full disk.
MAKE_ROOM = (
    "Free some space and give the same command, with --resume if it has that; nothing was lost."
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
#: Numbers of errors that say that a place cannot be written to.
UNWRITABLE = (*_FULL, *_FORBIDDEN)


@contextmanager
def whole_file(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Opens a file that appears under `path` only once it is complete and on disk.

    Args:
        path: The file. Its folder is created.
        mode: `"wb"`, or `"w"` for UTF-8 text with LF line ends.

    Raises:
        RunError: The disk is full or the file cannot be written; what was there is untouched.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, mode, **text) as file:  # type: ignore[call-overload]
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise RunError(f"Cannot write {path}: {write_problem(error)}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def partial_folder(path: str | Path) -> Iterator[Path]:
    """Gives the name of a folder to fill, beside `path`; removed at the end unless it was renamed.

    Raises:
        RunError: It cannot be written.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
    except OSError as error:
        raise RunError(f"Cannot write {path}: {write_problem(error)}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_problem(error: OSError) -> str:
    """Says what stopped a write, and what to do about it."""
    if error.errno in _FULL:
        return f"{error.strerror}. {MAKE_ROOM}"
    if error.errno in _FORBIDDEN:
        return f"{error.strerror}. Choose a place that you may write to, or change its permissions."
    return error.strerror or str(error)


def write_json(path: str | Path, value: Any) -> None:
    """Writes a value as indented JSON."""
    with whole_file(path, "w") as file:
        json.dump(value, file, indent=2, ensure_ascii=False, default=str)
        file.write("\n")


def sha256_of(path: str | Path) -> str:
    """Returns the SHA-256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
