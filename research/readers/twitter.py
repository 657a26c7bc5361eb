"""SemEval-2015 task 1, paraphrase and semantic similarity in Twitter (Xu et al. 2015)."""

from __future__ import annotations

import re
from pathlib import Path

from tf_charagram.data._tables.lines import BadLines, aligned_lines, read_lines
from tf_charagram.data._tables.scored import (
    ScoredPairs,
    ScoredRows,
    SetFormat,
    files_below,
    set_name,
)
from tf_charagram.errors import DataError

NAME = "Twitter"

_FILE = re.compile(r"(train|dev|test)\.(data|label)(\.gz)?", re.IGNORECASE)
_VOTES = re.compile(r"\(\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*\)")
# Topic_Id, Topic_Name, Sent_1, Sent_2, Label, and the sentences once more with tags.
_SENTENCES, _LABEL = slice(2, 4), 4
_NUM_VOTES = 5


def read_twitter(
    path: str | Path,
    *,
    labels: str | Path | None = None,
    name: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> ScoredPairs:
    """Reads the official files.

    The score of a pair is the second column of `test.label`, 0-1. Without that file, it is the
    fifth column of the data: a number, 0-5, or the votes of five people: `(3, 2)` counts as 3.

    Args:
        path: `test.data`, `train.data` or `dev.data`, plain or gzip.
        labels: The official `test.label`. Defaults to the file of that name next to `path`.
        name: Name of the set. Defaults to `Twitter`, to `Twitter.train` and `Twitter.dev` for
            the other files, or to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: A file cannot be read, a line is bad, the numbers of labels and pairs differ,
            or there are fewer than 2 rows.
    """
    bad = BadLines.of(on_bad_line)
    texts, labels = _both(Path(path), None if labels is None else Path(labels))
    name = name or _name(texts)
    if labels is None:
        rows = ScoredRows(texts, bad, 0, _NUM_VOTES)
        for number, text in read_lines(texts):
            if text.strip():
                cells = text.split("\t")
                label = cells[_LABEL] if len(cells) > _LABEL else "none"
                rows.add(number, cells[_SENTENCES], _votes(label))
    else:
        rows = ScoredRows(texts, bad, 0, 1)
        for number, text, label in aligned_lines(texts, labels):
            _, tab, score = label.partition("\t")
            score = score if tab or not label.strip() else "none"
            rows.add(number, text.split("\t")[_SENTENCES], score, labels)
    return rows.to_pairs(name, "pearson")


def find_twitter(folder: str | Path) -> dict[str, Path]:
    """Finds the test set below a folder: a `test.data` with the right columns.

    Returns:
        The file, by the name `Twitter`; empty if it is missing.

    Raises:
        DataError: `folder` is not a folder.
    """
    for path in files_below(folder):
        match = _FILE.fullmatch(path.name)
        if match and match.group(1).lower() == "test" and match.group(2).lower() == "data":
            first = next((text for _, text in read_lines(path) if text.strip()), "")
            if is_twitter_row(first.split("\t")):
                return {NAME: path}
    return {}


def is_twitter_row(cells: list[str]) -> bool:
    """Returns whether the cells of a line are a row of the data."""
    if len(cells) not in (5, 7):
        return False
    return cells[_LABEL].strip().isdigit() or _VOTES.fullmatch(cells[_LABEL].strip()) is not None


def is_twitter_file(path: str | Path) -> bool:
    """Returns whether a file has one of the official names."""
    return _FILE.fullmatch(Path(path).name) is not None


def _both(path: Path, labels: Path | None) -> tuple[Path, Path | None]:
    """Returns the files of the data and of the labels, given either."""
    match = _FILE.fullmatch(path.name)
    if match is None:
        return path, labels
    is_label = match.group(2).lower() == "label"
    expected = f"{match.group(1)}.{'data' if is_label else 'label'}"
    for beside in (path.with_name(expected), path.with_name(f"{expected}.gz")):
        if beside.is_file():
            return (beside, path) if is_label else (path, labels or beside)
    if is_label:
        raise DataError(path, f"expected {expected} beside it, which is missing. Put it there.")
    return path, labels


def _name(path: Path) -> str:
    """Returns the name of the set in a file."""
    match = _FILE.fullmatch(path.name)
    if match is None:
        return set_name(path)
    split = match.group(1).lower()
    return NAME if split == "test" else f"{NAME}.{split}"


def _votes(label: str) -> str:
    """Converts votes to a score; returns other labels unchanged."""
    votes = _VOTES.fullmatch(label.strip())
    if votes is None:
        return label
    positive, negative = map(int, votes.groups())
    total = positive + negative
    return str(_NUM_VOTES * positive / total) if total else "none"


FORMAT = SetFormat("sts", find_twitter, read_twitter, is_twitter_file, is_twitter_row)
