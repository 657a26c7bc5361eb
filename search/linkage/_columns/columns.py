"""Columns of one or two tables: their kinds, and the distinct values of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from tf_charagram.data._tables.tables import cell_text
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.search._pairs.flat_arrays import Array, Ids
from tf_charagram.search.linkage._columns.abbreviations import read_abbreviations
from tf_charagram.search.linkage._columns.crossing import crossed_columns
from tf_charagram.search.linkage._columns.dates import are_of_one_time
from tf_charagram.search.linkage._columns.frames import names_of
from tf_charagram.search.linkage._columns.frequencies import (
    Frequencies,
    log_frequency,
    row_frequencies,
)
from tf_charagram.search.linkage._columns.identity import (
    are_full_names,
    identifies,
    is_amount,
    may_tell_variants,
)
from tf_charagram.search.linkage._columns.inner_keys import read_inner_keys
from tf_charagram.search.linkage._columns.kinds import KINDS, ColumnKind, Kind, kind_of_both
from tf_charagram.search.linkage._columns.placeholders import read_placeholder
from tf_charagram.search.linkage._columns.readings import read_alike
from tf_charagram.search.linkage._columns.units import read_units
from tf_charagram.search.linkage._columns.value_similarities import (
    date_similarities,
    name_similarities,
)
from tf_charagram.search.linkage._columns.values import is_missing
from tf_charagram.search.linkage._columns.whole_texts import (
    CUTOFFS,
    WholeTexts,
    are_long,
    read_whole_text,
)

#: Position of a missing value.
MISSING = -1
# A column of so many rows with one value is named.
_MIN_CONSTANT_ROWS = 20
# How values are read that tables write otherwise.
_READINGS = (read_units, read_abbreviations, read_alike)
# Kinds that a single column of texts may have.
_TEXTS = ("name", "text")
# Types of cells that are equal only if they are read alike: 1 is True.
_SIMPLE = frozenset((str, type(None)))


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
        is_identifying: Whether rows with different values are hardly ever the same thing.
        is_guess: Whether `is_identifying` was told from the header and the values.
        may_tell_variants: Whether things that are alike in all else may differ in the column.
        note: What the user should know if the tables write the column in two ways.
        is_recoded: Whether the right cells are other words than the values: codes, or left out.
        factor: What the numbers of the right table are divided by.
        may_be_text: Whether it may be compared as a list of texts is: no other kind was given.
        source: Number of the right column that has its right cells.
        known: Counts of the values in larger tables that the rows are taken from, or of things in
            place of rows.
    """

    name: str
    kind: Kind
    values: list[str]
    left: Ids
    right: Ids
    left_cells: Sequence[str]
    right_cells: Sequence[str]
    is_whole: bool = False
    is_identifying: bool = False
    is_guess: bool = False
    may_tell_variants: bool = False
    note: str = ""
    is_recoded: bool = False
    factor: float = 1.0
    may_be_text: bool = False
    source: int = 0
    known: Frequencies | None = None

    @property
    def is_one_table(self) -> bool:
        """Whether left and right rows are of the same table."""
        return self.left is self.right

    @property
    def tables(self) -> list[Ids]:
        """`left`, and `right` if it is another table."""
        return [self.left] if self.is_one_table else [self.left, self.right]

    def within(self, rows: Ids) -> Column:
        """Returns the column with some values on both sides, as of one table."""
        # What was counted is kept.
        is_same = self.is_one_table and rows is self.left
        return self if is_same else replace(self, left=rows, right=rows)

    @cached_property
    def counts(self) -> Ids:
        """Number of rows with each value, in both tables."""
        ids = np.concatenate(self.tables)
        return np.bincount(ids[ids >= 0], minlength=len(self.values))

    @cached_property
    def frequencies(self) -> Frequencies:
        """The known counts, or the number of rows with each value."""
        return self.known or row_frequencies(self)

    @cached_property
    def log_frequency(self) -> Array:
        """Logarithm of the share of other rows with each value, `(num_values,)`."""
        return log_frequency(self)

    @cached_property
    def entropy(self) -> float:
        """Entropy of the values of the rows that have one, in nats."""
        counts = self.counts[self.counts > 0]
        shares = counts / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    @cached_property
    def told(self) -> float:
        """Mean evidence of equal values, in nats: their entropy, where values are there."""
        present = [(rows >= 0).mean() for rows in self.tables if len(rows)]
        return float(min(present, default=0) * self.entropy)


