"""Evaluation sets: from a folder, a file, the download cache, or the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from tf_charagram.data import readers
from tf_charagram.data._tables.columns import read_scored_pairs
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.scored import ScoredPairs, SetFormat
from tf_charagram.data._tables.table_reading import Rows
from tf_charagram.data.download import SOURCES, cached
from tf_charagram.data.starter import STARTER, graded_pairs
from tf_charagram.errors import ConfigError, DataError

# Group -> how messages describe its sets; in the order of `evaluation_sets`.
_DESCRIPTIONS = {
    "wordsim": "word similarity (SL999, WS353)",
    "sts": "sentence similarity (STS.input.OnWN.txt, SICK.txt)",
    "phrases": "phrase similarity",
}
_formats: list[SetFormat] = []


def formats() -> list[SetFormat]:
    """Returns the formats of all readers that have one, by group."""
    if not _formats:
        # A new reader is found by its constant, so it needs no line in a list here.
        for found in iter_modules(readers.__path__, f"{readers.__name__}."):
            module = import_module(found.name)
            if hasattr(module, "FORMAT"):
                _formats.append(module.FORMAT)
    groups = list(_DESCRIPTIONS)
    return sorted(_formats, key=lambda known: groups.index(known.group))


def register_format(file_format: SetFormat) -> None:
    """Adds a format from outside of the package."""
    formats()
    _formats.append(file_format)


def evaluation_sets(
    path: str | Path | None,
    kinds: Iterable[str] | None = None,
    *,
    columns: Sequence[str] = (),
    header: bool = True,
    on_bad_line: str | BadLines = "error",
) -> list[ScoredPairs]:
    """Returns the sets to score on.

    Args:
        path: A folder, searched for known names at any depth; a single file, recognized by its
            name or first line; or `None` for the starter set and all downloaded word similarity
            sets.
        kinds: The groups to look for in a folder, of `"wordsim"`, `"sts"` (STS and SICK) and
            `"phrases"`. Defaults to all. The training part of SICK is skipped.
        columns: The columns of the two texts and the score in a single file, by name or 1-based
            number. Defaults to well-known names, and to the columns of known sets.
        header: Whether the first line of a CSV or TSV file has the names of the columns.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown, or `columns` are not for a file.
        DataError: The folder has no known set, or a file cannot be read.
    """
    groups = tuple(_DESCRIPTIONS if kinds is None else kinds)
    bad = BadLines.of(on_bad_line)
    if (columns or not header) and (path is None or Path(path).is_dir()):
        given = f"columns={','.join(columns)}" if columns else "header=False"
        raise ConfigError(f"`columns` and `header` are for a file. Received: {given}")
    if path is None:
        return [_starter_set(), *_cached_sets(bad)]
    path = Path(path)
    if path.is_file():
        return [_read_file(path, columns, header, bad)]
    if not path.is_dir():
        raise DataError(path, "no such file or folder to evaluate on")
    sets = [
        file_format.read(file, name=name, on_bad_line=bad)
        for file_format in formats()
        if file_format.group in groups
        for name, file in file_format.find(path).items()
    ]
    if not sets:
        kinds_of_sets = " or ".join(_DESCRIPTIONS[group] for group in groups)
        raise DataError(
            path,
            f"found no set of {kinds_of_sets} with its usual name. Give files of other names "
            "one by one.",
        )
    return sets


def _starter_set() -> ScoredPairs:
    pairs = graded_pairs()
    left = [first for first, _, _ in pairs]
    right = [second for _, second, _ in pairs]
    scores = np.array([score for _, _, score in pairs], np.float64)
    return ScoredPairs(STARTER, left, right, scores)


def _cached_sets(bad: BadLines) -> Iterator[ScoredPairs]:
    """Yields the word similarity sets that were downloaded before."""
    for name, source in SOURCES.items():
        path = cached(name) if source.kind == "wordsim" else None
        if path is not None:
            wordsim = next(known for known in formats() if known.group == source.kind)
            yield wordsim.read(path, name=name, on_bad_line=bad)


def _read_file(path: Path, columns: Sequence[str], header: bool, bad: BadLines) -> ScoredPairs:
    """Reads a set that is recognized by its name or first line, or else any table of pairs."""
    # Given columns, the file is a table, whatever its name is.
    known = None if columns else _format_of(path)
    if known is not None:
        return known.read(path, on_bad_line=bad)
    return read_scored_pairs(
        path, allow_unscored=True, columns=columns, header=header, split="test", on_bad_line=bad
    )


def _format_of(path: Path) -> SetFormat | None:
    """Returns the format of a file by its name, else by its first line; `None` if unknown."""
    for known in formats():
        if known.is_named(path):
            return known
    cells = Rows(path, header=False, on_bad_line="skip", has_tabs=True).first_line
    # If two formats accept the line, the later group reads it.
    for known in reversed(formats()):
        if known.is_row(cells):
            return known
    return None
