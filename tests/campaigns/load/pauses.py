"""When nothing here ran: on a shared machine, processes may be stopped for a while."""

from __future__ import annotations

import threading
import time

_TICK_S = 0.1
#: A tick that comes later than this was kept from coming.
_LONGEST_S = 1.0


class Pauses(threading.Thread):
    """Ticks, and notices when it could not. Use as a context manager.

    Attributes:
        seconds: How long nothing ran, in all.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stop_ticking = threading.Event()
        self._tick = self._last_end = time.monotonic()
        self.seconds = 0.0

    def __enter__(self) -> Pauses:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop_ticking.set()
        self.join()

    def run(self) -> None:
        while not self._stop_ticking.wait(_TICK_S):
            before, self._tick = self._tick, time.monotonic()
            if self._tick - before > _LONGEST_S:
                self._last_end = self._tick
                self.seconds += self._tick - before

    def clock(self) -> float:
        """Returns a time in seconds that stands still while nothing runs."""
        return time.monotonic() - self.seconds

    def any_since(self, start: float) -> bool:
        """Returns whether there was a pause since a time of `time.monotonic`."""
        return self._last_end > start or time.monotonic() - self._tick > _LONGEST_S
