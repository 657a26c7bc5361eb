"""The Wall Street Journal of the Penn Treebank, by the sections that taggers are compared on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.scored import files_below
from tf_charagram.errors import DataError
from tf_charagram.tasks.tagging.reader import TaggedSentence, read_tagged

#: Sections of each split (Charagram, section 4.2).
SPLITS = {"train": range(1, 19), "dev": range(19, 22), "test": range(22, 25)}
# The section is in the names of the files, whatever folders they are in.
_FILE = re.compile(r"wsj_(\d\d)\d\d\.(mrg|pos)(\.gz)?", re.IGNORECASE)


def is_treebank_split(name: str) -> bool:
    """Returns whether a name is `FOLDER:train`, `FOLDER:dev` or `FOLDER:test`."""
    folder, _, split = name.rpartition(":")
    return split in SPLITS and Path(folder or ".").is_dir()


def treebank_files(name: str) -> tuple[Path, ...]:
    """Returns the files of the sections of a split, in their order.

    Args:
        name: `FOLDER:SPLIT`. Below the folder, at any depth, are `wsj_0001.mrg` and so on, or files
            `.pos`, which are read where there are no trees.

    Raises:
        DataError: A section of the split is missing.
    """
    folder, _, split = name.rpartition(":")
    by_suffix: dict[str, list[tuple[int, Path]]] = {"mrg": [], "pos": []}
    for path in files_below(folder or "."):
        if match := _FILE.fullmatch(path.name):
            by_suffix[match[2].lower()].append((int(match[1]), path))
    found = by_suffix["mrg"] or by_suffix["pos"]
    sections = SPLITS[split]
    if missing := [section for section in sections if section not in {s for s, _ in found}]:
        raise DataError(
            folder or ".",
            f"expected files wsj_SSNN.mrg or .pos of the sections {sections[0]:02} to "
            f"{sections[-1]:02} in it; no file of {', '.join(f'{s:02}' for s in missing)}",
        )
    chosen = [(section, path.name, path) for section, path in found if section in sections]
    return tuple(path for _, _, path in sorted(chosen))


def read_treebank(name: str, *, on_bad_line: str | BadLines = "error") -> Iterator[TaggedSentence]:
    """Streams the sentences of a split; see `treebank_files` and `read_tagged`."""
    bad = BadLines.of(on_bad_line)
    for path in treebank_files(name):
        yield from read_tagged(path, on_bad_line=bad)
