"""Tells copies that changed from siblings: siblings have copies of their own.

Where a third of the rows are copies, a third of the members of a household are in the table twice,
so many pairs of them are, too. A firm has one representative until it has another one: then none
of its rows has a copy with the other name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from tf_charagram.search._pairs.flat_arrays import Flags, Ids
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._fellegi_sunter.evidence import EQUAL, Agreement
from tf_charagram.search.linkage._fellegi_sunter.fitting import MIN_MOSTLY
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture

# Pairs whose rows both have a copy, and pairs of which a row has, of those that are expected of
# siblings: of 30 kinds of tables, those that differ in columns that change had hardly any of the
# first, and siblings at least half of them.
_MAX_BOTH = 0.2
_MAX_ANY = 0.75
# Fewer expected pairs tell nothing. From so many on, the first share tells enough: where most rows
# have several copies, one row of most pairs has one, whatever they are.
_MIN_EXPECTED = 5
_MANY_EXPECTED = 100
# Log-odds of pairs that are looked at, without the columns in which they differ.
_MIN_LOG_ODDS = 3.0


def changing_columns(
    columns: Sequence[Column], mixture: Mixture, pairs: Ids, agreements: Sequence[Agreement]
) -> Flags:
    """Finds columns that seem to identify things of a table, but change.

    Args:
        columns: The columns.
        mixture: A fitted mixture.
        pairs: Candidate pairs, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.

    Returns:
        Whether each column does, `(num_columns,)`.
    """
    are_guesses = np.array([column.is_identifying and column.is_guess for column in columns])
    # Where siblings share a town and all that follows from it, those that look most alike are of
    # towns with few rows, so they have few copies.
    for number, parent in enumerate(mixture.parents):
        if parent >= 0:
            are_guesses[[number, parent]] = False
    changing = np.zeros(len(columns), bool)
    if not (are_guesses.any() and len(mixture.shared)):
        return changing
    ratios = mixture.column_evidence(agreements)
    classes = mixture.log_classes(ratios, mixture.lifts_apart(agreements))
    # Without the class of random pairs.
    class_of = classes[:, :-1].argmax(axis=1)
    class_of[mixture.log_odds(agreements, any_relation=True) <= 0] = -1
    for number, shared in enumerate(mixture.shared, start=1):
        is_apart = shared < MIN_MOSTLY
        apart = np.flatnonzero(is_apart & are_guesses).tolist()
        # Rows with copies have more frequent values, so they are rare among pairs barely alike.
        is_sure = ratios[:, ~is_apart].sum(axis=1) + mixture.log_priors[0] > _MIN_LOG_ODDS
        found = np.zeros(2)
        expected = np.zeros(2)
        for column in apart:
            levels = agreements[column].levels
            is_copy = (class_of == 0) & ((levels == EQUAL) | (levels == EQUAL + 1))
            has_copy, share = rows_with_copies(columns[column], pairs[is_copy])
            differs = levels == len(mixture.match[column]) - 1
            siblings = has_copy[pairs[(class_of == number) & is_sure & differs]]
            found += siblings.all(axis=1).sum(), siblings.any(axis=1).sum()
            expected += len(siblings) * np.array([share**2, 1 - (1 - share) ** 2])
        have_no_copies = expected[0] >= _MIN_EXPECTED and found[0] <= _MAX_BOTH * expected[0]
        have_some = expected[0] < _MANY_EXPECTED and found[1] > _MAX_ANY * expected[1]
        changing[apart] |= have_no_copies and not have_some
    # Something identifies things, or all dates and numbers might tell variants.
    are_values = [column.is_identifying * len(column.values) for column in columns]
    changing[np.argmax(are_values)] &= any(compress(are_values, ~changing))
    return changing


def rows_with_copies(column: Column, copies: Ids) -> tuple[Flags, float]:
    """Finds the rows of a table that have a copy, `(num_rows,)`, and their share.

    Args:
        column: A column; rows without a value do not count.
        copies: Pairs of copies, `(num_pairs, 2)`.
    """
    has_copy = np.zeros(len(column.left), bool)
    has_copy[copies] = True
    # A column may be left out.
    num_present = max((column.left >= 0).sum(), 1)
    return has_copy, has_copy.sum() / num_present
