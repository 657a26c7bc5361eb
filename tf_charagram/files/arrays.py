"""Arrays from `.npz` files that may be damaged or hostile; nothing is unpickled."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from tf_charagram.files.writing import regular_size

# Kinds of NumPy types allowed by default: floating-point numbers and integers.
_NUMBERS = "fiu"
# Tables compress to a half at best and counts to a tenth, but a file of zeros to 1/1032.
_MAX_RATIO = 100
_MAX_EXTRA_BYTES = 1 << 24


class _ArrayInfo(NamedTuple):
    """Header of an array, checked against the size of its data."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ArrayFile:
    """The arrays of an open `.npz` file.

    Attributes:
        infos: Headers of the arrays by name.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], infos: dict[str, _ArrayInfo]) -> None:
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
def open_arrays(path: Path, kinds: str = _NUMBERS) -> Iterator[ArrayFile]:
    """Opens an `.npz` file.

    Args:
        path: The file.
        kinds: Letters of the allowed kinds of NumPy types, such as `"iu"`.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        ValueError: It is not such a file or damaged, holds arrays of another kind, or would take
            more than a hundred times its size.
    """
    size = regular_size(path)
    infos = {}
    with _damage(), ZipFile(path) as archive:
        entries = archive.infolist()
        announced = sum(entry.file_size for entry in entries)
        if announced > _MAX_RATIO * size + _MAX_EXTRA_BYTES:
            raise ValueError(
                f"its arrays would take {announced:,} bytes, but the file has only {size:,}"
            )
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            infos[name] = _read_info(archive, entry, kinds)
    with np.load(path, allow_pickle=False) as arrays:
        yield ArrayFile(arrays, infos)


def read_arrays(path: Path, kinds: str = _NUMBERS) -> dict[str, np.ndarray]:
    """Returns all arrays of an `.npz` file; arguments and errors are those of `open_arrays`."""
    with open_arrays(path, kinds) as file:
        return {name: file.read(name) for name in file.infos}


def fingerprint(*paths: str | Path) -> str:
    """Returns a checksum of the arrays in zip files, from their CRCs."""
    members = []
    for path in paths:
        with ZipFile(path) as file:
            members += [(member.filename, member.CRC) for member in file.infolist()]
    return hashlib.sha256(repr(members).encode()).hexdigest()


@contextmanager
def _damage() -> Iterator[None]:
    """Turns the undocumented errors of damaged archives and headers into `ValueError`."""
    try:
        yield
    except (OSError, ValueError, KeyError):
        raise
    except Exception as error:
        raise ValueError(str(error) or repr(error)) from error


def _read_info(archive: ZipFile, entry: ZipInfo, kinds: str) -> _ArrayInfo:
    with archive.open(entry) as file, warnings.catch_warnings():
        # NumPy warns of headers written by Python 2.
        warnings.simplefilter("ignore")
        version = npy.read_magic(file)
        is_first = version == (1, 0)
        read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        num_bytes = entry.file_size - file.tell()
    if dtype.kind not in kinds:
        raise ValueError(f"the array '{entry.filename}' holds {dtype}, expected numbers")
    # Python integers, which do not overflow.
    announced = dtype.itemsize * math.prod(shape)
    if announced != num_bytes:
        raise ValueError(
            f"the array '{entry.filename}' announces {announced:,} bytes and has {num_bytes:,}"
        )
    return _ArrayInfo(shape, dtype)
