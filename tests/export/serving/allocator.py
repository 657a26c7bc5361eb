"""What glibc's allocator keeps of memory that was freed, bounded: else it hides what leaks."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_NUM_ARENAS = 1
_LARGE = 128 * 1024
# Numbers of the parameters, as `malloc.h` has them.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8


def return_large_blocks() -> None:
    """Has this process, and those that it starts, give back large blocks as soon as they are free.

    Without, each of dozens of threads has an arena of its own, which keeps the most that its
    requests ever took, and the threshold from which on blocks are given back grows with them.
    """
    os.environ["MALLOC_ARENA_MAX"] = str(_NUM_ARENAS)
    os.environ["MALLOC_MMAP_THRESHOLD_"] = str(_LARGE)
    _call("mallopt", _M_ARENA_MAX, _NUM_ARENAS)
    _call("mallopt", _M_MMAP_THRESHOLD, _LARGE)


def return_free_pages() -> None:
    """Gives back all pages of this process on which nothing is left, such as a model's."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    function: Any = getattr(ctypes.CDLL(None), name, None)
    if function is not None:  # glibc
        function(*arguments)