def notes_of(columns: Sequence[Column]) -> list[str]:
    """Returns the notes about columns that two tables write in two ways, with their names."""
    return [f"{column.name}: {column.note}" for column in columns if column.note]


def cells_of(table: Any, name: str, argument: str) -> list[str]:
    """Returns a column of a table as texts, empty where there is no value.

    Args:
        table: A data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
        name: Name of the column.
        argument: Name of the argument that holds the table, for errors.

    Raises:
        ConfigError: There is no such column, the object is not a table, or a cell is an array, an
            object, or bytes that are not UTF-8.
    """
    names = names_of(table)
    if names is None:
        raise ConfigError(
            f"`{argument}` must be a data frame or a mapping of columns if there is `on`. "
            f"Received: {type(table).__name__}"
        )
    if name not in names:
        raise ConfigError(unknown_name("column", name, names))
    column = table[name]
    # Tables of pyarrow; the others are sequences of values.
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    if not _SIMPLE.issuperset(map(type, values)):
        return [_cell_of(value, name, argument) for value in values]
    # Most tables repeat their texts.
    texts = {value: _cell_of(value, name, argument) for value in set(values)}
    return [texts[value] for value in values]


def _cell_of(value: Any, name: str, argument: str) -> str:
    """Returns a cell as text, empty if it has no value.

    Raises:
        ConfigError: It is an array, an object, or bytes that are not UTF-8.
    """
    # The only values that differ from themselves; pandas' NA refuses to tell.
    is_absent = value is None or type(value).__name__ in ("NAType", "NaTType")
    # Arrays of NumPy and series of polars in a cell are no lists.
    if hasattr(value, "__len__") and not isinstance(value, str | bytes | dict):
        value = list(value)
    try:
        text = "" if is_absent else cell_text(value, name).strip()
    except ValueError as error:
        raise ConfigError(f"`{argument}` cannot be compared: {error}.") from error
    return "" if is_missing(text) else text


def make_column(
    name: str,
    left: Sequence[str],
    right: Sequence[str] | None,
    kind: str | ColumnKind | None = None,
    *,
    is_alone: bool = False,
    is_identifying: bool | None = None,
) -> Column:
    """Makes a column from the cells of one or two tables.

    Args:
        name: Its name.
        left: Cells; missing ones are empty.
        right: Cells of the other table, or `None` if there is one table only.
        kind: Its kind, or the name of it. Default: told from the values.
        is_alone: Whether the tables have no other column.
        is_identifying: Whether its values identify things. Default: told from the values.

    Raises:
        ConfigError: The kind is unknown.
    """
    if isinstance(kind, type):
        raise ConfigError(f"`kinds` must have objects, such as {kind.__name__}(), not classes.")
    if isinstance(kind, str) and kind not in KINDS:
        raise ConfigError(unknown_name("kind of column", kind, KINDS))
    sides = [left] if right is None else [left, right]
    may_be_text = kind is None or kind in _TEXTS
    distinct = [[cell for cell in dict.fromkeys(side) if cell] for side in sides]
    if isinstance(kind, ColumnKind):
        chosen = kind.as_kind()
    elif is_alone and may_be_text:
        chosen = KINDS["text"]
    elif kind is None:
        chosen = kind_of_both(distinct[0], distinct[-1], are_amounts=is_amount(name))
    else:
        chosen = KINDS[kind]
    all_distinct = [cell for side in distinct for cell in side]
    notes = []
    if not is_alone and not isinstance(kind, ColumnKind):
        chosen, note = read_inner_keys(chosen, distinct)
        notes.append(note)
    is_whole = chosen.name == "text" and (is_alone or are_long(all_distinct))
    if is_whole:
        chosen = chosen._replace(reader=lambda cells: read_whole_text, cutoffs=CUTOFFS)
    elif chosen.name == "name" and are_full_names(all_distinct):
        chosen = chosen._replace(similarities=partial(name_similarities, are_people=True))
    forms = [_forms(chosen, cells) for cells in distinct]
    readings = *_READINGS, partial(read_placeholder, sides)
    for read in () if is_whole or isinstance(kind, ColumnKind) else readings:
        chosen, note = read(chosen, forms)
        notes.append(note)
        if note:
            forms = [_forms(chosen, cells) for cells in distinct]
    if chosen.name == "date" and not are_of_one_time([form.values() for form in forms]):
        # The last days of May are near the first ones of June.
        chosen = chosen._replace(similarities=partial(date_similarities, num_days=0))
    note = "; ".join(filter(None, notes))
    positions: dict[str, int] = {}
    ids = []
    for side, form_of in zip(sides, forms, strict=True):
        # Empty cells, and cells that do not have the form of the kind.
        position_of = {"": MISSING}
        for cell, form in form_of.items():
            position_of[cell] = positions.setdefault(form, len(positions)) if form else MISSING
        ids.append(np.array([position_of[cell] for cell in side], np.int64))
    if is_whole and not is_alone:
        chosen = chosen._replace(similarities=WholeTexts.of_values(list(positions)).similarities)
    tells_variants = False
    is_guess = is_identifying is None
    if is_guess and not is_alone:
        present = [cell for cell in left if cell]
        is_identifying = identifies(name, chosen.name, present)
        tells_variants = not is_identifying and may_tell_variants(name, chosen.name, present)
    right_cells = left if right is None else right
    values = list(positions)
    if len(values) < 2 and sum(map(len, sides)) >= _MIN_CONSTANT_ROWS:
        note = "has one value only, which tells nothing" if values else "has no values"
    return Column(
        name,
        chosen,
        values,
        ids[0],
        ids[-1],
        left,
        right_cells,
        is_whole=is_whole,
        is_identifying=bool(is_identifying),
        is_guess=is_guess,
        may_tell_variants=tells_variants,
        note=note,
        may_be_text=may_be_text,
    )


