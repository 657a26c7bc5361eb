"""Notices what reading data must never do: start programs, or write outside one folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

_FORBIDDEN = {
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile",
    "subprocess.Popen", "ctypes.dlopen", "pty.spawn", "webbrowser.open", "ftplib.connect",
    "os.setxattr", "os.chown",
}  # fmt: skip
_CHANGES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink",
            "os.truncate", "os.chmod", "shutil.rmtree"}  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Guard:
    """Records forbidden events of this process while it is on.

    Args:
        folder: Where writing is allowed.
        allowed: Events that are allowed besides.
    """

    def __init__(self, folder: Path, allowed: tuple[str, ...] = ()) -> None:
        self.is_on = False
        self.events: list[str] = []
        self._folder = os.path.realpath(folder) + os.sep
        self._forbidden = _FORBIDDEN - {*allowed}
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event in self._forbidden:
            self.events.append(f"{event} {arguments!r:.200}")
        elif event == "open":
            path, _, flags = arguments
            if flags & _WRITES and isinstance(path, str | bytes):
                self._check(event, path)
        elif event in _CHANGES:
            for path in arguments[:2]:
                if isinstance(path, str | bytes):
                    self._check(event, path)

    def _check(self, event: str, path: str | bytes) -> None:
        name = os.fsdecode(path)
        if name == os.devnull:
            return
        if not (os.path.realpath(name) + os.sep).startswith(self._folder):
            self.events.append(f"{event} of {name!r}, outside {self._folder}")
