"""Arranges our numbers in the rows and columns of a paper's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from research.analysis.table import Cell, Table
from research.paper_numbers import CSE_SETS, MEAN
from research.paper_tables import paper_table
from research.papers.entry import Made
from research.readers.twitter import NAME as TWITTER
from tf_charagram.data.readers.sts import SICK_TEST

Numbers = Mapping[str, Mapping[str, Cell]]


def paper_numbers(number: str) -> Table:
    """Returns a table of a paper as printed; see `paper_table`."""
    return Table(number, *paper_table(number))


def in_shape_of(paper: Table, ours: Mapping[str, Mapping[str, Cell]], title: str) -> Table:
    """Arranges our numbers in the rows and columns of a table of the paper.

    Args:
        paper: The paper's table.
        ours: Column -> row -> our number; other cells stay empty.
        title: Title of the result.
    """
    rows = tuple(
        (row[0], *(ours.get(column, {}).get(str(row[0])) for column in paper.columns[1:]))
        for row in paper.rows
    )
    return Table(title, paper.columns, rows)


def beside(
    number: str, ours: Numbers, title: str, claims: Mapping[str, bool | None] | None = None
) -> Made:
    """Arranges our numbers in the shape of a table of a paper.

    Args:
        number: Name of the file with the paper's numbers.
        ours: Column -> row -> number.
        title: Title of the result.
        claims: As `Result.claims`.
    """
    paper = paper_numbers(number)
    return Made(in_shape_of(paper, ours, title), paper, claims or {})


def sts_beside(
    number: str, scores: Mapping[str, Mapping[str, float | None]], title: str
) -> tuple[Table, Table]:
    """Arranges scores in the shape of a table over sets of STS, with means over the sets we have.

    If sets are missing here, the paper's mean is recomputed over the same sets; the label says how
    many.

    Args:
        number: Name of the file with the paper's numbers.
        scores: Column -> set -> score.
        title: Title of the result.

    Returns:
        Our table and the paper's, with equal rows and columns; rows of missing sets are left out.
    """
    paper = paper_numbers(number)
    here = {
        name for column in scores.values() for name, value in column.items() if value is not None
    }
    sets = [str(row[0]) for row in paper.rows if is_set(str(row[0]))]
    ours_rows, paper_rows = [], []
    for label, *theirs in paper.rows:
        label = str(label)
        members = _members(label, sets)
        used = [name for name in members if name in here]
        if not used:
            continue
        is_whole = len(used) == len(members)
        shown = label if is_whole else f"{label}, {len(used)} of {len(members)} sets"
        ours_rows.append(
            (shown, *(_mean(scores.get(column, {}), used) for column in paper.columns[1:]))
        )
        if is_whole:
            paper_rows.append((shown, *theirs))
        else:
            columns = [paper.column(column) for column in paper.columns[1:]]
            paper_rows.append((shown, *(_mean(column, used) for column in columns)))
    return (
        Table(title, paper.columns, tuple(ours_rows)),
        Table(number, paper.columns, tuple(paper_rows)),
    )


def years_beside(
    number: str, scores: Mapping[str, Mapping[str, float | None]], title: str
) -> tuple[Table, Table]:
    """Arranges means by year in the shape of a table without single sets.

    As `sts_beside`, but the paper's means are over all sets of a year, even if some are missing
    here. STS 2016, which these tables lack, and the mean over the sets of 2012 to 2015 come last.
    """
    paper = paper_numbers(number)
    years = [str(row[0]) for row in paper.rows if row[0] != MEAN]
    members = {year: [name for name in CSE_SETS if name.startswith(f"{year}.")] for year in years}
    here = {MEAN: [name for names in members.values() for name in names]}
    rows = []
    for label in (*years, "STS2016", MEAN):
        cells = []
        for column in paper.columns[1:]:
            known = scores.get(column, {})
            if label == "STS2016":
                cells.append(known.get(label))
            else:
                names = [name for name in (members | here)[label] if known.get(name) is not None]
                cells.append(_mean(known, names) if names else None)
        if any(cell is not None for cell in cells):
            rows.append((label, *cells))
    note = "Means over the sets of 2012 to 2015 that are here; the paper's are over all of a year."
    return Table(title, paper.columns, tuple(rows), (note,)), paper


def last(table: Table, column: str) -> float | None:
    """Returns the last number of a column, the mean over all sets; `None` without rows."""
    value = table.rows[-1][table.columns.index(column)] if table.rows else None
    return value if isinstance(value, float | int) else None


def with_columns(table: Table, paper: Table) -> Table:
    """Returns a table with the columns of the paper's; columns without a run stay empty."""
    columns = {name: table.column(name) for name in paper.columns if name in table.columns}
    labels = [str(row[0]) for row in table.rows]
    rows = tuple(
        (label, *(columns.get(name, {}).get(label) for name in paper.columns[1:]))
        for label in labels
    )
    return Table(table.title, paper.columns, rows, table.notes)


def with_paper(table: Table, number: str) -> Table:
    """Returns a table of words with the paper's words in additional columns."""
    paper = paper_numbers(number)
    theirs = {str(row[0]): row[1:] for row in paper.rows}
    empty = (None,) * (len(paper.columns) - 1)
    columns = (*table.columns, *(f"{name}, paper" for name in paper.columns[1:]))
    rows = tuple((*row, *theirs.get(str(row[0]), empty)) for row in table.rows)
    return Table(table.title, columns, rows, table.notes)


def is_set(label: str) -> bool:
    """Returns whether a row is a single set, not a mean."""
    return "." in label or label in (SICK_TEST, TWITTER)


def _members(label: str, sets: Sequence[str]) -> list[str]:
    """Returns the sets of a row."""
    if label in sets:
        return [label]
    if label == MEAN:
        return list(sets)
    return [name for name in sets if name.startswith(f"{label}.")]


def _mean(scores: Mapping[str, Cell], names: Sequence[str]) -> float | None:
    values = [scores.get(name) for name in names]
    if any(not isinstance(value, float | int) for value in values):
        return None
    return round(float(np.mean(values)), 2)  # type: ignore[arg-type]
