"""Rivals: pairs of rows that have much in common, but are different things.

In a table without copies no two rows match, and a row hardly has two partners in the other table.
Pairs of the same table, and pairs that another pair outdoes, show what different things look like
that have much in common: relatives, other sizes of a shirt, other songs of an album, the same
flight on another day. Rows whose partner is missing look like this, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Array, Flags, Ids, are_first, paired
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.shared_words import differ_by_typos, pairs_that
from tf_charagram.search.linkage._fellegi_sunter.blocking import candidate_pairs
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    chances,
    compare_columns,
    frequencies,
    random_pairs,
    together,
)
from tf_charagram.search.linkage._fellegi_sunter.fitting import drop_supported
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.rival_classes import (
    InnerPairs,
    fit_inner_rivals,
    fit_outdone_rivals,
)

# A better pair is better by so much.
_MARGIN = 1.0
# A table has copies if so many of the rows with a partner have two, which are as alike as the
# partners are. In made-up and real tables with copies it is half of the rows, in others a tenth.
_MAX_COPIES = 0.3
# A table has copies, too, if so many of its pairs that look like matches differ by typos only.
_MAX_TYPOS = 0.05
# Of so few rows, some are equal by chance.
_MAX_EQUAL = 0.01
# If most of them do, two alike rows are more probably copies than rivals.
_MIN_MOSTLY_TYPOS = 0.5
# A column in which copies are less often equal than half of the matches tells things apart, such as
# the vintage of a wine, even if its values are near. At least and at most so many copies are equal.
_EQUAL_OF_MATCHES = 0.5
_MIN_EQUAL = (0.05, 1 / 3)
# Rows of each table whose pairs within the table are looked at.
_MAX_INNER_ROWS = 20_000
# Rows with better partners are at most all but so few.
_MIN_KEPT = 0.02
_NUM_ROUNDS = 3
# Fewer pairs tell nothing.
_MIN_OUTDONE = 20
_MIN_FREE = 10


class Sample(NamedTuple):
    """The part that candidate pairs are of all candidate pairs.

    Attributes:
        is_own: The pairs to fit to, `(num_pairs,)`: all candidates of both of their rows are there.
        rows: Rows of the left table, or of both, that look like all rows of it. Right rows of a
            part are those that look like left rows, which are not compared.
        num_equal: For each table, how many equal rows each row stands for, `(num_rows,)`.
    """

    is_own: Flags
    rows: Sequence[Ids]
    num_equal: Sequence[NDArray[np.integer]]

    @classmethod
    def of_all(cls, columns: Sequence[Column], num_pairs: int) -> Sample:
        """Returns the sample that has all rows."""
        sizes = [len(ids) for ids in columns[0].tables]
        rows = [np.arange(size) for size in sizes]
        return cls(np.ones(num_pairs, bool), rows, [np.ones(size, np.int64) for size in sizes])


class _Outdone(NamedTuple):
    """Pairs of which a row has a better partner.

    Attributes:
        is_outdone: Whether a pair is one, `(num_pairs,)`.
        log_kept: Logarithm of the probability that a pair with such log-odds is not outdone, if it
            does not match, `(num_pairs,)`: the better it is, the more probable.
    """

    is_outdone: Flags
    log_kept: Array


def learn_rivals(
    mixture: Mixture,
    columns: Sequence[Column],
    pairs: Ids,
    agreements: Sequence[Agreement],
    num_all_pairs: float,
    sample: Sample,
) -> Sequence[bool]:
    """Fits the rivals of a mixture to pairs of each table, and to pairs that better pairs outdo.

    Args:
        mixture: A fitted mixture, which is changed.
        columns: The columns of two tables.
        pairs: Candidate pairs of rows, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.
        num_all_pairs: Number of pairs of rows, candidates or not, of the rows of the sample.
        sample: The part that these pairs are of all candidate pairs.

    Returns:
        Whether most of the alike rows of each table are copies.
    """
    is_own = sample.is_own
    num_equal = sample.num_equal
    own = [agreement.of(is_own) for agreement in agreements]
    is_weak = np.array(
        [column.kind.name == "text" or not column.is_identifying for column in columns]
    )
    for _ in range(_NUM_ROUNDS):
        log_odds = mixture.log_odds(agreements, any_relation=True)
        outdone = _outdone(mixture, columns, pairs, log_odds, num_equal)
        if outdone is None:
            break
        is_outdone = outdone.is_outdone[is_own]
        if not drop_supported(mixture, own, is_outdone, is_weak, num_all_pairs):
            break
    inner, are_mostly_copies = _inner_pairs(mixture, columns, sample)
    if inner is not None:
        fit_inner_rivals(mixture, inner, own, num_all_pairs)
    num_inner = len(mixture.log_rivals)
    for _ in range(_NUM_ROUNDS):
        log_odds = mixture.log_odds(agreements)
        outdone = _outdone(mixture, columns, pairs, log_odds, num_equal, are_mostly_copies)
        if outdone is None:
            break
        is_outdone = outdone.is_outdone[is_own]
        log_kept = outdone.log_kept[is_own]
        num_free = ((log_odds[is_own] > 0) & ~is_outdone).sum()
        if is_outdone.sum() < _MIN_OUTDONE or num_free < _MIN_FREE:
            break
        # Of the pairs that are no matches, so many are known to be none.
        known = float(is_outdone.sum() / (len(is_outdone) - num_free))
        fit_outdone_rivals(mixture, own, is_outdone, log_kept, num_all_pairs, known, num_inner)
    return are_mostly_copies


def _inner_pairs(
    mixture: Mixture, columns: Sequence[Column], sample: Sample
) -> tuple[InnerPairs | None, list[bool]]:
    """Compares rows within each table that has no copies; `None` if both have.

    Args:
        mixture: A fitted mixture.
        columns: The columns of two tables.
        sample: The rows that are compared.

    Returns:
        The pairs, and whether most of the pairs of each table that look like matches are copies.
    """
    draw = np.random.default_rng(0)
    found = []
    chance = []
    are_mostly_copies = [False, False]
    num_pairs = 0.0
    for side, rows in enumerate(sample.rows):
        if len(rows) > _MAX_INNER_ROWS:
            rows = np.sort(draw.choice(rows, _MAX_INNER_ROWS, replace=False))
        inner = [_within(column, column.tables[side][rows]) for column in columns]
        inner_pairs = candidate_pairs(inner)
        agreements = compare_columns(inner, inner_pairs)
        is_alike = mixture.log_odds(agreements) > 0
        is_copy = _are_copies(mixture, inner, inner_pairs, agreements, is_alike)
        num_equal = _num_equal(mixture, inner, sample.num_equal[side][rows])
        num_copies = is_copy.sum() + num_equal
        num_alike = is_alike.sum() + num_equal
        least = max(_MIN_MOSTLY_TYPOS * num_alike, _MIN_OUTDONE)
        are_mostly_copies[side] = bool(num_copies > least)
        if num_copies <= _MAX_TYPOS * num_alike:
            found.append([agreement.of(~is_copy) for agreement in agreements])
            samples = random_pairs(inner)
            chance.append(chances(inner, samples))
            num_pairs += len(rows) * (len(rows) - 1) / 2
    if not found:
        return None, are_mostly_copies
    agreements = [together(parts) for parts in zip(*found, strict=True)]
    of_columns = [np.mean(parts, axis=0) for parts in zip(*chance, strict=True)]
    are_seen = len(found) == len(sample.rows)
    return InnerPairs(agreements, of_columns, num_pairs, are_seen), are_mostly_copies


def _num_equal(mixture: Mixture, columns: Sequence[Column], num_rows: NDArray[np.integer]) -> int:
    """Returns the number of other rows of a table that equal one of some rows, 0 for a few.

    Args:
        mixture: A fitted mixture.
        columns: The columns of the rows, of which equal rows are one row.
        num_rows: How many rows each stands for.
    """
    repeated = np.flatnonzero(num_rows > 1)
    # They may have too few values to look like matches.
    log_odds = mixture.log_odds(compare_columns(columns, paired(repeated, repeated)))
    num_others = num_rows[repeated[log_odds > 0]] - 1
    num_equal = int(num_others.sum())
    return num_equal if num_equal > _MAX_EQUAL * len(num_rows) else 0


def _within(column: Column, ids: Ids) -> Column:
    """Returns a column of rows of one of the tables, with the frequencies of both."""
    return replace(column.within(ids), known=frequencies(column))


def _are_copies(
    mixture: Mixture,
    columns: Sequence[Column],
    pairs: Ids,
    agreements: Sequence[Agreement],
    is_alike: Flags,
) -> Flags:
    """Tells pairs of a table that differ by typos only, `(num_pairs,)`.

    Args:
        mixture: A fitted mixture.
        columns: The columns of the table.
        pairs: Pairs of its rows, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.
        is_alike: Whether pairs look like matches, `(num_pairs,)`.
    """
    alike = np.flatnonzero(is_alike)
    found = [agreement.of(alike) for agreement in agreements]
    is_near = _are_near(columns, pairs[alike], found)
    # A missing value may be the one that tells two things apart.
    levels = np.stack([agreement.levels for agreement in found])
    is_equal = levels == EQUAL
    is_near &= levels != ABSENT
    of_matches = np.array([shares[EQUAL] for shares in mixture.match])
    least = np.clip(_EQUAL_OF_MATCHES * of_matches, *_MIN_EQUAL)
    is_copy = is_near.all(axis=0)
    for _ in columns:
        shares = is_equal[:, is_copy].sum(axis=1) / max(is_copy.sum(), 1)
        telling = (shares / least).argmin()
        if shares[telling] > least[telling]:
            break
        is_near[telling] = is_equal[telling]
        is_copy = is_near.all(axis=0)
    are_copies = np.zeros(len(pairs), bool)
    are_copies[alike[is_copy]] = True
    return are_copies


def _outdone(
    mixture: Mixture,
    columns: Sequence[Column],
    pairs: Ids,
    log_odds: Array,
    num_equal: Sequence[NDArray[np.integer]],
    are_mostly_copies: Sequence[bool] = (False, False),
) -> _Outdone | None:
    """Finds pairs of which a row has a better partner; `None` if both tables have copies."""
    is_outdone = np.zeros(len(pairs), bool)
    log_kept = np.zeros(len(pairs))
    num_sides = 0
    for side in (0, 1):
        rows = pairs[:, side]
        partners = pairs[:, 1 - side]
        best, second = _best_two(rows, log_odds)
        is_copy = _have_copies(
            mixture, columns, side, partners, log_odds, best, second, are_mostly_copies[1 - side]
        )
        has_partner = log_odds[best] > 0
        is_copy |= has_partner & (num_equal[1 - side][partners[best]] > 1)
        num_rows = num_equal[side][rows[best]]
        if num_rows[is_copy].sum() > _MAX_COPIES * num_rows[has_partner].sum():
            continue
        num_sides += 1
        best_of_row = np.full(rows.max(initial=0) + 1, -np.inf)
        best_of_row[rows[best]] = np.where(is_copy, -np.inf, log_odds[best])
        least = np.maximum(log_odds + _MARGIN, 0)
        is_outdone |= best_of_row[rows] > least
        bests = np.sort(best_of_row[rows[best]])
        num_kept = np.searchsorted(bests, least, side="right")
        log_kept += np.log(np.maximum(num_kept / len(bests), _MIN_KEPT))
    return _Outdone(is_outdone, log_kept) if num_sides else None


def _best_two(rows: Ids, log_odds: Array) -> tuple[Ids, Ids]:
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
    log_odds: Array,
    best: Ids,
    second: Ids,
    are_mostly_copies: bool,
) -> Flags:
    """Tells rows whose two best partners are as alike as the row and its partner.

    Args:
        mixture: A fitted mixture.
        columns: The columns of two tables.
        side: 0 for left rows, 1 for right rows.
        partners: Rows of the other side, `(num_pairs,)`.
        log_odds: Log-odds of the pairs.
        best: The best pair of each row, `(num_rows,)`.
        second: The next one.
        are_mostly_copies: Whether most alike rows of the other side are copies.
    """
    has_two = (second != best) & (log_odds[second] > 0)
    alike_pairs = paired(partners[best], partners[second])[has_two]
    inner = [_within(column, column.tables[1 - side]) for column in columns]
    agreements = compare_columns(inner, alike_pairs)
    least = 0 if are_mostly_copies else log_odds[best][has_two] - _MARGIN
    is_alike = mixture.log_odds(agreements) > least
    is_copy = np.zeros(len(best), bool)
    is_copy[has_two] = is_alike | _are_near(inner, alike_pairs, agreements).all(axis=0)
    return is_copy


def _are_near(columns: Sequence[Column], pairs: Ids, agreements: Sequence[Agreement]) -> Flags:
    """Tells values that are equal, missing or near, `(num_columns, num_pairs)`.

    Args:
        columns: The columns of a table.
        pairs: Pairs of its rows, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.
    """
    is_near = []
    for column, agreement in zip(columns, agreements, strict=True):
        if column.kind.name != "text":
            is_near.append(agreement.levels <= EQUAL + len(column.kind.cutoffs))
            continue
        # Texts that are near may be other songs or sizes.
        has_typos = agreement.levels <= EQUAL
        others = np.flatnonzero(~has_typos)
        left, right = pairs[others].T
        values = paired(column.left[left], column.right[right])
        has_typos[others] = pairs_that(differ_by_typos, column.values, values)
        is_near.append(has_typos)
    return np.stack(is_near)
