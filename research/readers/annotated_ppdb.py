"""Annotated-PPDB, phrase pairs scored by people (Wieting et al. 2015, section 3)."""

from __future__ import annotations

import re
from pathlib import Path

from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.data._tables.scored import (
    ScoredPairs,
    ScoredRows,
    SetFormat,
    files_below,
    is_number,
    set_name,
)

NAME = "annotated-ppdb"
LOWEST, HIGHEST = 1.0, 5.0

_SEPARATOR = re.compile(r"\t|\s*\|\|\|\s*")
_FILE = re.compile(r"anno(?:tated)?[-_]?ppdb(?:[-_.](dev|test|all))?", re.IGNORECASE)


def read_annotated_ppdb(
    path: str | Path, *, name: str | None = None, on_bad_line: str | BadLines = "error"
) -> ScoredPairs:
    """Reads scored pairs of phrases: `phrase ||| phrase ||| score`, or separated by tabs.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        name: Name of the set. Defaults to `annotated-ppdb.test` and so on, or to the file name
            without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
            A score outside 1-5 makes a line bad.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there are fewer than 2 rows.
    """
    rows = ScoredRows(path, BadLines.of(on_bad_line), LOWEST, HIGHEST)
    for number, text in read_lines(path):
        if text.strip():
            cells = _SEPARATOR.split(text.strip())
            rows.add(number, cells[:2], cells[2] if len(cells) > 2 else "none")
    return rows.to_pairs(name or _name(path) or set_name(path), "spearman")


def find_annotated_ppdb(folder: str | Path) -> dict[str, Path]:
    """Finds the set below a folder: files such as `annotated-ppdb-test`, at any depth.

    Returns:
        The file of each part, by name: `annotated-ppdb.dev`, `annotated-ppdb.test`, or
        `annotated-ppdb` if the name does not say which.

    Raises:
        DataError: `folder` is not a folder.
    """
    files: dict[str, Path] = {}
    for path in files_below(folder):
        if (name := _name(path)) is not None:
            files.setdefault(name, path)
    return files


def _name(path: str | Path) -> str | None:
    match = _FILE.fullmatch(set_name(path))
    if match is None:
        return None
    part = (match[1] or "all").lower()
    return NAME if part == "all" else f"{NAME}.{part}"


def _is_row(cells: list[str]) -> bool:
    """Returns whether a line without tabs has two phrases and a score."""
    parts = _SEPARATOR.split(cells[0]) if len(cells) == 1 else []
    return len(parts) == 3 and is_number(parts[2])


FORMAT = SetFormat(
    "phrases", find_annotated_ppdb, read_annotated_ppdb, lambda path: _name(path) is not None,
    _is_row,
)  # fmt: skip
