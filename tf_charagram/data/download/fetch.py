"""Downloads the sets of `sources.py` into a cache, with checksums."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tf_charagram.data.download.sources import SOURCES, USES, Kind, Source
from tf_charagram.data.readers.lines import GZIP_MAGIC
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.files.writing import partial_folder, whole_file

if TYPE_CHECKING:
    from rich.progress import Progress

CACHE_VARIABLE = "TF_CHARAGRAM_CACHE"
BASE_URL_VARIABLE = "TF_CHARAGRAM_BASE_URL"
_TIMEOUT_S = 30
_CHUNK_BYTES = 1 << 16


def fetch(name: str, *, cache_dir: str | Path | None = None, progress: bool = True) -> Path:
    """Returns the file of a data set, downloaded unless it is cached.

    If a checksum was published, cached downloads are checked at each call, and replaced if they are
    damaged. The environment variable `TF_CHARAGRAM_BASE_URL` names a mirror, with files at
    `{base URL}/{file name}`.

    Args:
        name: Name in `SOURCES`. `WS353` is the union of its two halves, each row once.
        cache_dir: Folder for downloads. Defaults to `TF_CHARAGRAM_CACHE`, otherwise to the user's
            cache folder.
        progress: Whether to draw a progress bar on stderr.

    Returns:
        The data file: PPDB as gzip, others unpacked; a folder if the set has many files.

    Raises:
        ConfigError: The name is unknown, or `TF_CHARAGRAM_BASE_URL` is not an http(s) address.
        DataError: The file cannot be fetched, or has the wrong checksum or content.
        RunError: Files of an archive cannot be written.
    """
    source = _source(name)
    url = _address(source)
    folder = cache_folder(cache_dir)
    download = folder / _file_name(source.url)
    target = _target(name, source, folder)
    try:
        _download(url, download, source.checksum, progress)
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
            f"could not be fetched from {url} ({error}). Try again, or download it by hand and "
            "pass the path of the file instead of the name."
        )
        raise DataError(download, message) from error
    return target


def cached(name: str, *, cache_dir: str | Path | None = None) -> Path | None:
    """Returns the file or folder of a data set if it is cached, without network or checks.

    Args:
        name: Name in `SOURCES`.
        cache_dir: As for `fetch`.

    Raises:
        ConfigError: The name is unknown.
    """
    target = _target(name, _source(name), cache_folder(cache_dir))
    return target if target.exists() else None


@dataclass(frozen=True)
class KnownSet:
    """A data set in the list of `charagram data`.

    Attributes:
        name: Name in `SOURCES`.
        kind: As for `Source`.
        licence: As for `Source`.
        path: Its file or folder, if it is cached.
        num_bytes: Size of the file or of the download, if known.
        use: The command for it.
    """

    name: str
    kind: Kind
    licence: str
    path: Path | None
    num_bytes: int | None
    use: str


def known_sets(cache_dir: str | Path | None = None) -> list[KnownSet]:
    """Returns all sets by kind, with their files in the cache; `cache_dir` is that of `fetch`."""
    sets = []
    for name, source in SOURCES.items():
        path = cached(name, cache_dir=cache_dir)
        use = f"charagram {USES[source.kind]}"
        num_bytes = source.num_bytes
        if path is not None:
            use = use.replace("PATH", str(path))
            files = path.iterdir() if path.is_dir() else (path,)
            num_bytes = sum(file.stat().st_size for file in files)
        sets.append(KnownSet(name, source.kind, source.licence, path, num_bytes, use))
    return sorted(sets, key=lambda known: list(USES).index(known.kind))


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise ConfigError(unknown_name("data set", name, SOURCES))
    return SOURCES[name]


def _address(source: Source) -> str:
    base_url = os.environ.get(BASE_URL_VARIABLE)
    if not base_url:
        return source.url
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(
            f"`{BASE_URL_VARIABLE}` must be an http:// or https:// address. Received: '{base_url}'"
        )
    return f"{base_url.rstrip('/')}/{_file_name(source.url)}"


def _file_name(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).name


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Returns the folder of downloads; see `fetch`."""
    import pooch

    folder = cache_dir or os.environ.get(CACHE_VARIABLE) or pooch.os_cache("tf_charagram")
    return Path(folder).expanduser().resolve()


def _target(name: str, source: Source, folder: Path) -> Path:
    if source.is_folder:
        return folder / name
    if len(source.members) > 1:
        return folder / f"{name}.tsv"
    return folder / (source.members[0] if source.members else _file_name(source.url))


def _download(url: str, path: Path, checksum: str | None, progress: bool) -> None:
    """Downloads a file unless it is there with the right checksum."""
    import pooch
    from rich.console import Console
    from rich.progress import Progress

    def downloader(*arguments: Any) -> None:
        with Progress(console=Console(stderr=True), disable=not progress) as bar:
            pooch.HTTPDownloader(
                progressbar=_Bar(bar, path.name),
                chunk_size=_CHUNK_BYTES,
                timeout=_TIMEOUT_S,
                headers={"Accept-Encoding": "identity"},
            )(*arguments)

    files = pooch.create(path.parent, "", registry={path.name: checksum}, urls={path.name: url})
    try:
        files.fetch(path.name, downloader=downloader)
    except OSError:
        raise
    except ValueError as error:  # pooch has deleted the file; the message has both checksums
        message = (
            f"wrong checksum from {url}. {error} Try again; if you trust the new file, download it "
            "by hand and pass its path."
        )
        raise DataError(path, message) from error


class _Bar:
    """A progress bar for pooch, drawn by rich."""

    def __init__(self, bar: Progress, description: str) -> None:
        self._bar = bar
        self._task = bar.add_task(description, total=None)

    @property
    def total(self) -> float | None:
        return self._bar.tasks[self._task].total

    @total.setter
    def total(self, num_bytes: int) -> None:
        self._bar.update(self._task, total=num_bytes or None)

    def update(self, num_bytes: int) -> None:
        self._bar.advance(self._task, num_bytes)

    def reset(self) -> None:
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Does nothing; `Progress` is closed by its `with`."""


def _check_gzip(path: Path) -> None:
    if path.suffix == ".gz":
        with open(path, "rb") as file:
            if file.read(2) != GZIP_MAGIC:
                raise DataError(path, "expected a gzip file, found something else")


def _unpack(archive: Path, source: Source, target: Path) -> None:
    """Writes the members of a set, found by file name, or a folder of all files."""
    try:
        if source.is_folder:
            with partial_folder(target) as folder:
                for name, content in _files(archive):
                    with open(folder / name, "wb") as file:
                        shutil.copyfileobj(content, file)
                folder.rename(target)
            return
        lines = chain.from_iterable(_lines(archive, member) for member in source.members)
        with whole_file(target) as file:
            file.writelines(lines if len(source.members) == 1 else dict.fromkeys(lines))
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise DataError(archive, f"expected a zip or tar archive ({error})") from error


def _lines(archive: Path, member: str) -> Iterator[bytes]:
    for name, content in _files(archive):
        if name == member:
            yield from (line.removesuffix(b"\n") + b"\n" for line in content)
            return
    raise DataError(archive, f"expected a file '{member}' in the archive, but it is missing")


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields the name, without folders, and the content of each file."""
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
