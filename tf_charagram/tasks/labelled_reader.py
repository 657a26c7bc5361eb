"""Texts and pairs of texts with labels, and the one way to read what a supervised task needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.columns import ColumnOptions, read_columns
from tf_charagram.data.readers.lines import STDIN, read_lines
from tf_charagram.data.readers.scored import ScoredPairs, ScoredRows, is_number, set_name
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.sentiment.sst import is_tree, read_trees, unescape

_MOST_SHOWN = 5
# Fewer scores outside of the scale are bad lines, and not another scale.
_FEW = 10


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
    phrases: bool = False,
    fine_labels: bool = False,
    name: str | None = None,
    **options: Unpack[ColumnOptions],
) -> LabelledTexts:
    """Reads texts with labels: trees of the Stanford Sentiment Treebank, or a table.

    What the Penn Treebank writes for brackets, such as `-LRB-`, becomes brackets in both, because
    some flat files of the treebank have the one and some the other.

    Args:
        path: File, plain or gzip. A table may be standard input, `"-"`.
        phrases: Whether every phrase of a tree counts, see `read_trees`.
        fine_labels: Whether the labels of trees are the five of the treebank.
        name: Name of the set. Defaults to the file name without suffix.
        **options: Of tables, see `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong, or does not go with the file.
        DataError: The file cannot be read, a line is bad, there are no rows, or the columns hold
            something else than they should.
    """
    name = name or set_name(path)
    is_table = options.get("text_columns") or options.get("label_column") is not None
    if not is_table and _has_trees(path):
        trees = read_trees(
            path,
            phrases=phrases,
            fine_labels=fine_labels,
            on_bad_line=options.get("on_bad_line", "error"),
        )
        return LabelledTexts(name, [text for text, _ in trees], [label for _, label in trees])
    if phrases or fine_labels:
        raise ConfigError(
            "`phrases` and `fine_labels` are for trees; texts and labels of a table are taken as "
            f"they are. Received: {path}"
        )
    rows = read_columns(path, **options)
    texts = [unescape(row.texts[0]) for row in rows]
    return LabelledTexts(name, texts, [row.label for row in rows])


def read_labelled_pairs(
    path: str | Path, *, name: str | None = None, **options: Unpack[ColumnOptions]
) -> LabelledPairs:
    """Reads pairs of texts with labels: SICK, official or plain, or any table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        name: Name of the set. Defaults to the file name without suffix.
        **options: See `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong, or does not go with the file.
        DataError: As for `read_columns`.
    """
    rows = read_columns(path, num_texts=2, **options)
    left, right = ([row.texts[side] for row in rows] for side in (0, 1))
    return LabelledPairs(name or set_name(path), left, right, [row.label for row in rows])


def read_scored_pairs(
    path: str | Path,
    *,
    num_classes: int = 5,
    name: str | None = None,
    **options: Unpack[ColumnOptions],
) -> ScoredPairs:
    """Reads pairs of texts with scores from 1 to K: SICK, official or plain, or any table.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        num_classes: K, the highest score, at least 2. A score outside 1..K makes a line bad.
        name: Name of the set. Defaults to the file name without suffix.
        **options: See `ColumnOptions`; `label_column` is the column of the score.

    Raises:
        ConfigError: An argument is wrong, or does not go with the file.
        DataError: As for `read_columns`, or there are fewer than 2 rows.
    """
    if num_classes < 2:
        raise ConfigError(f"`num_classes` must be at least 2. Received: num_classes={num_classes}")
    options["on_bad_line"] = bad = BadLines.of(options.get("on_bad_line", "error"))
    rows = read_columns(path, num_texts=2, is_scored=True, **options)
    values = [float(row.label) for row in rows if is_number(row.label)]
    outside = sum(not 1.0 <= value <= num_classes for value in values)
    if outside >= max(_FEW, len(rows) / 20):
        raise DataError(
            path,
            f"{outside:,} of {len(rows):,} scores are not from 1 to {num_classes}: give the "
            "highest with --num-classes, and add to all scores what makes the lowest 1.",
        )
    scored = ScoredRows(path, bad, 1.0, float(num_classes))
    for row in rows:
        scored.add(row.line, row.texts, row.label)
    return scored.to_pairs(name or set_name(path), "pearson")


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
        present = f"only '{classes[0]}'" if classes else "none"
        raise DataError(
            source,
            f"expected at least 2 different labels to train on, found {present}. Add others.",
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


def _has_trees(path: str | Path) -> bool:
    """Returns whether the first line of a file that is not blank is a tree."""
    # Standard input can be read once only.
    if str(path) == STDIN:
        return False
    lines = (text for _, text in itertools.islice(read_lines(path), 100) if text.strip())
    return is_tree(next(lines, ""))
