"""Values that stand for a missing one: `1900-01-01`, `999`, `0000`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tf_charagram.search.linkage._columns.kinds import Kind

_KINDS = ("date", "number", "code")
# The same digit throughout, or digits in order.
_REPEATED = re.compile(r"(\d)\1+|0|12345+6?7?8?9?0?")
# First days and years of calendars and spreadsheets, and last ones of databases.
_FIRST_DAYS = frozenset(
    "18000101 18991230 18991231 19000101 19010101 19700101 20991231 1800 1900 1970".split()
)
# They are so many times as frequent as any other value, in so many rows at least.
_MIN_RATIO = 5
_MIN_ROWS = 10


def read_placeholder(
    tables: Sequence[Sequence[str]], kind: Kind, forms: Sequence[Mapping[str, str]]
) -> tuple[Kind, str]:
    """Reads a frequent placeholder as a missing value.

    Args:
        tables: Cells of one or two tables, with repetitions.
        kind: Kind of the column.
        forms: Their distinct cells, and the values as the kind reads them.

    Returns:
        The kind with its reader, and a note for the user, or an empty text.
    """
    if kind.name not in _KINDS:
        return kind, ""
    counts: Counter[str] = Counter()
    for cells, form_of in zip(tables, forms, strict=True):
        counts.update(form_of[cell] for cell in cells if cell)
    del counts[""]
    (value, count), (_, others) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    if not _may_be_none(value) or count < max(_MIN_ROWS, _MIN_RATIO * others):
        return kind, ""
    read_cells = kind.reader

    def reader(cells: Sequence[str]) -> Callable[[str], str]:
        read = read_cells(cells)

        def read_value(cell: str) -> str:
            form = read(cell)
            return "" if form == value else form

        return read_value

    [cell, *_] = [cell for form_of in forms for cell, form in form_of.items() if form == value]
    return kind._replace(reader=reader), f"`{cell}` is read as no value, in {count} rows"


def _may_be_none(value: str) -> bool:
    digits = value.removesuffix(".0")
    return digits in _FIRST_DAYS or _REPEATED.fullmatch(digits) is not None
