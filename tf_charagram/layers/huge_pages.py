"""Large tables in pages of 2 MB, whose addresses a processor finds faster than those of 4 kB."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import tensorflow as tf

_SIZE = 1 << 21
# Advice of Linux' <sys/mman.h>; the second, since 6.1, for what is in memory already.
_HUGEPAGE, _COLLAPSE = 14, 25


def use_huge_pages(table: tf.Tensor) -> None:
    """Asks Linux to hold a table in huge pages; elsewhere, or if refused, does nothing.

    A text reads rows from all over a table. With small pages nearly each of them needs a look-up
    of its address, too.

    Args:
        table: float32, `(num_rows, dim)`. It neither changes nor moves.
    """
    if not sys.platform.startswith("linux") or "CPU" not in table.device:
        return
    values = np.asarray(memoryview(table))
    first = -(-values.ctypes.data // _SIZE) * _SIZE
    last = (values.ctypes.data + values.nbytes) // _SIZE * _SIZE
    if first < last:
        madvise = ctypes.CDLL(None).madvise
        for advice in (_HUGEPAGE, _COLLAPSE):
            madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), advice)
