"""Named arrays in an `.npz` file, read without trusting it.

Nothing is unpickled or written, and no array takes memory before the file was seen to have it.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

#: Numbers that arrays may hold: floating-point ones, integers, and those without a sign.
NUMBERS = "fiu"
# Tables compress to a half at best, and what is counted to a tenth; a file of zeros to 1/1032.
_MOST_TIMES = 100
_MOST_MORE = 1 << 24
_LONGEST_HEADER = 10_000
_CHUNK_BYTES = 1 << 20


class ArrayInfo(NamedTuple):
    """What the header of an array says, checked against the size of its data."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    entry: ZipInfo
    offset: int


class ArrayFile:
    """An open `.npz` file.

    Args:
        archive: The file.
        kinds: Letters of NumPy's kinds that arrays may have, such as `"iu"`.

    Attributes:
        infos: What the arrays are, by name; none is in memory.

    Raises:
        ValueError: An array is of another kind, or is not as large as it says.
    """

    def __init__(self, archive: ZipFile, kinds: str) -> None:
        self._archive = archive
        self.infos: dict[str, ArrayInfo] = {}
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name in self.infos:
                raise ValueError(f"the array '{name}' is there twice")
            self.infos[name] = self._info(name, entry, kinds)

    def _info(self, name: str, entry: ZipInfo, kinds: str) -> ArrayInfo:
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(f"the array '{name}' is compressed in an unknown way")
        with self._archive.open(entry) as file:
            shape, is_fortran, dtype = _header(file)
            offset = file.tell()
        if dtype.kind not in kinds:
            raise ValueError(f"the array '{name}' holds {dtype}, no numbers as are expected")
        # Python integers, which do not overflow.
        announced = dtype.itemsize * int(np.prod([1, *shape], dtype=object))
        if announced != entry.file_size - offset:
            raise ValueError(
                f"the array '{name}' announces {announced:,} bytes and has "
                f"{entry.file_size - offset:,}"
            )
        return ArrayInfo(shape, dtype, is_fortran, entry, offset)

    def read(self, name: str) -> np.ndarray:
        """Returns an array; a `KeyError` if it is not there, a `ValueError` if it is cut short."""
        shape, dtype, is_fortran, entry, offset = self.infos[name]
        data = np.empty(entry.file_size - offset, np.uint8)
        with _damages(), self._archive.open(entry) as file:
            file.seek(offset)
            start = 0
            while chunk := file.read(_CHUNK_BYTES):
                data[start : start + len(chunk)] = np.frombuffer(chunk, np.uint8)
                start += len(chunk)
        if start != len(data):
            raise ValueError(f"the array '{name}' is cut short")
        return data.view(dtype).reshape(shape, order="F" if is_fortran else "C")


@contextmanager
def open_arrays(path: Path, kinds: str = NUMBERS) -> Iterator[ArrayFile]:
    """Opens an `.npz` file.

    Args:
        path: The file.
        kinds: As for `ArrayFile`.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        ValueError: It is no such file, or is damaged, or would take more than a hundred times its
            size.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path} is not a regular file")
    with ExitStack() as stack:
        with _damages():
            archive = stack.enter_context(ZipFile(path))
            announced = sum(entry.file_size for entry in archive.infolist())
            if announced > _MOST_TIMES * status.st_size + _MOST_MORE:
                raise ValueError(
                    f"its arrays would take {announced:,} bytes, and the file has only "
                    f"{status.st_size:,}"
                )
            file = ArrayFile(archive, kinds)
        yield file


def read_arrays(path: Path, kinds: str = NUMBERS) -> dict[str, np.ndarray]:
    """Returns all arrays of an `.npz` file; arguments and errors are those of `open_arrays`."""
    with open_arrays(path, kinds) as file:
        return {name: file.read(name) for name in file.infos}


@contextmanager
def _damages() -> Iterator[None]:
    """Makes a `ValueError` of what a damaged archive or header raises, which is not documented."""
    try:
        yield
    except (OSError, ValueError, KeyError):
        raise
    except Exception as error:
        raise ValueError(str(error) or repr(error)) from error


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings():
        # Of headers that Python 2 wrote, or that look so.
        warnings.simplefilter("ignore")
        return read(file, max_header_size=_LONGEST_HEADER)
