"""Labels of pairs of rows, by which users say what matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tf_charagram.errors import ConfigError
from tf_charagram.search._pairs.flat_arrays import Ids
from tf_charagram.search._pairs.learning import check_pairs
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.values import folded

#: Two rows and whether they match, 1 or 0. A row is its number, or its cells joined by spaces.
Label = tuple[int | str, int | str, int]
_LABEL_RULE = "`labels` must be two rows and 1 or 0 each, as (12, 7, 1)."


def numbered_labels(columns: Sequence[Column], labels: Iterable[Label]) -> Ids:
    """Returns labels with row numbers, `(num_labels, 3)`.

    Raises:
        ConfigError: A row does not exist, is paired with itself, or a pair has both labels.
    """
    pairs = list(labels)
    if any(isinstance(pair, str) or len(pair) != 3 for pair in pairs):
        raise ConfigError(_LABEL_RULE)
    left = _row_numbers(columns, "left", [pair[0] for pair in pairs])
    right = _row_numbers(columns, "right", [pair[1] for pair in pairs])
    values = [pair[2] for pair in pairs]
    if not all(value in (0, 1) for value in values):
        raise ConfigError(_LABEL_RULE)
    numbered = np.array([left, right, values], np.int64).T.reshape(-1, 3)
    is_one_table = columns[0].is_one_table
    if is_one_table:
        # Texts that are equal, as they are compared, teach nothing.
        are_texts = np.array([isinstance(pair[0], str) for pair in pairs], bool)
        numbered = numbered[~are_texts | (numbered[:, 0] != numbered[:, 1])]
    check_pairs(numbered.tolist(), is_one_table)
    return numbered


def _row_numbers(columns: Sequence[Column], side: str, labels: Sequence[int | str]) -> list[int]:
    """Returns the rows that labels name on one side.

    Raises:
        ConfigError: A row does not exist.
    """
    num_rows = len(getattr(columns[0], side))
    # Only if it is needed: a table may have a million rows.
    has_texts = any(isinstance(label, str) for label in labels)
    rows = _rows_by_text(columns, side) if has_texts else {}
    numbers = []
    for label in labels:
        row = rows.get(_label_text(label), -1) if isinstance(label, str) else int(label)
        if not 0 <= row < num_rows:
            table = "the table" if columns[0].is_one_table else f"the {side} table"
            raise ConfigError(
                f"`labels` must name rows of {table}, from 0 to {num_rows - 1}, or repeat their "
                f"cells. Received: {label!r}"
            )
        numbers.append(row)
    return numbers


def _rows_by_text(columns: Sequence[Column], side: str) -> dict[str, int]:
    """Returns the first row with each text: the cells of the row, joined by spaces."""
    table = [getattr(column, f"{side}_cells") for column in columns]
    rows: dict[str, int] = {}
    for row, cells in enumerate(zip(*table, strict=True)):
        rows.setdefault(_label_text(" ".join(cells)), row)
    return rows


def _label_text(text: str) -> str:
    """Returns the letters of a text, by which labels and rows are compared."""
    return folded(text).replace(" ", "")
