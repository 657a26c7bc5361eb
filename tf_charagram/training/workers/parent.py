"""Ends a process when the one that started it is gone, however that ended."""

from __future__ import annotations

import os
import threading
import time

_SECONDS_BETWEEN_LOOKS = 0.5


def end_with_parent(parent: int = 0) -> None:
    """Watches the process that started this one, from a thread.

    Args:
        parent: Its process id, by which one that is gone already is noticed. Default: that of the
            parent now.
    """
    parent = parent or os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
