"""Downloads the sets of `sources.py` into a cache, with checksums."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tf_charagram.data.download.archives import check_compressed, unpack
from tf_charagram.data.download.sources import SOURCES, Source
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.files.json_files import read_json, write_json
from tf_charagram.files.writing import sha256_of

if TYPE_CHECKING:
    from rich.progress import Progress

CACHE_VARIABLE = "TF_CHARAGRAM_CACHE"
BASE_URL_VARIABLE = "TF_CHARAGRAM_BASE_URL"
CHECKSUMS_FILE = "checksums.json"
_TIMEOUT_S = 30
_CHUNK_BYTES = 1 << 16


def fetch(name: str, *, cache_dir: str | Path | None = None, progress: bool = True) -> Path:
    """Returns the file of a data set, downloaded unless the cache has it.

    A cached download is checked again at each call, and replaced if it is damaged. Where
    no checksum was published, that of the first download is kept in `checksums.json`. The
    environment variable `TF_CHARAGRAM_BASE_URL` names a folder, http or https, to get the file
    from instead, as `{base URL}/{file name}`.

    Args:
        name: Name in `SOURCES`. `WS353` is the union of its two halves, each row once.
        cache_dir: Folder to keep files in. Defaults to `TF_CHARAGRAM_CACHE`, otherwise to
            the user's cache folder.
        progress: Whether to draw a progress bar on stderr.

    Returns:
        The data file: PPDB as it comes (gzip), others unpacked; a folder where the set has many.

    Raises:
        ConfigError: The name is unknown, or `TF_CHARAGRAM_BASE_URL` is not an http(s)
            address.
        DataError: The file cannot be fetched, or has the wrong checksum or content.
        RunError: What is in an archive cannot be written.
    """
    source = _source(name)
    url = _address(source)
    folder = cache_folder(cache_dir)
    download = folder / file_name(source.url)
    try:
        is_known = _download(url, download, source.checksum, progress)
        target = _target(name, source, folder)
        try:
            if target == download:
                check_compressed(download)
            elif not target.exists():
                unpack(download, source, target)
        except DataError:
            if not is_known:
                download.unlink()  # It may be a page that says what is wrong.
            raise
        if not is_known:
            _record(download)
    except OSError as error:  # includes every network error of requests
        message = (
            f"could not be fetched from {url} ({error}). Try again, or download it by hand and "
            "pass the path of the file instead of the name."
        )
        raise DataError(download, message) from error
    return target


def cached(name: str, *, cache_dir: str | Path | None = None) -> Path | None:
    """Returns the file or folder of a data set if the cache has it, without network or checks.

    Args:
        name: Name in `SOURCES`.
        cache_dir: As for `fetch`.

    Raises:
        ConfigError: The name is unknown.
    """
    target = _target(name, _source(name), cache_folder(cache_dir))
    return target if target.exists() else None


def known_checksum(name: str, *, cache_dir: str | Path | None = None) -> str | None:
    """Returns what a download is checked against: published, or recorded at the first one.

    Args:
        name: Name in `SOURCES`.
        cache_dir: As for `fetch`.

    Raises:
        ConfigError: The name is unknown.
        DataError: The file of recorded checksums is damaged.
    """
    source = _source(name)
    recorded = _read_checksums(cache_folder(cache_dir))
    return source.checksum or recorded.get(file_name(source.url))


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
    return f"{base_url.rstrip('/')}/{file_name(source.url)}"


def file_name(url: str) -> str:
    """Returns the name of the file at an address."""
    return PurePosixPath(urlsplit(url).path).name


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Returns the folder that downloads are kept in; see `fetch`."""
    import pooch

    folder = cache_dir or os.environ.get(CACHE_VARIABLE) or pooch.os_cache("tf_charagram")
    return Path(folder).expanduser().resolve()


def _target(name: str, source: Source, folder: Path) -> Path:
    if source.is_folder:
        return folder / name
    if len(source.members) > 1:
        return folder / f"{name}.tsv"
    return folder / (source.members[0] if source.members else file_name(source.url))


def _download(url: str, path: Path, checksum: str | None, progress: bool) -> bool:
    """Downloads `url` to `path` unless it is there already; returns whether its checksum is known.

    Where it is, the file has it.
    """
    import pooch
    from rich.console import Console
    from rich.progress import Progress

    known = checksum or _read_checksums(path.parent).get(path.name)
    if path.is_file() and known and not _matches(path, known):
        path.unlink()
    if not path.is_file():
        files = pooch.create(path.parent, "", registry={path.name: known}, urls={path.name: url})
        with Progress(console=Console(stderr=True), disable=not progress) as bar:
            downloader = pooch.HTTPDownloader(
                progressbar=_Bar(bar, path.name),
                chunk_size=_CHUNK_BYTES,
                timeout=_TIMEOUT_S,
                headers={"Accept-Encoding": "identity"},
            )
            try:
                files.fetch(path.name, downloader=downloader)
            except OSError:
                raise
            except ValueError as error:  # pooch: names both sums, and has deleted the file
                message = (
                    f"wrong checksum from {url}. {error} Try again; if you trust the new file, "
                    f"download it by hand and pass its path, or delete its line in "
                    f"{path.parent / CHECKSUMS_FILE} if it has one."
                )
                raise DataError(path, message) from error
    return known is not None


def _record(path: Path) -> None:
    """Keeps the checksum of a download, for later ones."""
    recorded = _read_checksums(path.parent) | {path.name: f"sha256:{sha256_of(path)}"}
    write_json(path.parent / CHECKSUMS_FILE, dict(sorted(recorded.items())))


def _matches(path: Path, known: str) -> bool:
    import pooch

    algorithm, _, expected = known.rpartition(":")
    return bool(pooch.file_hash(str(path), alg=algorithm or "sha256") == expected)


class _Bar:
    """A progress bar for pooch, drawn by rich, which corrects the excess of the last chunk."""

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
        """Does nothing: `Progress` is closed by its `with`."""


def _read_checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS_FILE
    try:
        recorded = read_json(path)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DataError(path, f"expected JSON ({error}). Delete it to start again.") from error
    if not isinstance(recorded, dict):
        raise DataError(path, "expected a JSON object. Delete it to start again.")
    return recorded
