"""Columns that change together: people who move have another street, city and ZIP code."""

from __future__ import annotations

import numpy as np

from tf_charagram.search._pairs.flat_arrays import Array, Flags, Ids
from tf_charagram.search.linkage._fellegi_sunter.following import MIN_LEVEL

# Of the matches in which the most frequent of some columns changes, so many change with each
# further one, before pairs are seen.
_TOGETHER = 0.3
# They are the same people if they agree in so many columns that identify.
_MIN_TOLD = 2
# Only so many columns are told to change together.
_MAX_CHANGING = 10


def before_pairs(num_columns: int, different: float) -> Array:
    """Computes the rise of the log likelihood of matches for each set of columns that change.

    Args:
        num_columns: Number of columns that may change.
        different: Share of the matches that differ in each of them, before any pair is seen.

    Returns:
        The rise of each set, as `sets_that_differ` numbers them, and 0 for none, `(num_sets + 1,)`.
    """
    num_apart = _columns_of_sets(min(num_columns, _MAX_CHANGING)).sum(axis=1)
    rises = np.log(_TOGETHER / different) * np.maximum(num_apart - 1, 0)
    return np.append(rises, 0)


def sets_that_differ(ratios: Array, is_steady: Flags, is_identifying: Flags) -> Ids:
    """Numbers the sets of columns that differ, of those that may change.

    Args:
        ratios: Log likelihood ratios of match and chance, `(num_pairs, num_columns)`.
        is_steady: Columns in which matches agree, `(num_columns,)`.
        is_identifying: Columns that do not change, `(num_columns,)`.

    Returns:
        Bit `i` for the `i`-th column that may change; -1 for pairs that do not agree in what
        identifies, `(num_pairs,)`.
    """
    changing = np.flatnonzero(~is_identifying)[:_MAX_CHANGING]
    steady = ratios[:, is_steady]
    is_told = (steady >= 0).all(axis=1) & ((steady > 0).sum(axis=1) >= _MIN_TOLD)
    sets = (ratios[:, changing] < 0) @ (1 << np.arange(len(changing)))
    return np.where(is_told, sets, -1)


def count_changes(sets: Ids, weights: Array, num_sets: int) -> Array:
    """Learns which columns change together; returns what `before_pairs` does.

    Args:
        sets: The result of `sets_that_differ`, `(num_pairs,)`.
        weights: Numbers of matches, `(num_pairs,)`.
        num_sets: Number of sets, a power of two.
    """
    is_told = sets >= 0
    found = np.bincount(sets[is_told], weights[is_told], num_sets)
    num_found = max(found.sum(), 1.0)
    changes = _columns_of_sets(num_sets.bit_length() - 1)
    rates = found @ changes / num_found
    alone = np.prod(np.where(changes, rates, 1 - rates), axis=1)
    # One pair tells nothing.
    share = np.maximum(found - 1, 0) / num_found
    # Half of the counts, and half of independent changes.
    together = np.log1p(share / np.maximum(alone, MIN_LEVEL**2)) - np.log(2)
    rises = np.where(changes.sum(axis=1) > 1, np.maximum(together, 0), 0)
    return np.append(rises, 0)


def _columns_of_sets(num_columns: int) -> Flags:
    """Returns the columns of each set of columns, `(num_sets, num_columns)`."""
    bits = np.arange(2**num_columns)[:, np.newaxis] >> np.arange(num_columns)
    return (bits & 1).astype(bool)
