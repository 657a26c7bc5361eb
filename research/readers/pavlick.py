"""PPDB pairs scored by people (Pavlick et al. 2015, PPDB 2.0)."""

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

NAME = "pavlick"
LOWEST, HIGHEST = 1.0, 5.0

_CATEGORY = re.compile(r"\[[^\[\]\t]*\]")
_FILE = re.compile(
    r"pavlick(\d{4})?([-_](ppdb|wiki)([-_]sample)?)?|(ppdb|wiki)[-_]sample", re.IGNORECASE
)


def read_pavlick(
    path: str | Path, *, name: str | None = None, on_bad_line: str | BadLines = "error"
) -> ScoredPairs:
    """Reads the human-scored pairs of PPDB.

    Tab-separated columns: mean score of the annotators, category, phrase and paraphrase, as in the
    official `ppdb-sample.tsv`; or score, phrase, paraphrase and category. The first row decides.
    Further columns, such as the single scores, are ignored.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        name: Name of the set. Defaults to `pavlick`, to `pavlick.wiki` for `wiki-sample.tsv`, or
            to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
            A score outside 1-5 makes a line bad.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there are fewer than 2 rows.
    """
    rows = ScoredRows(path, BadLines.of(on_bad_line), LOWEST, HIGHEST)
    phrases: slice | None = None
    for number, text in read_lines(path):
        if not text.strip():
            continue
        score, *cells = text.split("\t")
        if phrases is None:
            phrases = slice(1, 3) if cells and is_category(cells[0]) else slice(0, 2)
        rows.add(number, cells[phrases], score)
    return rows.to_pairs(name or _name(path) or set_name(path), "spearman")


def find_pavlick(folder: str | Path) -> dict[str, Path]:
    """Finds the human-scored pairs below a folder by file names.

    Args:
        folder: Folder with the official `ppdb-sample.tsv` or `wiki-sample.tsv`, or with a file
            whose name begins with `pavlick`, at any depth.

    Returns:
        The file of each set found, by name: `pavlick`, `pavlick.wiki`.

    Raises:
        DataError: `folder` is not a folder.
    """
    files: dict[str, Path] = {}
    for path in files_below(folder):
        if (name := _name(path)) is not None:
            files.setdefault(name, path)
    return files


def is_category(cell: str) -> bool:
    """Returns whether a cell is a syntactic category, such as `[NP]`."""
    return _CATEGORY.fullmatch(cell.strip()) is not None


def is_pavlick_file(path: str | Path) -> bool:
    """Returns whether a file has one of the names of the set."""
    return _name(path) is not None


def _name(path: str | Path) -> str | None:
    stem = set_name(path)
    if _FILE.fullmatch(stem) is None:
        return None
    return f"{NAME}.wiki" if "wiki" in stem.lower() else NAME


def _is_row(cells: list[str]) -> bool:
    """Returns whether cells hold a score, phrases and a syntactic category."""
    has_category = any(is_category(cell) for cell in (*cells[1:2], *cells[3:4]))
    return len(cells) >= 3 and is_number(cells[0]) and has_category


FORMAT = SetFormat("phrases", find_pavlick, read_pavlick, is_pavlick_file, _is_row)
