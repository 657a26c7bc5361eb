"""Evidence of columns that follow from others, such as the state of a town."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tf_charagram.search._pairs.flat_arrays import Array, Flags
from tf_charagram.search.linkage._fellegi_sunter.evidence import ABSENT, EQUAL, Agreement

#: No level is impossible.
MIN_LEVEL = 1e-6
# If fewer rows with equal values in one column are equal or nearly so in another, they may match.
_MIN_EXPLAINED = 0.1
# A level is a difference, too, if so many rows are as near as this that are equal in the column
# that this one follows from: names that begin with the same town.
_MAX_SIBLINGS = 0.1


class Hierarchy(NamedTuple):
    """Columns that follow from others.

    Attributes:
        parents: Number of the column that each column follows from, -1 if from none.
        given: Share of each level among random pairs, for each level of the column it follows from,
            `(num_levels_there, num_levels)`, one per column.
        both: Pairs that do not match and have equal values in both columns, for each such pair that
            the frequencies of this column lead to expect, 0 if not known, one per column.
    """

    parents: list[int]
    given: list[Array]
    both: list[float]


def roots_of(parents: Sequence[int]) -> list[int]:
    """Returns the column that each column and those above it follow from."""
    roots = []
    for column in range(len(parents)):
        while parents[column] >= 0:
            column = parents[column]
        roots.append(column)
    return roots


def are_of_siblings(shares: Array) -> Flags:
    """Tells levels that are differences, as so many siblings are as near as this, `(num_levels,)`.

    Args:
        shares: Share of each level among siblings, such as shops of a town, `(num_levels,)`.
    """
    are_differences: Flags = np.cumsum(shares) > _MAX_SIBLINGS
    are_differences[: EQUAL + 1] = False
    return are_differences


def log_explained(
    chance: Array, given: Array, both: float, agreement: Agreement, above: Agreement
) -> Array:
    """Returns the log ratio of levels of random pairs with and without those of another column.

    Args:
        chance: Share of each level among random pairs.
        given: The same for each level of the other column, `(num_levels_there, num_levels)`.
        both: Pairs that do not match and are equal in both columns, for each that frequencies lead
            to expect; 0 if not known.
        agreement: How pairs agree.
        above: How they agree in the other column.
    """
    explained = np.log(np.maximum(given / np.maximum(chance, MIN_LEVEL), 1))
    # Other values are as good a sign of another thing as anywhere.
    explained[:, [ABSENT, EQUAL, -1]] = 0
    found: Array = explained[above.levels, agreement.levels]
    # Rare values are more probable in the same way as among matches.
    shares = (given[:, EQUAL] - chance[EQUAL]) / (1 - chance[EQUAL])
    num_near = (given - chance)[:, [EQUAL, EQUAL + 1]].sum(axis=1)
    follows = (shares > 0) & (num_near > _MIN_EXPLAINED)
    is_equal = (agreement.levels == EQUAL) & follows[above.levels]
    share = shares[above.levels[is_equal]]
    rarity = -agreement.log_frequencies[is_equal]
    found[is_equal] = np.logaddexp(np.log(share) + rarity, np.log1p(-share))
    if both > 0:
        # Pairs of a rare gene are as rare as these of the gene and its family.
        is_both = (agreement.levels == EQUAL) & (above.levels == EQUAL)
        log_both = np.log(both) - above.log_frequencies[is_both]
        # Both values are no more frequent than each of them.
        most = -agreement.log_frequencies[is_both]
        found[is_both] = np.maximum(found[is_both], np.minimum(log_both, most))
    return found
