"""The folder that TensorFlow Serving watches: one numbered folder per version of a model."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

from tf_charagram.errors import RunError

#: Names that may be part of the URL of a REST call.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# TensorFlow Serving reads no larger version.
_MAX_VERSION = 2**63 - 1


class ServingFolder:
    """The versions of one model, `models/NAME/1`, `models/NAME/2` and so on.

    TensorFlow Serving loads the largest number as soon as it appears. So a version is written under
    another name and renamed once it is complete.

    Args:
        path: The folder; it may not exist yet.

    Raises:
        RunError: The name cannot be used in a URL, or the folder holds other files.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(os.path.abspath(path))
        self.name = self.path.name
        if not NAME.fullmatch(self.name):
            raise RunError(
                f"'{self.name}' is part of the URL of the model: use only letters, digits, dots, "
                f"underscores and hyphens. Received: --to {path}"
            )
        foreign = [child.name for child in self._children() if not is_version(child)]
        if foreign:
            raise RunError(
                f"{path} holds other files than versions of a model: "
                f"{', '.join(sorted(foreign)[:3])}. Give another folder with --to."
            )

    def _children(self) -> list[Path]:
        if not self.path.exists():
            return []
        if not self.path.is_dir():
            raise RunError(f"{self.path} is a file. Give a folder, such as models/words.")
        return [child for child in self.path.iterdir() if not child.name.startswith(".")]

    @property
    def versions(self) -> list[int]:
        """The version numbers, ascending."""
        return sorted({int(child.name) for child in self._children() if is_version(child)})

    @property
    def next_version(self) -> int:
        """The number after the last version."""
        return max(self.versions, default=0) + 1

    def publish(self, partial: Path) -> Path:
        """Renames a complete version to the next number; returns its folder."""
        while True:
            target = self.path / str(self.next_version)
            try:
                os.rename(partial, target)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                continue  # Another export took the number.
            return target

    def prune(self, keep: int) -> list[int]:
        """Deletes all but the last `keep` versions; returns the deleted numbers."""
        old = self.versions[:-keep]
        self._delete_hidden()  # Left by an export that was killed.
        for folder in self._children():
            if is_version(folder) and int(folder.name) in old:
                # Renamed first, so that the server never sees a half-deleted version.
                os.rename(folder, self.path / f".{folder.name}.old")
        self._delete_hidden()
        return old

    def _delete_hidden(self) -> None:
        for hidden in self.path.glob(".*.old"):
            shutil.rmtree(hidden, ignore_errors=True)


def is_version(path: Path) -> bool:
    """Returns whether a path is the folder of a version, named by a number such as 7 or 007."""
    is_number = path.name.isascii() and path.name.isdigit()
    return is_number and int(path.name) <= _MAX_VERSION and path.is_dir()
