"""Rows of users' tables: data frames of pandas and polars, tables of pyarrow, dicts of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


def take_rows(table: Any, rows: Sequence[int]) -> Any:
    """Returns some rows of a table, as a table of the same type.

    Args:
        table: A data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
        rows: Row numbers from 0, in any order, also repeated.
    """
    if isinstance(table, Mapping):
        taken = {}
        for name, values in table.items():
            taken[name] = [values[row] for row in rows]
        return taken
    if hasattr(table, "iloc"):
        return table.iloc[list(rows)].reset_index(drop=True)
    if hasattr(table, "append_column"):
        return table.take(list(rows))
    return table[list(rows)]


def with_column(table: Any, name: str, values: Any) -> Any:
    """Returns a table with one more column.

    Args:
        table: As in `take_rows`.
        name: Name of the column, which no other one has.
        values: Its values: a list, or a column of a table of the same type.
    """
    if isinstance(table, Mapping):
        return {**table, name: values}
    if hasattr(table, "assign"):
        return table.assign(**{name: values})
    if hasattr(table, "append_column"):
        return table.append_column(name, values if hasattr(values, "chunks") else [values])
    # A column of polars has a name of its own.
    polars = import_module("polars")
    return table.with_columns(polars.Series(name, values))


def with_new_column(table: Any, name: str, values: Any) -> Any:
    """Returns a table with one more column, whose name ends in a number if it is taken."""
    names = names_of(table) or []
    free = name
    number = 2
    while free in names:
        free = f"{name}_{number}"
        number += 1
    return with_column(table, free, values)


def names_of(table: Any) -> list[str] | None:
    """Returns the names of the columns of a table, or `None` for anything else."""
    if isinstance(table, Mapping):
        return list(table)
    # Tables of pyarrow have other `columns`.
    names = getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None else list(names)


def join_rows(
    left: Any, right: Any, pairs: Sequence[tuple[int, int]], scores: Sequence[float]
) -> Any:
    """Joins pairs of rows side by side.

    Args:
        left: A table.
        right: Another one of the same type.
        pairs: Rows of both tables.
        scores: Scores of the pairs.

    Returns:
        A table of the same type with all columns of both tables and `score`, or `score_2` if there
        is such a column. A right column whose name is taken ends in `_right`.
    """
    joined = take_rows(left, [row for row, _ in pairs])
    right_rows = take_rows(right, [row for _, row in pairs])
    taken = {*(names_of(left) or ()), "score"}
    for name in names_of(right) or ():
        new_name = name
        while new_name in taken:
            new_name += "_right"
        taken.add(new_name)
        joined = with_column(joined, new_name, right_rows[name])
    return with_new_column(joined, "score", list(scores))
