"""A vocabulary as an asset of a Keras archive: written plainly, and read without trusting it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from tf_charagram.errors import RunError

#: The name that the vocabulary has in a model folder too.
VOCABULARY = "vocabulary.npz"
_MAX_CODE_POINT = 0x10FFFF
#: What reading a damaged file raises.
DAMAGES = (BadZipFile, EOFError, KeyError, OSError, SyntaxError, TypeError, ValueError)


def checksum(arrays: dict[str, np.ndarray]) -> str:
    """Returns the SHA-256 of named arrays, whatever their order, as hex digits."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def write_vocabulary(folder: str | Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes a vocabulary into a folder, as a model folder has it."""
    with open(Path(folder) / VOCABULARY, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read_vocabulary(folder: str | Path) -> dict[str, np.ndarray]:
    """Reads what `write_vocabulary` wrote.

    Args:
        folder: Where the file is.

    Raises:
        RunError: The file is missing or damaged, or an array in it cannot be part of a vocabulary.
    """
    try:
        return read_arrays(Path(folder) / VOCABULARY)
    except DAMAGES as problem:
        raise RunError(
            f"{VOCABULARY} is damaged: {problem}. Save the model again, or copy it again."
        ) from problem


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Reads lists of integers that `np.savez` wrote.

    Nothing is unpickled, and no array takes more memory than its bytes in the file. A missing or
    damaged file raises one of `DAMAGES`.
    """
    with ZipFile(path) as archive:
        return {
            info.filename.removesuffix(".npy"): _read_array(archive, info)
            for info in archive.infolist()
        }


def _read_array(archive: ZipFile, info: ZipInfo) -> np.ndarray:
    if info.compress_type != ZIP_STORED:
        raise ValueError(f"the array {info.filename} is compressed")
    with archive.open(info) as file:
        shape, dtype = _header(file)
        # Python integers, which do not overflow.
        announced = dtype.itemsize * int(np.prod([1, *shape], dtype=object))
        if announced != info.file_size - file.tell():
            raise ValueError(
                f"the array {info.filename} announces {announced} bytes and has "
                f"{info.file_size - file.tell()}"
            )
        array = np.frombuffer(file.read(), dtype).reshape(shape)
    name = info.filename.removesuffix(".npy")
    if name.endswith("alphabet") and array.size:
        if array.min() < 0 or array.max() > _MAX_CODE_POINT:
            raise ValueError(f"the array {name} has numbers that are no code points")
    return array


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in "iu" or len(shape) != 1:
        raise ValueError(f"an array is not a list of integers but {dtype} {shape}")
    return shape, dtype
