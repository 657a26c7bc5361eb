"""What glibc's allocator keeps of memory that was freed, bounded: else it hides what leaks."""

from __future__ import annotations

import ctypes
import os

_NUM_ARENAS = 2
_LARGE = 128 * 1024
# Numbers of the parameters, as `malloc.h` has them.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8


def return_memory() -> None:
    """Has this process, and those that it starts, give back large blocks as soon as they are free.

    Without, each of dozens of threads has an arena of its own, which keeps the most that its
    requests ever took, and the threshold from which on blocks are given back grows with them.
    """
    os.environ["MALLOC_ARENA_MAX"] = str(_NUM_ARENAS)
    os.environ["MALLOC_MMAP_THRESHOLD_"] = str(_LARGE)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc
        mallopt(_M_ARENA_MAX, _NUM_ARENAS)
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
