"""Evaluation sets: from a folder, a file, the download cache, or the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from tf_charagram.data import readers
from tf_charagram.data.download import SOURCES, cached
from tf_charagram.data.readers.columns import read_scored_pairs
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs, SetFormat
from tf_charagram.data.readers.tables import Rows, as_text
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
        names = (module.name for module in iter_modules(readers.__path__, f"{readers.__name__}."))
        modules = map(import_module, names)
        _formats.extend(module.FORMAT for module in modules if hasattr(module, "FORMAT"))
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
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown, or `columns` are not for a file.
        DataError: The folder has no known set, or a file cannot be read.
    """
    groups = tuple(_DESCRIPTIONS if kinds is None else kinds)
    bad = BadLines.of(on_bad_line)
    if columns and (path is None or Path(path).is_dir()):
        raise ConfigError(f"`columns` are for a file. Received: columns={','.join(columns)}")
    if path is None:
        return [_starter_set(), *_cached_sets(bad)]
    path = Path(path)
    if path.is_file():
        return [_read_file(path, columns, bad)]
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
    left, right, scores = zip(*graded_pairs(), strict=True)
    return ScoredPairs(STARTER, list(left), list(right), np.array(scores, np.float64))


def _cached_sets(bad: BadLines) -> Iterator[ScoredPairs]:
    """Yields the word similarity sets that were downloaded before."""
    for name, source in SOURCES.items():
        path = cached(name) if source.kind == "wordsim" else None
        if path is not None:
            wordsim = next(known for known in formats() if known.group == source.kind)
            yield wordsim.read(path, name=name, on_bad_line=bad)


def _read_file(path: Path, columns: Sequence[str], bad: BadLines) -> ScoredPairs:
    """Reads a set that is recognized by its name or first line, or else any table of pairs."""
    known = None if columns else next((each for each in formats() if each.is_named(path)), None)
    if not (columns or known):
        table = Rows(path, on_bad_line="skip")
        cells = table.names if table.has_header else next(iter(table.first), (0, []))[1]
        by_group = reversed(formats())
        known = next((each for each in by_group if each.is_row(list(map(as_text, cells)))), None)
    if known is not None:
        return known.read(path, on_bad_line=bad)
    return read_scored_pairs(
        path, allow_unscored=True, columns=columns, split="test", on_bad_line=bad
    )
