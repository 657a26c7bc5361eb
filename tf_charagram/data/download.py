"""Public data sets: addresses, checksums, licences, and downloads into a cache."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Literal

from tf_charagram._common.reporting import is_quiet
from tf_charagram._files.json_files import read_json
from tf_charagram._files.writing import partial_folder, whole_file
from tf_charagram.data._tables.lines import GZIP_MAGIC
from tf_charagram.errors import DataError, check_name

if TYPE_CHECKING:
    from rich.progress import Progress

Kind = Literal["pairs", "wordsim", "sts", "tagged", "sentiment", "vectors"]

#: Kind -> the command for a set of it; `PATH` is the file or the folder.
USES: dict[Kind, str] = {
    "pairs": "train --data PATH",
    "wordsim": "evaluate MODEL --eval-data PATH",
    "sts": "evaluate MODEL --eval-data PATH",
    "tagged": "train --task pos --data PATH",
    "sentiment": "train --task sentiment --data PATH/train.txt",
    "vectors": "train --word-vectors PATH",
}
CACHE_VARIABLE = "TF_CHARAGRAM_CACHE"
_NOT_STATED = "not stated; see the paper and the archive"
_TIMEOUT_S = 30
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class _Source:
    """A data set that can be downloaded.

    Attributes:
        url: Address of the file or archive.
        kind: What the set is for, such as `"pairs"` to train on; a key of `USES`.
        licence: Licence as its authors state it.
        members: File names inside the archive, without folders; empty if `url` is the data
            file itself. Several are joined, and repeated lines dropped.
        checksum: `"sha1:..."` or `"sha256:..."` of the file at `url`, if published.
        is_folder: Whether to unpack all files of the archive into a folder named like the set.
        num_bytes: Approximate size of the file at `url`, if known.
    """

    url: str
    kind: Kind
    licence: str = _NOT_STATED
    members: Sequence[str] = ()
    checksum: str | None = None
    is_folder: bool = False
    num_bytes: int | None = None


_LISTED = read_json(Path(__file__).with_name("downloads.json"))
#: Name -> data set.
SOURCES: dict[str, _Source] = {name: _Source(**facts) for name, facts in _LISTED.items()}
_PPDB = "http://nlpgrid.seas.upenn.edu/PPDB/eng/"
_PPDB_SIZES = ("s", "m", "l", "xl", "xxl", "xxxl")
_PPDB_PARTS = ("lexical", "phrasal", "o2m", "m2o", "all")
for _version, _size, _part in product(("1.0", "2.0"), _PPDB_SIZES, _PPDB_PARTS):
    _name = f"ppdb-{_version}-{_size}-{_part}"
    SOURCES[_name] = _Source(f"{_PPDB}{_name}.gz", "pairs", "CC BY 3.0 US (paraphrase.org)")


def fetch(name: str) -> Path:
    """Returns the file of a data set, downloaded unless it is cached.

    If a checksum was published, cached downloads are checked at each call, and replaced if they
    are damaged.

    Args:
        name: Name in `SOURCES`. `WS353` is the union of its two halves, each row once.

    Returns:
        The data file: PPDB as gzip, others unpacked; a folder if the set has many files.

    Raises:
        ConfigError: The name is unknown.
        DataError: The file cannot be fetched, or has the wrong checksum or content.
        RunError: Files of an archive cannot be written.
    """
    target = _target(name)
    source = SOURCES[name]
    download = target.parent / _file_name(source)
    try:
        _download(source, download)
        try:
            if target == download:
                _check_gzip(download)
            elif not target.exists():
                _unpack(download, source, target)
        except DataError:
            if source.checksum is None:
                download.unlink()  # It may be an HTML page with an error message.
            raise
    except OSError as error:  # includes every network error of requests
        message = (
            f"could not be fetched from {source.url} ({error}). Try again, or download it by hand "
            "and pass the path of the file instead of the name."
        )
        raise DataError(download, message) from error
    return target


def cached(name: str) -> Path | None:
    """Returns the file or folder of a data set if it is cached, without network or checks.

    Raises:
        ConfigError: The name is not in `SOURCES`.
    """
    target = _target(name)
    return target if target.exists() else None


def cache_folder() -> Path:
    """Returns the folder of downloads: `TF_CHARAGRAM_CACHE`, or the user's cache folder."""
    import pooch

    folder = os.environ.get(CACHE_VARIABLE) or pooch.os_cache("tf_charagram")
    return Path(folder).expanduser().resolve()


