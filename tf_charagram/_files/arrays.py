"""Arrays from `.npz` and `.npy` files that may be damaged or hostile; nothing is unpickled."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from tf_charagram._files.writing import regular_size

# Kinds of NumPy types allowed by default: floating-point numbers and integers.
_NUMBERS = "fiu"
# Tables compress to a half at best and counts to a tenth, but a file of zeros to 1/1032.
_MAX_RATIO = 100
_MAX_EXTRA_BYTES = 1 << 24
# Position of two lengths in the header of an entry of a zip file (APPNOTE.TXT, section 4.3.7).
_LENGTHS_AT = 26


class _ArrayInfo(NamedTuple):
    """Header of an array, checked against the size of its data."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    header_bytes: int


class ArrayFile:
    """The arrays of an open `.npz` file.

    Attributes:
        infos: Headers of the arrays by name.
    """

    def __init__(
        self, path: Path, arrays: Mapping[str, np.ndarray], infos: dict[str, _ArrayInfo]
    ) -> None:
        self._path = path
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

    def mapped(self, name: str) -> np.ndarray:
        """Returns an array that is read from the file as it is used; one in memory if compressed.

        Raises:
            KeyError: There is no such array.
            ValueError: It is damaged.
        """
        info = self.infos[name]
        with _damage(), ZipFile(self._path) as archive:
            entry = archive.getinfo(f"{name}.npy")
            if entry.compress_type != ZIP_STORED or info.is_fortran:
                return self.read(name)
            with archive.open(entry):
                # Opening has checked the header of the entry, which the array follows.
                first = _first_byte(self._path, entry)
        return np.memmap(
            self._path,
            info.dtype,
            mode="r",
            offset=first + info.header_bytes,
            shape=info.shape,
        )


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
            with archive.open(entry) as file:
                info = _read_info(file, entry.filename, entry.file_size, kinds)
            infos[entry.filename.removesuffix(".npy")] = info
    with np.load(path, allow_pickle=False) as arrays:
        yield ArrayFile(path, arrays, infos)


def read_arrays(path: Path, kinds: str = _NUMBERS) -> dict[str, np.ndarray]:
    """Returns all arrays of an `.npz` file; arguments and errors are those of `open_arrays`."""
    with open_arrays(path, kinds) as file:
        return {name: file.read(name) for name in file.infos}


def read_array(path: Path, kinds: str = _NUMBERS) -> np.ndarray:
    """Returns the array of an `.npy` file.

    Args:
        path: The file.
        kinds: Letters of the allowed kinds of NumPy types, such as `"iu"`.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        ValueError: It is not such a file or damaged, or holds another kind of array.
    """
    size = regular_size(path)
    with _damage(), open(path, "rb") as file:
        _read_info(file, path.name, size, kinds)
        file.seek(0)
        return npy.read_array(file, allow_pickle=False)


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


def _read_info(file: IO[bytes], name: str, size: int, kinds: str) -> _ArrayInfo:
    """Reads the header of an array, and checks it against the size of the file."""
    with warnings.catch_warnings():
        # NumPy warns of headers written by Python 2.
        warnings.simplefilter("ignore")
        version = npy.read_magic(file)
        is_first = version == (1, 0)
        read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
        shape, is_fortran, dtype = read(file)
        header_bytes = file.tell()
    num_bytes = size - header_bytes
    if dtype.kind not in kinds:
        raise ValueError(f"the array '{name}' holds {dtype}, expected numbers")
    # Python integers, which do not overflow.
    announced = dtype.itemsize * math.prod(shape)
    if announced != num_bytes:
        raise ValueError(f"the array '{name}' announces {announced:,} bytes and has {num_bytes:,}")
    return _ArrayInfo(shape, dtype, is_fortran, header_bytes)


def _first_byte(path: Path, entry: ZipInfo) -> int:
    """Returns where in a zip file the bytes of an uncompressed entry begin."""
    with open(path, "rb") as file:
        file.seek(entry.header_offset + _LENGTHS_AT)
        # The lengths of name and extra field, which follow.
        lengths = np.frombuffer(file.read(4), "<u2")
    return entry.header_offset + _LENGTHS_AT + 4 + int(lengths.sum())
