"""Arrays from `.npz` files that may be damaged or hostile.

Nothing is unpickled, and no array takes memory before its data was found in the file.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

#: Kinds of NumPy types allowed by default: floating-point numbers and integers.
NUMBERS = "fiu"
# Tables compress to a half at best and counts to a tenth, but a file of zeros to 1/1032.
_MAX_RATIO = 100
_MAX_EXTRA_BYTES = 1 << 24
_MAX_HEADER_BYTES = 10_000


class ArrayInfo(NamedTuple):
    """Header of an array, checked against the size of its data."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ArrayFile:
    """An open `.npz` file; see `open_arrays`.

    Attributes:
        infos: Headers of the arrays by name.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], infos: dict[str, ArrayInfo]) -> None:
        self._arrays = arrays
        self.infos = infos

    def read(self, name: str) -> np.ndarray:
        """Returns an array.

        Raises:
            KeyError: There is no such array.
            ValueError: It is damaged.
        """
        with _damage():
            return self._arrays[name]


@contextmanager
def open_arrays(path: Path, kinds: str = NUMBERS) -> Iterator[ArrayFile]:
    """Opens an `.npz` file.

    Args:
        path: The file.
        kinds: Letters of the allowed kinds of NumPy types, such as `"iu"`.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        ValueError: It is not such a file or damaged, holds arrays of another kind, or would take
            more than a hundred times its size.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path} is not a regular file")
    with _damage(), ZipFile(path) as archive:
        announced = sum(entry.file_size for entry in archive.infolist())
        if announced > _MAX_RATIO * status.st_size + _MAX_EXTRA_BYTES:
            raise ValueError(
                f"its arrays would take {announced:,} bytes, but the file has only "
                f"{status.st_size:,}"
            )
        infos = _read_infos(archive, kinds)
    with np.load(path, allow_pickle=False) as arrays:
        yield ArrayFile(arrays, infos)


def read_arrays(path: Path, kinds: str = NUMBERS) -> dict[str, np.ndarray]:
    """Returns all arrays of an `.npz` file; arguments and errors are those of `open_arrays`."""
    with open_arrays(path, kinds) as file:
        return {name: file.read(name) for name in file.infos}


def _read_infos(archive: ZipFile, kinds: str) -> dict[str, ArrayInfo]:
    infos: dict[str, ArrayInfo] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name in infos:
            raise ValueError(f"the array '{name}' is there twice")
        with archive.open(entry) as file:
            info, offset = _read_header(file), file.tell()
        if info.dtype.kind not in kinds:
            raise ValueError(f"the array '{name}' holds {info.dtype}, expected numbers")
        # Python integers, which do not overflow.
        announced = info.dtype.itemsize * int(np.prod([1, *info.shape], dtype=object))
        if announced != entry.file_size - offset:
            raise ValueError(
                f"the array '{name}' announces {announced:,} bytes and has "
                f"{entry.file_size - offset:,}"
            )
        infos[name] = info
    return infos


@contextmanager
def _damage() -> Iterator[None]:
    """Turns the undocumented errors of damaged archives and headers into `ValueError`."""
    try:
        yield
    except (OSError, ValueError, KeyError):
        raise
    except Exception as error:
        raise ValueError(str(error) or repr(error)) from error


def _read_header(file: IO[bytes]) -> ArrayInfo:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings():
        # NumPy warns of headers written by Python 2.
        warnings.simplefilter("ignore")
        shape, _, dtype = read(file, max_header_size=_MAX_HEADER_BYTES)
    return ArrayInfo(shape, dtype)
