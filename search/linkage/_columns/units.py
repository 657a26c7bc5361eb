"""Units of numbers: `1.5 kg` and `1500 g` are equal in a column that has both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from tf_charagram.search.linkage._columns.kinds import Kind, same_for_all
from tf_charagram.search.linkage._columns.values import number_of

# Units by dimension, and how many of the first one they are.
_UNITS = (
    {"g": 1, "mg": 1e-3, "kg": 1e3, "t": 1e6, "oz": 28.3495, "lb": 453.592, "lbs": 453.592},
    {"mm": 1, "cm": 10, "m": 1e3, "km": 1e6, "in": 25.4, "inch": 25.4, "ft": 304.8},
    {"ml": 1, "cl": 10, "dl": 100, "l": 1e3},
    {"s": 1, "sec": 1, "min": 60, "h": 3600},
    {"kb": 1, "mb": 1e3, "gb": 1e6, "tb": 1e9},
)
_UNIT = re.compile(r"\d\s*([^\W\d_]+)\.?\s*")
# Cells that have one of the units.
_MIN_SHARE = 0.9


def read_units(kind: Kind, tables: Sequence[Mapping[str, str]]) -> tuple[Kind, str]:
    """Converts numbers to one unit if the column has several units of the same dimension.

    Args:
        kind: Kind of the column.
        tables: Distinct cells of one or two tables, and their values as the kind reads them.

    Returns:
        The kind with its reader, and a note for the user, or an empty text.
    """
    if kind.name != "number":
        return kind, ""
    counts = Counter(_unit_of(cell) for forms in tables for cell in forms)
    for factors in _UNITS:
        known = counts.keys() & factors.keys()
        num_known = sum(counts[unit] for unit in known)
        if len(known) > 1 and num_known >= _MIN_SHARE * counts.total():
            note = f"units are converted ({', '.join(sorted(known))})"
            return kind._replace(reader=same_for_all(partial(_read, factors))), note
    return kind, ""


def _read(factors: Mapping[str, float], cell: str) -> str:
    """Returns a number in the first unit of a dimension, empty without a number."""
    number = number_of(cell)
    if number is None:
        return ""
    # Without errors of rounding.
    return repr(float(f"{number * factors.get(_unit_of(cell), 1):.9g}"))


def _unit_of(cell: str) -> str:
    """Returns the unit at the end of a cell, empty without one."""
    found = _UNIT.search(cell.casefold())
    return found[1] if found and found.end() == len(cell) else ""
