"""Memory of large tables: read without a copy, and in huge pages."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

_SIZE = 1 << 21
# From Linux' <sys/mman.h>; the second, since 6.1, is for pages that are in memory already.
_HUGEPAGE, _COLLAPSE = 14, 25
# TensorFlow expects tensors to begin at a multiple of this many bytes.
_ALIGNMENT = 64


def read_in_place(variable: tf.Variable) -> None:
    """Makes reads of a variable return its memory, even after updates of single rows."""
    tf.raw_ops.DisableCopyOnRead(resource=variable.handle)


def use_huge_pages(table: tf.Variable) -> None:
    """Asks Linux to hold a table in pages of 2 MB; has no effect elsewhere, or if refused.

    A batch reads rows from all over a table, and with pages of 4 kB nearly every row needs a lookup
    of its address: encoding with 277,000 rows takes 1.28 times as long.

    Args:
        table: A variable; small ones, and those on a GPU, are left as they are.
    """
    size = table.shape.num_elements() * table.dtype.size
    # Python cannot read the buffer of other types.
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
    """Returns an uninitialized float32 array for `shared_tensor`.

    NumPy asks for huge pages before the memory is used, so that nothing is moved later.
    """
    size, spare = math.prod(shape), _ALIGNMENT // np.dtype(np.float32).itemsize
    room = np.empty(size + spare, np.float32)
    first = -room.ctypes.data % _ALIGNMENT // room.itemsize
    return room[first : first + size].reshape(shape)


def shared_tensor(array: np.ndarray) -> tf.Tensor:
    """Returns a tensor that shares the memory of an array of `aligned_empty`, to be left as is."""
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())
