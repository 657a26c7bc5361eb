"""All known data sets, downloadable or not, and which of them are present."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tf_charagram.data.download.fetch import cache_folder, cached, file_name, known_checksum
from tf_charagram.data.download.sources import SOURCES, Kind
from tf_charagram.data.sets import formats
from tf_charagram.errors import DataError

logger = logging.getLogger(__name__)

#: Kind -> what a set of it is for; `PATH` is the file or the folder.
USES: dict[Kind, str] = {
    "pairs": "train --data PATH",
    "wordsim": "evaluate MODEL --eval-data PATH",
    "sts": "evaluate MODEL --eval-data PATH",
    "phrases": "evaluate MODEL --eval-data PATH",
    "tagged": "train --task pos --data PATH",
    "sentiment": "train --task sentiment --data PATH/train.txt",
    "vectors": "evaluate --baseline average:PATH",
    "models": "import-charagram --table PATH",
}
_SCORED: tuple[Kind, ...] = ("wordsim", "sts", "phrases")
#: Folders with more files than this are not searched unless they are named.
MOST_FILES = 20_000


@dataclass(frozen=True)
class ByHand:
    """A data set that only its owners hand out.

    Attributes:
        kind: As for `Source`.
        licence: As for `Source`.
        where: Who has it.
        names: Expression of the names of its files, where `evaluate` does not know them.
        use: The command it is for, if not that of its kind.
    """

    kind: Kind
    licence: str
    where: str
    names: str = ""
    use: str | None = None


BY_HAND = {
    "SimpWiki": ByHand(
        "pairs", "not stated", "Coster & Kauchak 2011 (aligned Simple Wikipedia)",
        r"(normal|simple)\.aligned(\.gz)?", "train --task sentences --data normal::simple",
    ),
    "STS2017": ByHand("sts", "see the archive", "SemEval-2017, task 1"),
    "Twitter": ByHand("sts", "on request", "SemEval-2015, task 1 (Xu et al. 2015)"),
    "pavlick": ByHand("phrases", "not stated", "PPDB 2.0, human judgements (Pavlick et al. 2015)"),
    "annotated-ppdb": ByHand("phrases", "not stated", "J. Wieting's page (Wieting et al. 2015)"),
    "PTB": ByHand(
        "tagged", "LDC", "Linguistic Data Consortium, LDC99T42", r"wsj_\d{4}\.(mrg|pos)(\.gz)?",
        "train --task pos --data PATH:train --eval-data PATH:dev",
    ),
    "GoogleNews": ByHand(
        "vectors", "not stated", "word2vec's page (Mikolov et al. 2013)",
        r"GoogleNews-vectors-negative300\.bin(\.gz)?",
    ),
    "paragram": ByHand(
        "vectors", "not stated", "J. Wieting's page (Wieting et al. 2015)",
        r"paragram[-_].*\.txt(\.gz)?",
    ),
    "charagram": ByHand(
        "models", "not stated", "J. Wieting's page (Wieting et al. 2016)",
        r"charagram.*\.(npy|npz)",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class KnownSet:
    """What is known of a data set.

    Attributes:
        name: Its name.
        kind: As for `Source`.
        licence: As for `Source`.
        path: Its file or folder, if it is there.
        num_bytes: Its size there; else that of the download, if known.
        how: The command that gets it, or who has it.
        checksum: `"published"`, `"recorded"` at the first download, or `None`.
        general_use: The command it is for, `PATH` for its file or folder.
    """

    name: str
    kind: Kind
    licence: str
    path: Path | None
    num_bytes: int | None
    how: str
    checksum: str | None
    general_use: str

    @property
    def use(self) -> str:
        """The command it is for, with its path if it is there."""
        use = self.general_use
        return f"charagram {use if self.path is None else use.replace('PATH', str(self.path))}"


def known_sets(data_dir: str | Path | None = None) -> list[KnownSet]:
    """Returns all sets.

    Args:
        data_dir: Folder to look for them, at any depth, besides the cache. Defaults to the current
            folder, unless that has more than 20,000 files.

    Raises:
        DataError: There is no such folder.
    """
    roots = [Path(data_dir)] if data_dir is not None else []
    if data_dir is None and is_searchable(Path()):
        roots.append(Path())
    files = [path for root in (*roots, cache_folder()) for path in _files_of(root)]
    scored = _scored_sets(roots)
    known = [*_downloads(files, scored, data_dir), *_by_hand(files, scored)]
    return sorted(known, key=lambda known: list(USES).index(known.kind))


def is_searchable(folder: Path) -> bool:
    """Returns whether a folder has so few files that it is searched without being named."""
    return len(list(islice(_files_of(folder), MOST_FILES + 1))) <= MOST_FILES


def _files_of(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        paths = (Path(parent, name) for name in sorted(names))
        yield from (path for path in paths if path.exists())  # A link may lead nowhere.


def _scored_sets(roots: Sequence[Path]) -> dict[str, Path]:
    """Returns the files of the sets that `evaluate` finds, by name; warns of damaged files."""
    found: dict[str, Path] = {}
    for root in roots:
        for known in formats():
            try:
                found = {**known.find(root), **found}
            except DataError as error:
                if not root.is_dir():
                    raise
                logger.warning("%s Sets of this kind are left out of the list.", error)
    return found


def _downloads(
    files: Sequence[Path], scored: dict[str, Path], data_dir: str | Path | None
) -> Iterator[KnownSet]:
    for name, source in SOURCES.items():
        path = cached(name)
        if path is None and data_dir is not None:
            path = cached(name, cache_dir=data_dir)
        found = [] if path is None else [path]
        if path is None and source.kind in _SCORED:
            path, found = _scored_path(name, scored)
        elif path is None:
            # An archive of many files is not yet the folder that is used.
            single = () if source.is_folder else (file_name(source.url).removesuffix(".gz"),)
            wanted = source.members or single
            path, found = _first(p for p in files if p.name.removesuffix(".gz") in wanted)
        checksum = None
        if source.checksum:
            checksum = "published"
        elif known_checksum(name):
            checksum = "recorded"
        yield KnownSet(
            name, source.kind, source.licence, path, _size(found) or source.num_bytes,
            f"charagram data get {name}", checksum, USES[source.kind],
        )  # fmt: skip


def _by_hand(files: Sequence[Path], scored: dict[str, Path]) -> Iterator[KnownSet]:
    for name, known in BY_HAND.items():
        path, found = _scored_path(name, scored)
        if known.names:
            pattern = re.compile(known.names, re.IGNORECASE)
            path, found = _first(path for path in files if pattern.fullmatch(path.name))
        use = known.use or USES[known.kind]
        if path is not None and "PATH:" in use:
            path = path.parent.parent  # The sections of a treebank are folders.
            found = [path]
        yield KnownSet(name, known.kind, known.licence, path, _size(found), known.where, None, use)


def _scored_path(name: str, scored: dict[str, Path]) -> tuple[Path | None, list[Path]]:
    """Returns the file of a set, or the folder of its parts, such as `STS2012.OnWN`; and files."""
    if name in scored:
        return scored[name], [scored[name]]
    parts = [path for found, path in scored.items() if found.startswith(f"{name}.")]
    return (parts[0].parent if parts else None), parts


def _first(paths: Iterator[Path]) -> tuple[Path | None, list[Path]]:
    path = next(paths, None)
    return path, [] if path is None else [path]


def _size(paths: Sequence[Path]) -> int | None:
    files = (file for path in paths for file in ([path] if path.is_file() else _files_of(path)))
    return sum(file.stat().st_size for file in files) or None
