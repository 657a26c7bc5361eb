"""Pairs of texts with human scores, and helpers for readers of such sets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import DataError

#: File suffixes that are not part of the name of a set.
SUFFIX = re.compile(r"(\.(txt|tsv|csv|tab|data|conllu|jsonl|parquet))?(\.gz)?$", re.IGNORECASE)

_BOOLEANS = {"true": "1", "false": "0"}
# `2,000` may be two thousand.
_DECIMAL_COMMA = re.compile(r"\s*[-+]?(0,\d+|\d+,(?!\d{3}\s*$)\d+)\s*")
_OTHER_COLUMNS = "Correct the line, or choose other columns with --columns LEFT,RIGHT,SCORE."


def set_name(path: str | Path) -> str:
    """Returns the name of the set in a file: the file name without suffix."""
    return SUFFIX.sub("", Path(path).name)


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs of texts with human scores.

    Attributes:
        name: Name of the set.
        left: First text of each pair.
        right: Second text of each pair.
        scores: `(num_pairs,)` float64, finite; the scale is the set's own.
        metric: The correlation its papers report: `"spearman"` or `"pearson"`.
        group: Sets whose scores are averaged, for instance `"STS2012"`.
        num_unscored: Pairs without a human score, which were left out.
        scale: Lowest and highest possible score; `None` if unknown.
    """

    name: str
    left: list[str]
    right: list[str]
    scores: NDArray[np.float64]
    metric: str = "spearman"
    group: str | None = None
    num_unscored: int = 0
    scale: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True)
class SetFormat:
    """How to find, recognize and read the sets of a format.

    `--eval-data` uses every reader whose module has one, called `FORMAT`. If two formats accept a
    line, the later group reads it.

    Attributes:
        group: Kind of its sets, such as `"wordsim"` or `"sts"`.
        find: Maps set names to files below a folder, in the order of the scores.
        read: Reads a file, given `name` of the set, if it is known, and `on_bad_line`.
        is_named: Tells whether a file has one of the names of the format.
        is_row: Tells whether the cells of the first line, split at tabs, are of the format.
    """

    group: str
    find: Callable[[Path], dict[str, Path]]
    read: Callable[..., ScoredPairs]
    is_named: Callable[[Path], bool] = lambda path: False
    is_row: Callable[[list[str]], bool] = lambda cells: False


class ScoredRows:
    """Collects the rows of one file; reports bad rows and counts rows without a score.

    Args:
        path: The file, for messages.
        bad: Policy for bad lines.
        low: Lowest possible score, if known.
        high: Highest possible score, if known.
    """

    def __init__(
        self,
        path: str | Path,
        bad: BadLines,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> None:
        self._path = path
        self._bad = bad
        self._scale = low, high
        self._rows: list[tuple[str, str, float]] = []
        self._num_unscored = 0

    def add(
        self, number: int, cells: Sequence[str], score: str, score_path: str | Path | None = None
    ) -> None:
        """Adds a row.

        Args:
            number: Its 1-based line.
            cells: Its two texts; fewer make a bad line.
            score: Its score; blank if it was not judged.
            score_path: The file of the scores, if they are in another one.
        """
        if not score.strip():
            self._num_unscored += 1
            return
        path = self._path
        try:
            left, right = _two_texts(cells)
            path = score_path or self._path
            self._rows.append((left, right, _parse_score(score, *self._scale)))
        except ValueError as error:
            self.report(number, str(error), path)

    def report(self, number: int, message: str, path: str | Path | None = None) -> None:
        """Reports a bad line; the advice for the first row of all is about columns."""
        # If no row was good before, the columns may be others than these.
        remedy = "" if self._rows else _OTHER_COLUMNS
        self._bad.report(path or self._path, number, message, remedy)

    def to_pairs(self, name: str, metric: str, group: str | None = None) -> ScoredPairs:
        """Returns the set.

        Raises:
            DataError: There are fewer than 2 rows with a score, too few for a correlation.
        """
        if len(self._rows) < 2:
            message = f"expected at least 2 rows with a score, found {len(self._rows)}"
            raise DataError(self._path, message)
        has_scale = all(math.isfinite(bound) for bound in self._scale)
        return ScoredPairs(
            name,
            left=[left for left, _, _ in self._rows],
            right=[right for _, right, _ in self._rows],
            scores=np.array([score for _, _, score in self._rows], np.float64),
            metric=metric,
            group=group,
            num_unscored=self._num_unscored,
            scale=self._scale if has_scale else None,
        )


def _parse_score(text: str, low: float, high: float) -> float:
    text = text.strip()
    text = _BOOLEANS.get(text.lower(), text)
    value = float(text.replace(",", ".")) if is_decimal(text) else math.nan
    if not math.isfinite(value):
        hint = ", which may be in thousands" if "," in text else ""
        raise ValueError(f"expected a finite number as score, found '{text}'{hint}")
    if not low <= value <= high:
        raise ValueError(f"expected a score from {low:g} to {high:g}, found '{text}'")
    return value


def _two_texts(cells: Sequence[str]) -> tuple[str, str]:
    if len(cells) < 2:
        raise ValueError(f"expected 2 tab-separated texts, found {len(cells)}")
    left = cells[0].strip()
    right = cells[1].strip()
    if not (left and right):
        raise ValueError("expected two texts, but one is empty")
    return left, right


def is_number(text: str) -> bool:
    """Returns whether Python can parse a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_decimal(text: str) -> bool:
    """Returns whether a text is a number, also with a decimal comma, but not `2,000`."""
    return is_number(text) or _DECIMAL_COMMA.fullmatch(text) is not None


def files_below(folder: str | Path) -> list[Path]:
    """Returns the files below a folder, sorted.

    Raises:
        DataError: It is not a folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(folder, "expected a folder with evaluation sets. Check the path.")
    return sorted(path for path in folder.rglob("*") if path.is_file())
