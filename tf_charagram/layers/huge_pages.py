"""Large tables in pages of 2 MB, whose addresses a processor finds faster than those of 4 kB."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import tensorflow as tf

_SIZE = 1 << 21
# Advice of Linux' <sys/mman.h>; the second, since 6.1, for what is in memory already.
_HUGEPAGE, _COLLAPSE = 14, 25


def use_huge_pages(table: tf.Variable) -> None:
    """Asks Linux to hold a table in huge pages; elsewhere, or if refused, does nothing.

    A batch reads rows from all over a table. With small pages nearly each of them needs a look-up
    of its address, too.

    Args:
        table: Any variable; small ones, and those on a GPU, are left as they are.
    """
    size = table.shape.num_elements() * table.dtype.size
    # Other types have no buffer that Python can look at.
    if not sys.platform.startswith("linux") or size < 2 * _SIZE or table.dtype != tf.float32:
        return
    # Updates of rows leave a variable so that whoever reads it gets a copy.
    tf.raw_ops.DisableCopyOnRead(resource=table.handle)
    tensor = table.read_value()
    if "CPU" not in tensor.device:
        return
    address = np.asarray(memoryview(tensor)).ctypes.data
    first, last = -(-address // _SIZE) * _SIZE, (address + size) // _SIZE * _SIZE
    madvise = ctypes.CDLL(None).madvise
    for advice in (_HUGEPAGE, _COLLAPSE):
        madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), advice)
