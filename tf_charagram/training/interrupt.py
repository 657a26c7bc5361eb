"""Ctrl-C and SIGTERM, handled between two steps, never within one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from tf_charagram.optimizers.exchange import Exchange

_DEFAULTS: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
_MESSAGE = b"\nStopping after this step; Ctrl-C again stops at once.\n"


def _write_message() -> None:
    # Not through `sys.stderr`, which may be in the middle of a write.
    os.write(2, _MESSAGE)


class Interrupt:
    """While entered, remembers Ctrl-C instead of raising `KeyboardInterrupt` wherever Python is.

    The same goes for SIGTERM, with which schedulers and containers stop a process. An exception
    raised inside a destructor or a callback from C++ is dropped, and one raised while a file is
    written leaves half of it. A second signal is raised at once. Outside the main thread, which
    alone gets signals, this does nothing.

    Attributes:
        is_wanted: Whether Ctrl-C was pressed.
        announce: Tells the user so. Default: with a line on standard error.
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self.announce: Callable[[], object] = _write_message
        self._handled: list[int] = []

    def __enter__(self) -> Interrupt:
        # A handler that is not Python's, or that ignores the signal as under `nohup`, stays.
        if threading.current_thread() is threading.main_thread():
            for number, default in _DEFAULTS.items():
                if signal.getsignal(number) == default:
                    signal.signal(number, self._remember)
                    self._handled.append(number)
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()

    def check(self) -> None:
        """Raises `KeyboardInterrupt` if Ctrl-C was pressed."""
        if self.is_wanted:
            self._leave()
            raise KeyboardInterrupt

    def is_wanted_by(self, exchange: Exchange) -> bool:
        """Returns whether Ctrl-C was pressed in any of the workers, which all ask at this point."""
        self.is_wanted = exchange.any(self.is_wanted)
        return self.is_wanted

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.is_wanted:
            raise KeyboardInterrupt
        self.is_wanted = True
        self.announce()

    def _leave(self) -> None:
        while self._handled:
            number = self._handled.pop()
            signal.signal(number, _DEFAULTS[number])
