"""Large tables in pages of 2 MB, whose addresses a processor finds faster than those of 4 kB."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.layers.placement import read_in_place

_SIZE = 1 << 21
# Advice of Linux' <sys/mman.h>; the second, since 6.1, for what is in memory already.
_HUGEPAGE, _COLLAPSE = 14, 25
# Where TensorFlow expects tensors to begin, a multiple of this many bytes.
_ALIGNMENT = 64


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
    read_in_place(table)
    tensor = table.read_value()
    if "CPU" not in tensor.device:
        return
    address = np.asarray(memoryview(tensor)).ctypes.data
    first, last = -(-address // _SIZE) * _SIZE, (address + size) // _SIZE * _SIZE
    madvise = ctypes.CDLL(None).madvise
    for advice in (_HUGEPAGE, _COLLAPSE):
        madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), advice)


def aligned_empty(shape: Sequence[int]) -> np.ndarray:
    """Returns an uninitialized float32 array that `shared_tensor` takes.

    NumPy asks for huge pages itself, before any page is there, so that none is moved to one later.
    """
    size, spare = math.prod(shape), _ALIGNMENT // np.dtype(np.float32).itemsize
    room = np.empty(size + spare, np.float32)
    first = -room.ctypes.data % _ALIGNMENT // room.itemsize
    return room[first : first + size].reshape(shape)


def shared_tensor(array: np.ndarray) -> tf.Tensor:
    """Returns a tensor that shares the memory of an array of `aligned_empty`; do not change it."""
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())
