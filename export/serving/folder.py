"""The folder TensorFlow Serving watches: one numbered folder per version of a model."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from tf_charagram.errors import RunError

#: What may appear in the path of a REST call.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# TensorFlow Serving reads no larger ones.
_MOST_VERSION = 2**63 - 1
# What the group and others may do: read, and open folders.
_READ, _OPEN = 0o044, 0o011


class ServingFolder:
    """The versions of one model, `models/NAME/1`, `models/NAME/2` and so on.

    TensorFlow Serving loads the largest number as soon as it is there. So a version is written
    under another name and renamed when it is complete; a rename is atomic, and
    fails if the name is taken, so that two exports at once get two numbers.

    Args:
        path: The folder, which need not exist.

    Raises:
        RunError: The name cannot be used in the address of a model, or the folder holds files that
            do not belong to versions.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(os.path.abspath(path))
        self.name = self.path.name
        if not NAME.fullmatch(self.name):
            raise RunError(
                f"'{self.name}' is part of the address of the model: letters, digits, dots, "
                f"underscores and hyphens only. Received: --to {path}"
            )
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{path} is a file. Give a folder with --to, such as models/words.")
        foreign = [child.name for child in self._children() if not is_version(child)]
        if foreign:
            raise RunError(
                f"{path} does not hold versions of a model only, so nothing is added: "
                f"it has {', '.join(sorted(foreign)[:3])}. Give another folder with --to."
            )

    def _children(self) -> list[Path]:
        if not self.path.is_dir():
            return []
        return [child for child in self.path.iterdir() if not child.name.startswith(".")]

    def _version_folders(self) -> list[Path]:
        return [child for child in self._children() if is_version(child)]

    @property
    def versions(self) -> list[int]:
        """The numbers there are, ascending."""
        return sorted({int(child.name) for child in self._version_folders()})

    @property
    def next(self) -> Path:
        """The folder of the version after the last."""
        return self.path / str(max(self.versions, default=0) + 1)

    def publish(self, partial: Path) -> Path:
        """Gives a complete version the next number; returns its folder."""
        while True:
            target = self.next
            try:
                os.rename(partial, target)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                continue  # Another export was faster.
            return target

    def prune(self, keep: int) -> list[int]:
        """Deletes all but the last `keep` versions; returns the numbers of those deleted."""
        old = self.versions[:-keep]
        # What a killed export was about to delete.
        self._delete_hidden()
        for folder in self._version_folders():
            if int(folder.name) in old:
                # Renamed first, so that no half-deleted version is ever visible.
                with suppress(FileNotFoundError):  # Another export was faster.
                    os.rename(folder, self.path / f".{folder.name}.old")
        self._delete_hidden()
        return old

    def _delete_hidden(self) -> None:
        for hidden in self.path.glob(".*.old"):
            shutil.rmtree(hidden, ignore_errors=True)


def is_version(path: Path) -> bool:
    """Returns whether a path is the folder of a version: its name is a number, such as 7 or 007."""
    is_number = path.name.isascii() and path.name.isdigit()
    return is_number and int(path.name) <= _MOST_VERSION and path.is_dir()


def let_read(path: Path, folder: Path) -> None:
    """Lets whoever may read a folder read a file or folder in it as well, whatever the umask is.

    The server often runs as another user than the one who exports.
    """
    mode, readers = path.stat().st_mode, folder.stat().st_mode
    allowed = _READ | _OPEN if stat.S_ISDIR(mode) else _READ
    with suppress(OSError):  # Some file systems have no permissions.
        os.chmod(path, stat.S_IMODE(mode) | readers & allowed)
