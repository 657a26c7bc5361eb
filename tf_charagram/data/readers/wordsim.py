"""Word similarity sets: two words and a human score per line, in their official formats."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from tf_charagram.data.readers.lines import BadLines, read_lines
from tf_charagram.data.readers.scored import (
    SUFFIX,
    ScoredPairs,
    ScoredRows,
    SetFormat,
    files_below,
    is_number,
    set_name,
)
from tf_charagram.errors import DataError

# Canonical name -> known file names, best first: lowercase, without suffix and punctuation.
_FILE_NAMES = {
    "SL999": ("simlex999", "ensimlex999", "sl999"),
    "WS353": ("combined", "wordsim353", "ws353", "enws353all", "ws353all"),
    "WS353-SIM": ("wordsimsimilaritygoldstandard", "enws353sim", "ws353sim"),
    "WS353-REL": ("wordsimrelatednessgoldstandard", "enws353rel", "ws353rel"),
    "RW": ("rw", "enrwstanford", "rarewords"),
    "MEN": ("mendatasetnaturalformfull", "enmentr3k", "men"),
    "SimVerb": ("simverb3500", "ensimverb3500", "simverb"),
}
_SCORE_COLUMNS = ("simlex999", "human(mean)", "score", "mean", "similarity", "relatedness")


@dataclass(frozen=True)
class _Layout:
    """Separator and score column of the rows of a file."""

    separator: str | None
    score_column: int = 2
    has_header: bool = False
    is_exact: bool = False

    def split(self, text: str) -> list[str]:
        if self.separator == ",":  # Cells may be in quotes.
            return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True))]
        return [cell.strip() for cell in text.split(self.separator)]

    def row(self, text: str) -> tuple[list[str], str]:
        """Returns the words and the score of a row; raises `ValueError` if it is bad."""
        cells = self.split(text)
        needed = self.score_column + 1
        if len(cells) < needed or (self.is_exact and len(cells) > needed):
            rule = f"{needed} columns" if self.is_exact else f"at least {needed} columns"
            raise ValueError(f"expected {rule}, found {len(cells)}")
        return cells[:2], cells[self.score_column]


def read_wordsim(
    path: str | Path, *, name: str | None = None, on_bad_line: str | BadLines = "error"
) -> ScoredPairs:
    """Reads a word similarity set, whose first row tells the format.

    Known formats: three columns (word, word, score) separated by tabs, commas or spaces,
    SimLex-999, WordSim-353 `combined` and its similarity and relatedness halves, Rare Words, MEN
    in its natural form, and SimVerb-3500. Lines with `#` before the first row are comments.

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
    layout: _Layout | None = None
    rows = ScoredRows(path, bad)
    for number, text in read_lines(path):
        if not text.strip() or (layout is None and text.startswith("#")):
            continue
        if layout is None:
            layout = _detect(path, number, text)
            if layout.has_header:
                continue
        try:
            words, score = layout.row(text)
        except ValueError as error:
            rows.report(number, str(error))
        else:
            rows.add(number, words, score)
    if name is None:
        name = _canonical(Path(path).name) or set_name(path)
    return rows.to_pairs(name, "spearman")


def _detect(path: str | Path, number: int, first: str) -> _Layout:
    """Finds the layout from the first line that is not blank or a comment."""
    separator = "\t" if "\t" in first else "," if "," in first else None
    cells = _Layout(separator).split(first)
    names = [cell.lower().replace(" ", "") for cell in cells]
    if names[:2] == ["word1", "word2"]:
        columns = [i for i, column in enumerate(names) if column in _SCORE_COLUMNS]
        if not columns:
            known = ", ".join(_SCORE_COLUMNS)
            raise DataError(path, f"expected a score column in the header, one of {known}", number)
        return _Layout(separator, columns[0], has_header=True)
    if len(cells) == 5 and not is_number(cells[2]):  # SimVerb-3500: POS before the score
        return _Layout(separator, score_column=3)
    return _Layout(separator, is_exact=len(cells) <= 3)


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
        The file of each set by canonical name: `SL999`, `WS353`, `WS353-SIM`, `WS353-REL`, `RW`,
        `MEN`, `SimVerb`. Official file names take precedence.

    Raises:
        DataError: `folder` is not a folder.
    """
    files: dict[str, Path] = {}
    for path in files_below(folder):
        files.setdefault(_normal(path.name), path)
    best = {name: [n for n in known if n in files] for name, known in _FILE_NAMES.items()}
    return {name: files[matches[0]] for name, matches in best.items() if matches}


def _is_row(cells: list[str]) -> bool:
    """Returns whether cells are two words and a score, or names of such columns."""
    if len(cells) == 1:
        cells = cells[0].split()
    if [cell.lower().replace(" ", "") for cell in cells[:2]] == ["word1", "word2"]:
        return True
    has_words = not any(map(is_number, cells[:2]))
    is_simverb = len(cells) == 5 and has_words and is_number(cells[3])
    return is_simverb or (len(cells) > 2 and is_number(cells[2]) and (has_words or len(cells) == 3))


FORMAT = SetFormat("wordsim", find_wordsim, read_wordsim, is_row=_is_row, order=0)
