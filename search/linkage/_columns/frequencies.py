"""How frequent the values of a column are: a rare value that two rows share tells more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Array, Ids
from tf_charagram.search.linkage._columns.identity import have_several_words
from tf_charagram.search.linkage._columns.values import are_mostly, has_digit

if TYPE_CHECKING:
    from tf_charagram.search.linkage._columns.columns import Column

# A value of one row of each table counts as if so many other rows had it, at least and at most.
_UNSEEN = (0.02, 0.3)
_UNSEEN_ONE_TABLE = 0.1
# In tables of few rows it counts more.
_PSEUDO_ROWS = 8
# An amount has more rows elsewhere than a name.
_PSEUDO_ROWS_OF_NUMBERS = 30
# Texts with so many numbers are references, and no names.
_MIN_NUMBERED = 0.5


class Frequencies(NamedTuple):
    """How many rows have the values of a column.

    Attributes:
        counts: Number of rows with each value, `(num_values,)`, of each table.
        num_rows: Number of rows with a value, in all tables.
        unseen: Number of other rows that a value of a single row counts for.
        max_share: Largest share of the rows that a value counts for.
    """

    counts: Sequence[NDArray[np.integer | np.floating]]
    num_rows: float
    unseen: float
    max_share: float = 1.0


def row_frequencies(column: Column) -> Frequencies:
    """Counts the rows with each value of a column."""
    num_values = len(column.values)
    counts = [np.bincount(ids[ids >= 0], minlength=num_values) for ids in column.tables]
    max_share = 1.0
    if len(counts) == 1 and column.is_identifying:
        cells = list(dict.fromkeys(column.left_cells))
        if have_several_words(cells) and not are_mostly(has_digit, cells, _MIN_NUMBERED):
            # Rows with the name of a firm are duplicates, so each name counts once.
            max_share /= max(len(column.values), 1)
    num_rows = sum(int(side.sum()) for side in counts)
    return Frequencies(counts, num_rows, _unseen(counts), max_share)


def _unseen(counts: Sequence[Ids]) -> float:
    """Returns the number of other rows that a value of a single row counts for.

    As many rows as Good and Turing expect, in the table with fewer repetitions: in the other one,
    and in a single table, they may be duplicates.
    """
    if len(counts) == 1:
        return _UNSEEN_ONE_TABLE
    expected = []
    for side in counts:
        num_once = (side == 1).sum()
        num_twice = (side == 2).sum()
        expected.append(2 * num_twice / max(num_once, 1))
    return float(np.clip(min(expected), *_UNSEEN))


def log_frequency(column: Column) -> Array:
    """Returns the logarithm of the share of other rows with each value that two rows share.

    The two rows themselves do not count.
    """
    counts, num_rows, unseen, max_share = column.frequencies
    # In one table, both rows of the pair are there.
    num_own = 1 if len(counts) == 2 else 2
    others = sum(np.maximum(side - num_own, 0) for side in counts)
    # Small tables tell little about how many rows elsewhere have the value.
    num_pseudo = _PSEUDO_ROWS_OF_NUMBERS if column.kind.name == "number" else _PSEUDO_ROWS
    unseen += (1 - unseen) * num_pseudo / (num_rows + num_pseudo)
    all_others = others + len(counts) * unseen
    shares = all_others / max(num_rows, 1)
    return np.log(np.minimum(shares, max_share))
