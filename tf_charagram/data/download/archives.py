"""Takes the files of a data set out of its archive."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from tf_charagram.data.download.sources import Source
from tf_charagram.data.readers.lines import GZIP_MAGIC
from tf_charagram.errors import DataError
from tf_charagram.files.writing import partial_folder, whole_file


def unpack(archive: Path, source: Source, target: Path) -> None:
    """Writes the files of a set that are in an archive; whole or not at all.

    Args:
        archive: A zip or tar file.
        source: Says which files.
        target: The file, or the folder, to write.

    Raises:
        DataError: It is no archive, is damaged, or lacks a file.
        RunError: The target cannot be written.
    """
    try:
        if source.is_folder:
            _unpack_folder(archive, target)
        elif len(source.members) == 1:
            _unpack_one(archive, source.members[0], target)
        else:
            joined = _joined(archive, source.members)
            with whole_file(target) as file:
                file.write(joined)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise DataError(archive, f"expected a zip or tar archive ({error})") from error


def check_compressed(path: Path) -> None:
    """Checks that a file whose name ends in `.gz` begins as one.

    Raises:
        DataError: It does not.
    """
    if path.suffix == ".gz":
        with open(path, "rb") as file:
            if file.read(2) != GZIP_MAGIC:
                raise DataError(path, "expected a gzip file, found something else")


def _joined(archive: Path, members: tuple[str, ...]) -> bytes:
    """Returns the different lines of some members, told by their file names."""
    found = {
        name: stream.read().splitlines() for name, stream in _files(archive) if name in members
    }
    for member in members:
        if member not in found:
            raise _lacks(archive, member)
    lines = dict.fromkeys(line for member in members for line in found[member])
    return b"\n".join([*lines, b""])


def _unpack_one(archive: Path, member: str, target: Path) -> None:
    """Writes a member, told by its file name."""
    for name, stream in _files(archive):
        if name == member:
            with whole_file(target) as file:
                shutil.copyfileobj(stream, file)
            return
    raise _lacks(archive, member)


def _unpack_folder(archive: Path, target: Path) -> None:
    """Writes all files of an archive into one folder, by their file names."""
    with partial_folder(target) as partial:
        for name, stream in _files(archive):
            with open(partial / name, "wb") as file:
                shutil.copyfileobj(stream, file)
        partial.rename(target)


def _lacks(archive: Path, member: str) -> DataError:
    return DataError(archive, f"expected a file '{member}' in the archive, found none")


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields name and content of each file; nothing is written where the archive says."""
    entries = _zip_entries if zipfile.is_zipfile(archive) else _tar_entries
    for path, content in entries(archive):
        name = PurePosixPath(path).name
        if not name.startswith("."):
            yield name, content


def _zip_entries(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as zipped:
        for entry in zipped.infolist():
            if not entry.is_dir():
                with zipped.open(entry) as content:
                    yield entry.filename, content


def _tar_entries(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive) as tar:
        for entry in tar:
            content = tar.extractfile(entry)
            if content:
                yield entry.name, content
