"""SICK (Marelli et al. 2014), sentence relatedness: official and plain files."""

from __future__ import annotations

import re
from pathlib import Path

from tf_charagram.data.readers.columns import read_scored_pairs
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import (
    ScoredPairs,
    SetFormat,
    files_below,
    is_number,
    set_name,
)

_LABELS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
#: Name of the set that papers report.
SICK_TEST = "SICK.test"
_SETS = (SICK_TEST, "SICK.trial", "SICK.train")
LOWEST, HIGHEST = 1.0, 5.0

_FILE = re.compile(r"SICK(?:[._-](train|trial|test))?(?:_annotated)?", re.IGNORECASE)


def read_sick(
    path: str | Path, *, name: str | None = None, on_bad_line: str | BadLines = "error"
) -> ScoredPairs:
    """Reads a split of SICK.

    Official: tab-separated columns with a header, `SICK.txt` with the column `SemEval_set`, or
    one file per split, such as `SICK_test_annotated.txt`. Plain: score, sentence, sentence and,
    optionally, the entailment label; no header.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        name: Name of the set; `SICK.train` or `SICK.trial` also choose the split of files with
            the column `SemEval_set`. Defaults to `SICK.test`, or by the file name.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
            A score outside 1-5 makes a line bad.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there are fewer than 2 rows.
    """
    if name is None:
        match = _match(path)
        name = set_name(path) if match is None else f"SICK.{(match[1] or 'test').lower()}"
    split = name.partition(".")[2] if name in _SETS else "test"
    return read_scored_pairs(path, LOWEST, HIGHEST, name=name, split=split, on_bad_line=on_bad_line)


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
    # The test set was first released without scores, as `SICK_test.txt`.
    for path in reversed(files_below(folder)):
        match = _match(path)
        if match is None:
            continue
        if match[1] is None:
            whole = whole or {SICK_TEST: path, "SICK.trial": path}
        elif match[1].lower() != "train":
            files.setdefault(f"SICK.{match[1].lower()}", path)
    return files | whole


def _match(path: str | Path) -> re.Match[str] | None:
    return _FILE.fullmatch(set_name(path))


def _is_header(cells: list[str]) -> bool:
    return {"sentence_a", "sentence_b"} <= {cell.strip().lower() for cell in cells}


def _is_row(cells: list[str]) -> bool:
    """Returns whether cells are a header of SICK, or score, sentence, sentence, label."""
    is_plain = len(cells) > 3 and is_number(cells[0]) and cells[3].strip() in _LABELS
    return is_plain or _is_header(cells)


FORMAT = SetFormat(
    "sts", find_sick, read_sick, lambda path: _match(path) is not None, _is_row, order=2
)