def _forms(kind: Kind, cells: Sequence[str]) -> dict[str, str]:
    """Returns the values of the distinct cells of a table, empty if they are not of the kind."""
    return dict(zip(cells, map(kind.reader(cells), cells), strict=True))


def read_columns(
    left: Any,
    right: Any | None,
    on: Sequence[str],
    on_right: Sequence[str] | None = None,
    kinds: Mapping[str, str | ColumnKind] | None = None,
    identifies: Iterable[str] | None = None,
) -> list[Column]:
    """Returns the columns of one or two tables.

    Args:
        left: A data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
        right: Another one, or `None`.
        on: Names of the columns that are compared.
        on_right: Their names in the right table. Default: as `on`.
        kinds: Kind of columns, by name: `text`, `name`, `code`, `number`, `date`, `time`,
            `list`, or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names and dates of
            birth; the others may change. Default: told from the names and values of the columns.

    Raises:
        ConfigError: A table lacks a column, columns differ in length, or a kind is unknown.
    """
    kinds = dict(kinds or {})
    for argument, names in (("on", on), ("on_right", on_right), ("identifies", identifies)):
        if isinstance(names, str):
            message = f"`{argument}` must be a list of names of columns. Received: {names!r}"
            raise ConfigError(message)
    on_right = on if on_right is None else on_right
    if not on or len(on) != len(on_right):
        raise ConfigError(
            "`on` and `on_right` must name the same number of columns, at least one. "
            f"Received: on={list(on)}, on_right={list(on_right)}"
        )
    if len(set(on)) < len(on):
        raise ConfigError(f"`on` must name a column once. Received: {list(on)}")
    identifying = None if identifies is None else list(identifies)
    for name in [*kinds, *(identifying or ())]:
        if name not in on:
            raise ConfigError(unknown_name("column", name, on))
    left_cells = [cells_of(left, name, "left") for name in on]
    right_cells = [cells_of(right, name, "right") for name in on_right if right is not None]

    def column_of(number: int, source: int) -> Column:
        name = on[number]
        column = make_column(
            name,
            left_cells[number],
            right_cells[source] if right_cells else None,
            kinds.get(name),
            is_alone=len(on) == 1,
            is_identifying=None if identifying is None else name in identifying,
        )
        return replace(column, source=source)

    columns = [column_of(number, number) for number in range(len(on))]
    if len({(len(column.left), len(column.right)) for column in columns}) > 1:
        raise ConfigError("All columns of a table must have the same length.")
    for one, other, num_rows in crossed_columns(columns):
        for number, source in ((one, other), (other, one)):
            where = f"`{on_right[source]}` of the right table"
            if num_rows is None:
                columns[number] = replace(column_of(number, source), note=f"is {where}")
            else:
                note = f"is in {where} in {num_rows} rows, and compared crosswise"
                columns[number] = replace(columns[number], note=note)
    return columns
