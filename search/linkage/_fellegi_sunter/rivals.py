"""Rivals: pairs of rows of which one has a better partner, so they are different things.

A row hardly has two partners in a table without copies. Pairs that another pair outdoes show what
different things look like that have much in common: relatives, other sizes of a shirt, other songs
of an album. Rows whose partner is missing look like this, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Ids, are_first, paired
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._fellegi_sunter.evidence import EQUAL, Agreement, compare_columns
from tf_charagram.search.linkage._fellegi_sunter.fitting import drop_supported, fit_rivals
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture

# A better pair is better by so much.
_MARGIN = 1.0
# A table has copies if so many of the rows with a partner have two, which are as alike as the
# partners are. In made-up and real tables with copies it is half of the rows, in others a tenth.
_MAX_COPIES = 0.3
_NUM_ROUNDS = 3
# Fewer pairs tell nothing.
_MIN_OUTDONE = 20
_MIN_FREE = 10


class Sample(NamedTuple):
    """The part that candidate pairs are of all candidate pairs.

    Attributes:
        is_own: The pairs to fit to, `(num_pairs,)`: all candidates of both of their rows are there.
        num_equal: For each table, how many equal rows each row stands for, `(num_rows,)`.
    """

    is_own: NDArray[np.bool_]
    num_equal: Sequence[NDArray[np.integer]]


def learn_rivals(
    mixture: Mixture,
    columns: Sequence[Column],
    pairs: NDArray[np.int64],
    agreements: Sequence[Agreement],
    num_all_pairs: float,
    sample: Sample | None = None,
) -> None:
    """Fits the rivals of a mixture to the pairs of two tables that better pairs outdo.

    Args:
        mixture: A fitted mixture, which is changed.
        columns: The columns of two tables.
        pairs: Candidate pairs of rows, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.
        num_all_pairs: Number of pairs of rows, candidates or not, of the rows of the sample.
        sample: The part that these pairs are of all candidate pairs. Default: all.
    """
    is_own: NDArray[np.bool_] | slice = slice(None)
    num_equal: Sequence[NDArray[np.integer]] | None = None
    if sample is not None:
        is_own, num_equal = sample
    own = [agreement.of(is_own) for agreement in agreements]
    is_weak = np.array(
        [column.kind.name == "text" or not column.is_identifying for column in columns]
    )
    for _ in range(_NUM_ROUNDS):
        log_odds = mixture.log_odds(agreements, any_relation=True)
        is_outdone = _outdone(mixture, columns, pairs, log_odds, num_equal)
        if is_outdone is None or not drop_supported(
            mixture, own, is_outdone[is_own], is_weak, num_all_pairs
        ):
            break
    for _ in range(_NUM_ROUNDS):
        log_odds = mixture.log_odds(agreements)
        is_outdone = _outdone(mixture, columns, pairs, log_odds, num_equal)
        if is_outdone is None:
            return
        is_outdone = is_outdone[is_own]
        num_free = ((log_odds[is_own] > 0) & ~is_outdone).sum()
        if is_outdone.sum() < _MIN_OUTDONE or num_free < _MIN_FREE:
            return
        # Of the pairs that are no matches, so many are known to be none.
        known = is_outdone.sum() / (len(is_outdone) - num_free)
        fit_rivals(mixture, own, is_outdone, num_all_pairs, max(float(known), 0.05))


def _outdone(
    mixture: Mixture,
    columns: Sequence[Column],
    pairs: NDArray[np.int64],
    log_odds: NDArray[np.float64],
    num_equal: Sequence[NDArray[np.integer]] | None,
) -> NDArray[np.bool_] | None:
    """Finds pairs of which a row has a better partner, `(num_pairs,)`; `None` if it has copies."""
    is_outdone = np.zeros(len(pairs), bool)
    num_sides = 0
    for side in (0, 1):
        rows = pairs[:, side]
        partners = pairs[:, 1 - side]
        best, second = _best_two(rows, log_odds)
        is_copy = _have_copies(mixture, columns, side, partners, log_odds, best, second)
        has_partner = log_odds[best] > 0
        num_rows: NDArray[np.integer] = np.ones(len(best), np.int64)
        if num_equal is not None:
            is_copy |= has_partner & (num_equal[1 - side][partners[best]] > 1)
            num_rows = num_equal[side][rows[best]]
        if num_rows[is_copy].sum() > _MAX_COPIES * num_rows[has_partner].sum():
            continue
        num_sides += 1
        best_of_row = np.full(rows.max(initial=0) + 1, -np.inf)
        best_of_row[rows[best]] = np.where(is_copy, -np.inf, log_odds[best])
        is_outdone |= best_of_row[rows] > np.maximum(log_odds + _MARGIN, 0)
    return is_outdone if num_sides else None


def _best_two(rows: Ids, log_odds: NDArray[np.float64]) -> tuple[Ids, Ids]:
    """Returns the best pair of each row, and the next one, or the best one again."""
    order = np.lexsort((-log_odds, rows))
    is_best = are_first(rows[order])
    best = order[is_best]
    after = np.append(order[1:], order[-1:])[is_best]
    return best, np.where(rows[after] == rows[best], after, best)


def _have_copies(
    mixture: Mixture,
    columns: Sequence[Column],
    side: int,
    partners: Ids,
    log_odds: NDArray[np.float64],
    best: Ids,
    second: Ids,
) -> NDArray[np.bool_]:
    """Tells rows whose two best partners are as alike as the row and its partner.

    Args:
        mixture: A fitted mixture.
        columns: The columns of two tables.
        side: 0 for left rows, 1 for right rows.
        partners: Rows of the other side, `(num_pairs,)`.
        log_odds: Log-odds of the pairs.
        best: The best pair of each row, `(num_rows,)`.
        second: The next one.
    """
    has_two = (second != best) & (log_odds[second] > 0)
    alike_pairs = paired(partners[best], partners[second])[has_two]
    inner = []
    for column in columns:
        ids = column.tables[1 - side]
        inner.append(replace(column, left=ids, right=ids))
    agreements = compare_columns(inner, alike_pairs)
    is_alike = mixture.log_odds(agreements) > log_odds[best][has_two] - _MARGIN
    is_copy = np.zeros(len(best), bool)
    is_copy[has_two] = is_alike | _differ_by_typos(columns, agreements)
    return is_copy


def _differ_by_typos(
    columns: Sequence[Column], agreements: Sequence[Agreement]
) -> NDArray[np.bool_]:
    """Tells pairs whose values are all equal, missing or, but for texts, near, `(num_pairs,)`."""
    differ = np.zeros(len(agreements[0].levels), bool)
    for column, agreement in zip(columns, agreements, strict=True):
        # Texts that are near may be other songs or sizes.
        num_near = 0 if column.kind.name == "text" else len(column.kind.cutoffs)
        differ |= agreement.levels > EQUAL + num_near
    return ~differ
