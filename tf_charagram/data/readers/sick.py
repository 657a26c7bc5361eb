"""SICK (Marelli et al. 2014), sentence relatedness: official and plain files."""

from __future__ import annotations

import re
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.scored import (
    ScoredPairs,
    ScoredRows,
    SetFormat,
    files_below,
    is_number,
    set_name,
)
from tf_charagram.errors import ConfigError, DataError, unknown_name

_LABELS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
SPLITS = ("test", "trial", "train")
#: Name of the set that papers report.
SICK_TEST = "SICK.test"
LOWEST, HIGHEST = 1.0, 5.0

_FILE = re.compile(r"SICK(?:[._-](train|trial|test))?(?:_annotated)?", re.IGNORECASE)
_NEEDED = ("sentence_a", "sentence_b", "relatedness_score")
_SPLIT_COLUMN = "semeval_set"


def read_sick(
    path: str | Path,
    *,
    split: str | None = None,
    name: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> ScoredPairs:
    """Reads SICK, or one of its splits.

    Official: tab-separated columns with a header, `SICK.txt` with the column `SemEval_set`, or
    one file per split, such as `SICK_test_annotated.txt`. Plain: score, sentence, sentence and,
    optionally, the entailment label; no header.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        split: `"test"`, `"trial"` or `"train"`. Defaults to the split in the file name, else to
            `"test"`. Filters the rows of files with the column `SemEval_set`.
        name: Name of the set. Defaults to `SICK.test` and so on, or to the file name without
            suffix if that is unknown and `split` is not given.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
            A score outside 1-5 makes a line bad.

    Raises:
        ConfigError: `split` or `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there are fewer than 2 rows.
    """
    if split is not None and split not in SPLITS:
        raise ConfigError(unknown_name("split", split, SPLITS))
    if name is None and split is None and _match(path) is None:
        name = set_name(path)
    split = split or _file_split(path) or "test"
    rows = ScoredRows(path, BadLines.of(on_bad_line), LOWEST, HIGHEST)
    columns: list[str] | None = None
    for number, text in read_lines(path):
        if not text.strip():
            continue
        cells = text.split("\t")
        if columns is None:
            columns = _header(path, number, cells)
            if columns:
                continue
        if not columns:
            rows.add(number, cells[1:], cells[0])
            continue
        row = dict(zip(columns, cells, strict=False))
        if _SPLIT_COLUMN in columns and row.get(_SPLIT_COLUMN, split).strip().lower() != split:
            continue
        texts = [row[column] for column in _NEEDED[:2] if column in row]
        # A truncated line without a score column is bad, not unscored.
        rows.add(number, texts, row.get(_NEEDED[2], "none"))
    return rows.to_pairs(name or f"SICK.{split}", "pearson")


def find_sick(folder: str | Path) -> dict[str, Path]:
    """Finds SICK below a folder by file names.

    Args:
        folder: Folder with `SICK.txt`, `SICK_test_annotated.txt`, `SICK.test.tsv` and so on,
            at any depth.

    Returns:
        The file of each split except `train`, by name: `SICK.test`, `SICK.trial`.

    Raises:
        DataError: `folder` is not a folder.
    """
    files: dict[str, Path] = {}
    whole: dict[str, Path] = {}
    for path in files_below(folder):
        match = _match(path)
        # The test set was first released without scores.
        if match is None or not _has_scores(path):
            continue
        if match.group(1) is None:
            whole = whole or {SICK_TEST: path, "SICK.trial": path}
        elif match.group(1).lower() != "train":
            files.setdefault(f"SICK.{match.group(1).lower()}", path)
    return files | whole


def is_sick_header(cells: list[str]) -> bool:
    """Returns whether the cells of a line are column names of SICK."""
    names = [cell.strip().lower() for cell in cells]
    return all(name in names for name in _NEEDED[:2])


def _header(path: str | Path, number: int, cells: list[str]) -> list[str]:
    """Returns the lowercase column names, or an empty list if the line is not a header."""
    if not is_sick_header(cells):
        return []
    names = [cell.strip().lower() for cell in cells]
    if _NEEDED[2] not in names:
        raise DataError(path, f"expected a column {_NEEDED[2]} in the header", number)
    return names


def _has_scores(path: Path) -> bool:
    for _, text in read_lines(path):
        cells = text.split("\t")
        if text.strip():
            return not is_sick_header(cells) or _NEEDED[2] in text.lower()
    return True


def _match(path: str | Path) -> re.Match[str] | None:
    return _FILE.fullmatch(set_name(path))


def _file_split(path: str | Path) -> str | None:
    match = _match(path)
    return match.group(1).lower() if match is not None and match.group(1) else None


def _is_row(cells: list[str]) -> bool:
    """Returns whether cells are a header of SICK, or score, sentence, sentence, label."""
    is_plain = len(cells) > 3 and is_number(cells[0]) and cells[3].strip() in _LABELS
    return is_plain or is_sick_header(cells)


def _read_set(
    path: Path, name: str | None = None, on_bad_line: str | BadLines = "error"
) -> ScoredPairs:
    """Reads the split at the end of a set's name."""
    if name is None:
        return read_sick(path, on_bad_line=on_bad_line)
    return read_sick(path, split=name.partition(".")[2], on_bad_line=on_bad_line)


FORMAT = SetFormat(
    "sts", find_sick, _read_set, lambda path: _match(path) is not None, _is_row, order=2
)
