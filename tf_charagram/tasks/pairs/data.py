"""The reader of pairs of texts with labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from tf_charagram.data.readers.columns import ColumnOptions, read_columns
from tf_charagram.data.readers.scored import set_name


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs of texts with a label each.

    Attributes:
        name: Name of the set.
        left: First text of each pair, such as the premise.
        right: Second text of each pair, such as the hypothesis.
        labels: Label of each pair.
    """

    name: str
    left: list[str]
    right: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.left)


def read_labelled_pairs(
    path: str | Path, *, name: str | None = None, **options: Unpack[ColumnOptions]
) -> LabelledPairs:
    """Reads pairs of texts with labels from a table, for example SICK.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        name: Name of the set. Default: the file name without suffix.
        **options: See `ColumnOptions`.

    Raises:
        ConfigError: An argument is wrong or does not fit the file.
        DataError: See `read_columns`.
    """
    rows = read_columns(path, num_texts=2, **options)
    left, right = ([row.texts[side] for row in rows] for side in (0, 1))
    return LabelledPairs(name or set_name(path), left, right, [row.label for row in rows])
