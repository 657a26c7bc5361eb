"""Columns of one or two tables: their kinds, and the distinct values of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram.data.readers.table_rows import as_text
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.search.linkage.kinds import KINDS, Kind, kind_of
from tf_charagram.search.linkage.values import is_missing
from tf_charagram.search.linkage.whole_texts import (
    CUTOFFS,
    WholeTexts,
    are_long,
    read_whole_text,
)

Ids = NDArray[np.int64]
#: Position of a missing value.
MISSING = -1


@dataclass
class Column:
    """A column that both tables have.

    Attributes:
        name: Its name in the left table.
        kind: Its kind.
        values: The distinct values of both tables, in the form that is compared.
        left: Position of the value of each left row, `MISSING` for an empty cell.
        right: The same of the right rows; the same array if there is one table only.
        left_cells: Cells of the left rows as they are in the table, empty if missing.
        right_cells: Cells of the right rows.
        is_whole: Whether texts are compared as lists of texts are, and similarities are
            probabilities.
    """

    name: str
    kind: Kind
    values: list[str]
    left: Ids
    right: Ids
    left_cells: Sequence[str]
    right_cells: Sequence[str]
    is_whole: bool = False

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of rows with each value, in both tables."""
        counts = np.bincount(self.left[self.left >= 0], minlength=len(self.values))
        if self.right is not self.left:
            counts += np.bincount(self.right[self.right >= 0], minlength=len(self.values))
        return counts


def cells_of(table: Any, name: str, argument: str) -> list[str]:
    """Returns a column of a table as texts, empty where there is no value.

    Args:
        table: A data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
        name: Name of the column.
        argument: Name of the argument that holds the table, for errors.

    Raises:
        ConfigError: There is no such column, or the object is not a table.
    """
    names = _columns_in(table, argument)
    if name not in names:
        raise ConfigError(unknown_name("column", name, names))
    column = table[name]
    # Tables of pyarrow; the others are sequences of values.
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    texts = []
    for value in values:
        # The only values that differ from themselves; pandas' NA refuses to tell.
        is_absent = value is None or type(value).__name__ in ("NAType", "NaTType")
        text = "" if is_absent else as_text(value).strip()
        texts.append("" if is_missing(text) else text)
    return texts


def _columns_in(table: Any, argument: str) -> list[str]:
    """Returns the names of the columns of a table.

    Raises:
        ConfigError: It is no table.
    """
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if names is None:
        raise ConfigError(
            f"`{argument}` must be a data frame or a mapping of columns if there is `on`. "
            f"Received: {type(table).__name__}"
        )
    return list(names)


def make_column(
    name: str,
    left: Sequence[str],
    right: Sequence[str] | None,
    kind: str | None = None,
    *,
    is_alone: bool = False,
) -> Column:
    """Makes a column from the cells of one or two tables.

    Args:
        name: Its name.
        left: Cells; missing ones are empty.
        right: Cells of the other table, or `None` if there is one table only.
        kind: Name of its kind. Default: told from the values.
        is_alone: Whether the tables have no other column.

    Raises:
        ConfigError: The kind is unknown.
    """
    if kind is not None and kind not in KINDS:
        raise ConfigError(unknown_name("kind of column", kind, KINDS))
    cells = [*left, *(right or ())]
    distinct_cells = [cell for cell in dict.fromkeys(cells) if cell]
    chosen = kind_of(distinct_cells) if kind is None else KINDS[kind]
    is_whole = chosen.name == "text" and are_long(distinct_cells)
    if is_alone and chosen.name in ("text", "name"):
        is_whole = True
    if is_whole:
        chosen = chosen._replace(read=read_whole_text, cutoffs=CUTOFFS)
    forms = {cell: chosen.read(cell) for cell in distinct_cells}
    positions: dict[str, int] = {}
    for form in forms.values():
        if form:
            positions.setdefault(form, len(positions))
    if is_whole:
        chosen = chosen._replace(similarities=WholeTexts(list(positions)).similarities)
    # Empty cells, and cells that do not have the form of the kind.
    position_of = {cell: positions.get(form, MISSING) for cell, form in forms.items()}
    ids = np.array([position_of.get(cell, MISSING) for cell in cells], np.int64)
    left_ids = ids[: len(left)]
    right_ids = left_ids if right is None else ids[len(left) :]
    right_cells = left if right is None else right
    return Column(name, chosen, list(positions), left_ids, right_ids, left, right_cells, is_whole)
