"""Checks that the columns of a table hold what they should: texts, labels, or scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf_charagram.data.readers.column_layout import Layout, Row
from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import DataError

# In fewer rows, it says nothing that a label is on one line only.
_MIN_ROWS = 10
_LONGEST = 40


def check_first_row(path: str | Path, rows: Sequence[Row], is_scored: bool) -> None:
    """Checks that the first row is not a header with names that are not known.

    Args:
        path: The file that the message names.
        rows: The rows of the table.
        is_scored: Whether the labels are numbers.

    Raises:
        DataError: It looks like a header.
    """
    label, later_labels = rows[0].label, [row.label for row in rows[1:]]
    if is_scored:
        is_header = not is_number(label) and any(map(is_number, later_labels))
    else:
        is_header = len(rows) >= _MIN_ROWS and label not in later_labels
    if is_header:
        raise DataError(
            path,
            f"looks like a header, for no other line has a label like '{_short(label)}'. "
            "Say with --header or --no-header whether it is one, and name the columns with "
            "--text-columns and --label-column.",
            rows[0].line,
        )


def content_problem(rows: Sequence[Row], layout: Layout, is_scored: bool) -> str | None:
    """Returns what is wrong with what the columns hold; `None` if nothing is.

    Args:
        rows: The rows of the table.
        layout: Where the cells of a row are.
        is_scored: Whether the labels are numbers.
    """
    labels = [row.label for row in rows]
    columns = {column: [row.texts[i] for row in rows] for i, column in enumerate(layout.texts)}
    # What looks least like texts: numbers, or else few different values.
    worst = min(columns, key=lambda c: (not _are_numbers(columns[c]), len(set(columns[c]))))
    texts, name, label_name = columns[worst], layout.names[worst], layout.names[layout.label]
    if _are_numbers(texts):
        # Two columns of numbers cannot be swapped.
        is_swapped = not _are_numbers(labels)
    else:
        is_swapped = not is_scored and _are_swapped(texts, labels)
    if is_swapped:
        text_columns = sorted({*layout.texts, layout.label} - {worst})
        return (
            f"column {label_name} should hold the labels and holds '{_short(labels[0])}', "
            f"column {name} should hold texts and holds '{_short(texts[0])}'. Swap them: "
            f"label_column={name}, text_columns={','.join(layout.names[i] for i in text_columns)}"
        )
    if _are_numbers(texts):
        what = f"texts and holds numbers, such as '{texts[0]}'. Give other `text_columns`."
        return f"column {name} should hold {what}"
    if is_scored:
        return None
    if _are_numbers(labels) and any(float(label) % 1 for label in labels if is_number(label)):
        kind = f"scores, such as '{labels[0]}'"
    elif len(rows) >= _MIN_ROWS and len(set(labels)) == len(rows):
        kind = f"{len(rows)} different values in {len(rows)} rows"
    else:
        return None
    return f"column {label_name} should hold labels and holds {kind}. Give another `label_column`."


def _are_numbers(cells: Sequence[str]) -> bool:
    """Returns whether more than half of the cells are numbers."""
    return 2 * sum(map(is_number, cells)) > len(cells)


def _are_swapped(texts: Sequence[str], labels: Sequence[str]) -> bool:
    """Returns whether the labels are longer and more varied than the texts."""
    return len(set(labels)) > len(set(texts)) and sum(map(len, labels)) > sum(map(len, texts))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
