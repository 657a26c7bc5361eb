"""Versions that come and go while clients ask."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import grpc

from tests.campaigns.load.models import Exported
from tf_charagram.export.serving.folder import ServingFolder

#: For an answer, or a version to be loaded or dropped; a server may be stopped for a while.
PATIENCE_S = 300.0
_POLL_S = 0.1

#: Returns the versions that a server says are loaded.
Loaded = Callable[[], set[int]]


class Switching:
    """Publishes versions, deletes them, and knows which may have answered a request.

    Attributes:
        newest: The largest version that all servers have.
    """

    def __init__(self, folder: Path, exports: Sequence[Exported]) -> None:
        self._folder = ServingFolder(folder)
        self._exports = exports
        self._lock = threading.Lock()
        self._appeared: dict[int, float] = {}
        self._everywhere: dict[int, float] = {}
        self._users: Counter[int] = Counter()
        self.newest = 0

    def export(self, version: int) -> Exported:
        """Returns what a version is a copy of; that of the next version differs."""
        return self._exports[version % len(self._exports)]

    @contextmanager
    def use(self) -> Iterator[int]:
        """Gives a version that is there until the end of the block."""
        with self._lock:
            version = self.newest
            self._users[version] += 1
        try:
            yield version
        finally:
            with self._lock:
                self._users[version] -= 1

    def may_answer(self, sent: float, answered: float) -> list[int]:
        """Returns the versions that can have answered a request for the latest.

        Args:
            sent: When the request was sent, by `time.monotonic`.
            answered: When it was answered.
        """
        with self._lock:
            return [
                version
                for version, appeared in self._appeared.items()
                if appeared <= answered and self._everywhere.get(version + 1, sent) >= sent
            ]

    def publish(self) -> int:
        """Makes the next version appear; returns its number."""
        number = int(self._folder.next.name)
        partial = self._folder.path / ".partial"
        shutil.copytree(self.export(number).folder, partial, copy_function=os.link)
        with self._lock:
            self._appeared[number] = time.monotonic()
        self._folder.publish(partial)
        return number

    def switch(self, servers: Mapping[str, Loaded]) -> None:
        """Publishes a version, waits until it is served, and deletes the one before.

        Raises:
            RuntimeError: A server does not follow.
        """
        number = self.publish()
        _wait_for(servers, lambda loaded: number in loaded, f"serve version {number}")
        with self._lock:
            self._everywhere[number] = time.monotonic()
            before, self.newest = self.newest, number
        free = {"a client": lambda: {self._users[before]}}
        _wait_for(free, lambda users: users == {0}, f"let go of version {before}")
        self._folder.prune(1)
        _wait_for(servers, lambda loaded: loaded == {number}, f"drop version {before}")


def _wait_for(
    servers: Mapping[str, Loaded], is_done: Callable[[set[int]], bool], what: str
) -> None:
    """Waits for each server in turn; in polls, for none is made while nothing runs."""
    for name, loaded in servers.items():
        problem = ""
        for _ in range(int(PATIENCE_S / _POLL_S)):
            try:
                if is_done(loaded()):
                    break
            except (OSError, grpc.RpcError) as error:
                problem = f": {error}"
            time.sleep(_POLL_S)
        else:
            raise RuntimeError(f"{name} did not {what} within {PATIENCE_S:g} s{problem}")
