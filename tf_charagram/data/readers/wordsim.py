"""Word similarity sets: two words and a human score per line, in their official formats."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tf_charagram.data._tables.columns import plain_name
from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.data._tables.scored import (
    SUFFIX,
    ScoredPairs,
    ScoredRows,
    SetFormat,
    files_below,
    is_number,
    set_name,
)
from tf_charagram.data._tables.table_reading import Rows
from tf_charagram.errors import DataError

# Canonical name -> known file names, best first: lowercase, without suffix and punctuation.
_FILE_NAMES = {
    "MEN": ("mendatasetnaturalformfull", "enmentr3k", "men"),
    "RW": ("rw", "enrwstanford", "rarewords"),
    "SL999": ("simlex999", "ensimlex999", "sl999"),
    "SimVerb": ("simverb3500", "ensimverb3500", "simverb"),
    "WS353": ("combined", "wordsim353", "ws353", "enws353all", "ws353all"),
    "WS353-REL": ("wordsimrelatednessgoldstandard", "enws353rel", "ws353rel"),
    "WS353-SIM": ("wordsimsimilaritygoldstandard", "enws353sim", "ws353sim"),
}
_WORD_COLUMNS = ["word1", "word2"]
_SCORE_COLUMNS = ("simlex999", "human(mean)", "human", "score", "mean", "similarity", "relatedness")


def read_wordsim(
    path: str | Path, *, name: str | None = None, on_bad_line: str | BadLines = "error"
) -> ScoredPairs:
    """Reads a word similarity set, whose first row tells the format.

    Known formats: word, word and score between tabs, spaces or, in `.csv`, commas; SimLex-999,
    WordSim-353 `combined` and its similarity and relatedness halves, Rare Words, MEN in its natural
    form, and SimVerb-3500. Lines with `#` above the first row are comments.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        name: Name of the set. Defaults to the canonical name, such as `SL999`, if the file name
            is known; otherwise to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there are fewer than 2 rows.
    """
    bad = BadLines.of(on_bad_line)
    rows = ScoredRows(path, bad)
    column = width = 0
    for number, cells in _cells(path):
        if not width:
            width = len(cells)
            if _is_header(cells):
                column = _score_column(path, cells)
                continue
            # SimVerb-3500 has the part of speech before the score.
            column = 3 if width == 5 and not is_number(cells[2]) else 2
        if len(cells) == width > column:
            rows.add(number, cells[:2], cells[column])
        else:
            expected = f"expected {max(width, column + 1)} columns as in the first row"
            rows.report(number, f"{expected}, found {len(cells)}")
    if name is None:
        name = _canonical(Path(path).name) or set_name(path)
    return rows.to_pairs(name, "spearman")


def _cells(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the cells of the lines that are neither blank nor comments."""
    separator = Rows(path, header=False, has_tabs=True).separator
    is_above = True
    for number, text in read_lines(path):
        # Between tabs, quotes are characters.
        is_tab = separator == "\t"
        cells = text.split("\t") if is_tab else next(csv.reader([text], delimiter=separator), [])
        is_above = is_above and (text.startswith("#") and not _is_header(cells))
        if text.strip() and not is_above:
            yield number, _split(cells)


def _split(cells: Sequence[str]) -> list[str]:
    """Returns the cells of a row; a row without a separator is split at spaces."""
    return cells[0].split() if len(cells) == 1 else list(cells)


def _is_header(cells: Sequence[str]) -> bool:
    return list(map(plain_name, cells[:2])) == _WORD_COLUMNS


def _score_column(path: str | Path, names: Sequence[str]) -> int:
    """Finds the 0-based column of the scores in the header."""
    for column, name in enumerate(map(plain_name, names)):
        if name in _SCORE_COLUMNS:
            return column
    known = ", ".join(_SCORE_COLUMNS)
    raise DataError(path, f"expected a score column in the header, one of {known}")


def _normal(file_name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", SUFFIX.sub("", file_name.lower()))


def _canonical(file_name: str) -> str | None:
    normal = _normal(file_name)
    return next((name for name, known in _FILE_NAMES.items() if normal in known), None)


def find_wordsim(folder: str | Path) -> dict[str, Path]:
    """Finds word similarity sets below a folder by their file names.

    Args:
        folder: Folder with unpacked official files, or with files such as
            `EN-SIMLEX-999.tsv`, at any depth.

    Returns:
        The file of each set by canonical name: `MEN`, `RW`, `SL999`, `SimVerb`, `WS353`,
        `WS353-REL`, `WS353-SIM`. Official file names take precedence.

    Raises:
        DataError: `folder` is not a folder.
    """
    files: dict[str, Path] = {}
    for path in files_below(folder):
        files.setdefault(_normal(path.name), path)
    found: dict[str, Path] = {}
    for name, file_names in _FILE_NAMES.items():
        # The names are sorted, the best first.
        for file_name in file_names:
            if file_name in files:
                found[name] = files[file_name]
                break
    return found


def _is_row(cells: list[str]) -> bool:
    """Returns whether cells are two words and a score, or names of such columns."""
    cells = _split(cells)
    if _is_header(cells):
        return True
    is_score = [is_number(cell) for cell in cells]
    has_words = not any(is_score[:2])
    if len(cells) == 3:
        # Three numbers may be two years as words and their score.
        return is_score[2]
    if len(cells) == 5 and has_words and is_score[3]:
        # SimVerb-3500 has the part of speech before the score.
        return True
    return has_words and len(cells) > 3 and is_score[2]


FORMAT = SetFormat("wordsim", find_wordsim, read_wordsim, is_row=_is_row)
