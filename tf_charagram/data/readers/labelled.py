"""Texts and pairs of texts with labels, and the one way to read what a supervised task needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tf_charagram.data.readers.columns import Row, read_columns
from tf_charagram.data.readers.lines import STDIN, BadLines, read_lines
from tf_charagram.data.readers.scored import SUFFIX, ScoredPairs, ScoredRows
from tf_charagram.data.readers.sst import is_tree, read_trees, unescape
from tf_charagram.errors import ConfigError, DataError

_MOST_SHOWN = 5


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with a label each.

    Attributes:
        name: Name of the set.
        texts: The texts.
        labels: Their labels.
    """

    name: str
    texts: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs of texts with a label each.

    Attributes:
        name: Name of the set.
        left: First text of each pair, such as the premise.
        right: Second text of each pair, such as the hypothesis.
        labels: Their labels.
    """

    name: str
    left: list[str]
    right: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.left)


def read_labelled_texts(
    path: str | Path,
    *,
    text_columns: Sequence[str] = (),
    label_column: str | None = None,
    header: bool | None = None,
    phrases: bool = False,
    fine_labels: bool = False,
    name: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> LabelledTexts:
    """Reads texts with labels: trees of the Stanford Sentiment Treebank, or a table.

    What the Penn Treebank writes for brackets, such as `-LRB-`, becomes brackets in both, because
    some flat files of the treebank have the one and some the other.

    Args:
        path: File, plain or gzip. A table may be standard input, `"-"`.
        text_columns: The column of the text, see `read_columns`.
        label_column: The column of the label.
        header: Whether the first line holds the names of the columns.
        phrases: Of trees: whether every phrase counts, see `read_trees`.
        fine_labels: Of trees: whether the labels are the five of the treebank.
        name: Name of the set. Defaults to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: An argument is wrong, or does not go with the file.
        DataError: The file cannot be read, a line is bad, there are no rows, or the columns hold
            something else than they should.
    """
    name = name or _name(path)
    if not text_columns and label_column is None and _has_trees(path):
        trees = read_trees(path, phrases=phrases, fine_labels=fine_labels, on_bad_line=on_bad_line)
        return LabelledTexts(name, [text for text, _ in trees], [label for _, label in trees])
    if phrases or fine_labels:
        raise ConfigError(
            "`phrases` and `fine_labels` are for trees; texts and labels of a table are taken as "
            f"they are. Received: {path}"
        )
    rows = read_columns(
        path,
        text_columns=text_columns,
        label_column=label_column,
        header=header,
        on_bad_line=on_bad_line,
    )
    texts = [unescape(row.texts[0]) for row in rows]
    return LabelledTexts(name, texts, [row.label for row in rows])


def read_labelled_pairs(
    path: str | Path,
    *,
    text_columns: Sequence[str] = (),
    label_column: str | None = None,
    header: bool | None = None,
    split: str | None = None,
    name: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> LabelledPairs:
    """Reads pairs of texts with labels: SICK, official or plain, or any table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        text_columns: The columns of both texts, see `read_columns`.
        label_column: The column of the label.
        header: Whether the first line holds the names of the columns.
        split: `"train"`, `"trial"` or `"test"` of `SICK.txt`, which holds all three. Other files
            are one split.
        name: Name of the set. Defaults to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: An argument is wrong, or does not go with the file.
        DataError: The file cannot be read, a line is bad, there are no rows, or the columns hold
            something else than they should.
    """
    rows = read_columns(
        path,
        text_columns=text_columns,
        label_column=label_column,
        num_texts=2,
        header=header,
        split=split,
        on_bad_line=on_bad_line,
    )
    left, right = _sides(rows)
    return LabelledPairs(name or _name(path), left, right, [row.label for row in rows])


def read_scored_pairs(
    path: str | Path,
    *,
    num_classes: int = 5,
    text_columns: Sequence[str] = (),
    label_column: str | None = None,
    header: bool | None = None,
    split: str | None = None,
    name: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> ScoredPairs:
    """Reads pairs of texts with scores from 1 to K: SICK, official or plain, or any table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        num_classes: K, the highest score, at least 2. A score outside 1..K makes a line bad.
        text_columns: The columns of both texts, see `read_columns`.
        label_column: The column of the score.
        header: Whether the first line holds the names of the columns.
        split: `"train"`, `"trial"` or `"test"` of `SICK.txt`, which holds all three. Other files
            are one split.
        name: Name of the set. Defaults to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: An argument is wrong, or does not go with the file.
        DataError: The file cannot be read, a line is bad, there are fewer than 2 rows, or the
            columns hold something else than they should.
    """
    if num_classes < 2:
        raise ConfigError(f"`num_classes` must be at least 2. Received: num_classes={num_classes}")
    bad = BadLines.of(on_bad_line)
    rows = read_columns(
        path,
        text_columns=text_columns,
        label_column=label_column,
        num_texts=2,
        is_scored=True,
        header=header,
        split=split,
        on_bad_line=bad,
    )
    scored = ScoredRows(path, bad, 1.0, float(num_classes))
    for row in rows:
        scored.add(row.line, row.texts, row.label)
    return scored.to_pairs(name or _name(path), "pearson")


def check_classes(labels: Iterable[str], source: str | Path) -> tuple[str, ...]:
    """Returns the distinct labels of training data, sorted.

    Args:
        labels: The label of each example.
        source: The file or set that messages name.

    Raises:
        DataError: There are fewer than two labels, so that there is nothing to learn.
    """
    classes = tuple(sorted(set(labels)))
    if len(classes) < 2:
        found = f"only '{classes[0]}'" if classes else "none"
        raise DataError(
            source, f"expected at least 2 different labels to train on, found {found}. Add others."
        )
    return classes


def check_known_labels(labels: Iterable[str], classes: Iterable[str], source: str | Path) -> None:
    """Checks that data to evaluate on has no label that a model cannot give.

    Args:
        labels: The label of each example.
        classes: The labels of the training data.
        source: The file or set that messages name.

    Raises:
        DataError: There is such a label; it is named.
    """
    known = set(classes)
    unknown = sorted(set(labels) - known)
    if unknown:
        raise DataError(
            source,
            f"expected the labels of the training data ({_listed(sorted(known))}), "
            f"found also {_listed(unknown)}. Check the label column, or train with these labels.",
        )


def _listed(labels: Sequence[str]) -> str:
    more = [f"and {len(labels) - _MOST_SHOWN} more"] if len(labels) > _MOST_SHOWN else []
    return ", ".join([*(f"'{label}'" for label in labels[:_MOST_SHOWN]), *more])


def _sides(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    return [row.texts[0] for row in rows], [row.texts[1] for row in rows]


def _has_trees(path: str | Path) -> bool:
    """Returns whether the first line of a file that is not blank is a tree."""
    # Standard input can be read once only.
    if str(path) == STDIN:
        return False
    lines = (text for _, text in itertools.islice(read_lines(path), 100) if text.strip())
    return is_tree(next(lines, ""))


def _name(path: str | Path) -> str:
    return SUFFIX.sub("", Path(path).name)