def _file_name(source: _Source) -> str:
    return PurePosixPath(source.url).name


def _target(name: str) -> Path:
    """Returns the file or folder of a data set in the cache."""
    check_name("data set", name, SOURCES)
    source = SOURCES[name]
    folder = cache_folder()
    if source.is_folder:
        return folder / name
    if len(source.members) > 1:
        return folder / f"{name}.tsv"
    file_name = source.members[0] if source.members else _file_name(source)
    return folder / file_name


def _download(source: _Source, path: Path) -> None:
    """Downloads a file unless it is there with the right checksum."""
    import pooch
    from rich.console import Console
    from rich.progress import Progress

    def downloader(*arguments: Any) -> None:
        console = Console(stderr=True)
        with Progress(console=console, disable=is_quiet() or not console.is_terminal) as bar:
            pooch.HTTPDownloader(
                progressbar=_Bar(bar, path.name),
                chunk_size=_CHUNK_BYTES,
                timeout=_TIMEOUT_S,
                headers={"Accept-Encoding": "identity"},
            )(*arguments)

    files = pooch.create(
        path.parent, "", registry={path.name: source.checksum}, urls={path.name: source.url}
    )
    try:
        files.fetch(path.name, downloader=downloader)
    except OSError:
        raise
    except ValueError as error:  # pooch has deleted the file; the message has both checksums
        message = (
            f"wrong checksum from {source.url}. {error} Try again; if you trust the new file, "
            "download it by hand and pass its path."
        )
        raise DataError(path, message) from error


class _Bar:
    """A progress bar for pooch, which sets `total`, drawn by rich."""

    total: int | None = None

    def __init__(self, bar: Progress, description: str) -> None:
        self._bar = bar
        self._task = bar.add_task(description, total=None)

    def update(self, num_bytes: int) -> None:
        self._bar.update(self._task, advance=num_bytes, total=self.total or None)

    def reset(self) -> None:
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Does nothing; `Progress` is closed by its `with`."""


def _check_gzip(path: Path) -> None:
    if path.suffix == ".gz":
        with open(path, "rb") as file:
            start = file.read(len(GZIP_MAGIC))
        if start != GZIP_MAGIC:
            raise DataError(path, "expected a gzip file, found something else")


def _unpack(archive: Path, source: _Source, target: Path) -> None:
    """Writes the members of a set, found by file name, or a folder of all files."""
    try:
        if source.is_folder:
            with partial_folder(target) as folder:
                for name, content in _files(archive):
                    with open(folder / name, "wb") as file:
                        shutil.copyfileobj(content, file)
                folder.rename(target)
            return
        lines: Iterable[bytes] = chain(*(_lines(archive, member) for member in source.members))
        if len(source.members) > 1:
            # Both halves of WS353 have some of its pairs, which must not count twice.
            lines = dict.fromkeys(lines)
        with whole_file(target) as file:
            file.writelines(lines)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise DataError(archive, f"expected a zip or tar archive ({error})") from error


def _lines(archive: Path, member: str) -> Iterator[bytes]:
    for name, content in _files(archive):
        if name == member:
            yield from (line.removesuffix(b"\n") + b"\n" for line in content)
            return
    raise DataError(archive, f"expected a file '{member}' in the archive, but it is missing")


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields the name, without folders, and the content of each file; skips hidden files."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            entries = [entry for entry in zipped.infolist() if not entry.is_dir()]
            yield from _visible((entry.filename, zipped.open(entry)) for entry in entries)
    else:
        with tarfile.open(archive) as tar:
            yield from _visible((entry.name, tar.extractfile(entry)) for entry in tar)


def _visible(files: Iterator[tuple[str, IO[bytes] | None]]) -> Iterator[tuple[str, IO[bytes]]]:
    for path, content in files:
        name = PurePosixPath(path).name
        # Hidden files are not data: archives made on macOS have a `._NAME` for each file.
        if content is not None and not name.startswith("."):
            yield name, content
