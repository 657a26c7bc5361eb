"""Evaluation sets: from a folder, a file, the download cache, or the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from tf_charagram.data import readers
from tf_charagram.data.download import SOURCES, cached
from tf_charagram.data.readers.lines import BadLines, read_records
from tf_charagram.data.readers.scored import ScoredPairs, SetFormat
from tf_charagram.data.starter import STARTER, graded_pairs
from tf_charagram.errors import DataError

# Group -> how messages describe its sets; in the order of `evaluation_sets`.
_DESCRIPTIONS = {
    "wordsim": "word similarity set, such as SL999, WS353",
    "sts": "sentence similarity set, such as STS.input.OnWN.txt, SICK.txt",
    "phrases": "phrase similarity set",
}
_formats: list[SetFormat] = []


def formats() -> list[SetFormat]:
    """Returns the formats of all readers that have one, by group and order."""
    if not _formats:
        names = (module.name for module in iter_modules(readers.__path__, f"{readers.__name__}."))
        modules = map(import_module, names)
        _formats.extend(module.FORMAT for module in modules if hasattr(module, "FORMAT"))
    groups = list(_DESCRIPTIONS)
    return sorted(_formats, key=lambda known: (groups.index(known.group), known.order))


def register_format(file_format: SetFormat) -> None:
    """Adds a format from outside of the package."""
    formats()
    _formats.append(file_format)


def evaluation_sets(
    path: str | Path | None,
    kinds: Iterable[str] | None = None,
    *,
    on_bad_line: str | BadLines = "error",
) -> list[ScoredPairs]:
    """Returns the sets to score on.

    Args:
        path: A folder, searched for known names at any depth; a single file, recognized by its
            name or first line; or `None` for the starter set and all downloaded word similarity
            sets.
        kinds: The groups to look for in a folder, of `"wordsim"`, `"sts"` (STS and SICK) and
            `"phrases"`. Defaults to all. The training part of SICK is skipped.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The folder has no known set, or a file cannot be read.
    """
    groups = tuple(_DESCRIPTIONS if kinds is None else kinds)
    bad = BadLines.of(on_bad_line)
    if path is None:
        return [_starter_set(), *_cached_sets(bad)]
    path = Path(path)
    if path.is_file():
        return [_read_file(path, bad)]
    if not path.is_dir():
        raise DataError(path, "no such file or folder to evaluate on")
    sets = [
        file_format.read(file, name=name, on_bad_line=bad)
        for file_format in formats()
        if file_format.group in groups
        for name, file in sorted(file_format.find(path).items())
    ]
    if not sets:
        kinds_of_sets = " or ".join(_DESCRIPTIONS[group] for group in groups)
        raise DataError(
            path, f"no known {kinds_of_sets} in this folder. Files of other names can be given one "
            "by one.",
        )  # fmt: skip
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


def _read_file(path: Path, bad: BadLines) -> ScoredPairs:
    by_name = next((known for known in formats() if known.is_named(path)), None)
    return (by_name or _detect(path)).read(path, on_bad_line=bad)


def _detect(path: Path) -> SetFormat:
    """Recognizes a file by its first non-blank line."""
    cells = next((cells for _, cells in read_records(path)), [])
    by_order = sorted(formats(), key=lambda known: known.order, reverse=True)
    return next(known for known in by_order if known.is_row(cells))
