"""Ctrl-C that came where Python drops it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_AGAIN_S = 0.05


@contextmanager
def interrupts_not_lost() -> Iterator[None]:
    """While entered, a `KeyboardInterrupt` that Python drops comes again a moment later.

    Python prints an exception that a destructor or the callback of a weak reference raises, and
    goes on. Keras drops so many objects between two trials of a search that a Ctrl-C in thousands
    hits one of these.
    """
    before = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            return before(unraisable)
        # From a thread, because here it would be dropped as well.
        again = threading.Timer(_AGAIN_S, _interrupt)
        again.daemon = True
        again.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt() -> None:
    # Not `_thread.interrupt_main`, which wakes no call that waits.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
