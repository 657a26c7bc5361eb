"""Rivals: pairs of rows that have much in common, but are different things.

In a table without copies no two rows match, and a row hardly has two partners in the other table.
Pairs of the same table, and pairs that another pair outdoes, show what different things look like
that have much in common: relatives, other sizes of a shirt, other songs of an album, the same
flight on another day. Rows whose partner is missing look like this, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Array, Flags, Ids, paired
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.identity import is_amount
from tf_charagram.search.linkage._columns.shared_words import differ_by_typos, pairs_that
from tf_charagram.search.linkage._fellegi_sunter.beside_copies import (
    fit_beside_copies,
    look_like_copies,
)
from tf_charagram.search.linkage._fellegi_sunter.blocking import candidate_pairs
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    chances,
    compare_columns,
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
# A table has copies if so many of its pairs that look like matches differ by typos only, of those
# without missing values: in made-up tables with copies 18 to 90 %, in others none.
_MAX_TYPOS = 0.05
# Of a few pairs, one is no sign.
_PSEUDO_PAIRS = 20
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
        rows: Rows of each table. Right rows of a part are those that look like left rows: they
            show whether there are copies, but no rivals.
        num_equal: For each table, how many equal rows each row stands for, `(num_rows,)`.
        num_whole: Number of tables, the first ones, of which the rows look like all rows.
    """

    is_own: Flags
    rows: Sequence[Ids]
    num_equal: Sequence[NDArray[np.integer]]
    num_whole: int

    @classmethod
    def of_all(cls, columns: Sequence[Column], num_pairs: int) -> Sample:
        """Returns the sample that has all rows."""
        sizes = [len(ids) for ids in columns[0].tables]
        rows = [np.arange(size) for size in sizes]
        num_equal = [np.ones(size, np.int64) for size in sizes]
        return cls(np.ones(num_pairs, bool), rows, num_equal, len(rows))


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
    own = [agreement.of(is_own) for agreement in agreements]
    is_weak = np.array(
        [column.kind.name == "text" or not column.is_identifying for column in columns]
    )
    tables = _rows_of_tables(columns, sample)
    have_copies = [table.copies(mixture).are_there for table in tables]
    for _ in range(_NUM_ROUNDS):
        log_odds = mixture.log_odds(agreements, any_relation=True)
        outdone = _outdone(pairs, log_odds, have_copies)
        if outdone is None:
            break
        is_outdone = outdone.is_outdone[is_own]
        if not drop_supported(mixture, own, is_outdone, is_weak, num_all_pairs):
            break
    found = [table.copies(mixture) for table in tables]
    inner = _inner_pairs(tables[: sample.num_whole], found)
    have_copies = [copies.are_there for copies in found]
    all_have_copies = all(have_copies[: sample.num_whole])
    if _fit_inner(mixture, inner, own, num_all_pairs, all_have_copies=all_have_copies):
        have_copies = [True, True]
    num_inner = len(mixture.log_rivals)
    for _ in range(_NUM_ROUNDS):
        log_odds = mixture.log_odds(agreements)
        outdone = _outdone(pairs, log_odds, have_copies)
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
    return [copies.are_most for copies in found]


class _Copies(NamedTuple):
    """Copies among the pairs of a table.

    Attributes:
        is_copy: Pairs that differ by typos only, `(num_pairs,)`.
        are_there: Whether the table has copies.
        are_most: Whether most of the pairs that look like matches are copies.
    """

    is_copy: Flags
    are_there: bool
    are_most: bool


class _RowsOfTable(NamedTuple):
    """Rows of a table, and their pairs.

    Attributes:
        columns: The columns of these rows alone.
        pairs: Candidate pairs, `(num_pairs, 2)`.
        agreements: Their agreements, one per column.
        num_equal: How many equal rows each row stands for, `(num_rows,)`.
    """

    columns: Sequence[Column]
    pairs: Ids
    agreements: Sequence[Agreement]
    num_equal: NDArray[np.integer]

    def copies(self, mixture: Mixture) -> _Copies:
        """Finds the copies among the pairs that a fitted mixture takes for matches."""
        is_alike = mixture.log_odds(self.agreements) > 0
        is_copy = _are_copies(mixture, self.columns, self.pairs, self.agreements, is_alike)
        num_equal = _num_equal(mixture, self.columns, self.num_equal)
        num_copies = is_copy.sum() + num_equal
        num_alike = is_alike.sum() + num_equal
        # A missing value may be the one that tells two things apart.
        is_whole = np.all([agreement.levels != ABSENT for agreement in self.agreements], axis=0)
        num_whole = (is_alike & is_whole).sum() + num_equal
        are_there = num_copies > _MAX_TYPOS * (num_whole + _PSEUDO_PAIRS)
        least = max(_MIN_MOSTLY_TYPOS * num_alike, _MIN_OUTDONE)
        return _Copies(is_copy, bool(are_there), bool(num_copies > least))


def _rows_of_tables(columns: Sequence[Column], sample: Sample) -> list[_RowsOfTable]:
    """Compares the rows of a sample within each table."""
    draw = np.random.default_rng(0)
    found = []
    for side, rows in enumerate(sample.rows):
        if len(rows) > _MAX_INNER_ROWS:
            rows = np.sort(draw.choice(rows, _MAX_INNER_ROWS, replace=False))
        inner = [_within(column, column.tables[side][rows]) for column in columns]
        pairs = candidate_pairs(inner)
        agreements = compare_columns(inner, pairs)
        found.append(_RowsOfTable(inner, pairs, agreements, sample.num_equal[side][rows]))
    return found


def _fit_inner(
    mixture: Mixture,
    inner: InnerPairs,
    agreements: Sequence[Agreement],
    num_all_pairs: float,
    *,
    all_have_copies: bool,
) -> bool:
    """Fits rivals to pairs of the same table; returns whether there are copies among these pairs.

    Args:
        mixture: The mixture, which is changed.
        inner: The pairs of the same table.
        agreements: Agreements of candidates of two tables.
        num_all_pairs: Number of pairs of rows of two tables, candidates or not.
        all_have_copies: Whether the typos in each table show that it has copies.
    """
    before = deepcopy(mixture)
    if not all_have_copies:
        fit_inner_rivals(mixture, inner, agreements, num_all_pairs)
        if not look_like_copies(mixture, inner, before.num_matches(num_all_pairs)):
            return False
        vars(mixture).update(vars(before))
    fit_beside_copies(mixture, inner, agreements, num_all_pairs)
    return True


def _inner_pairs(tables: Sequence[_RowsOfTable], copies_of_tables: Sequence[_Copies]) -> InnerPairs:
    """Returns the pairs of rows within each table without copies, or of all if all have copies."""
    are_clean = [not copies.are_there for copies in copies_of_tables]
    found = []
    chance = []
    num_pairs = 0.0
    for table, copies, is_clean in zip(tables, copies_of_tables, are_clean, strict=False):
        if is_clean:
            found.append([agreement.of(~copies.is_copy) for agreement in table.agreements])
        elif not any(are_clean[: len(tables)]):
            found.append(list(table.agreements))
        else:
            continue
        chance.append(chances(table.columns, random_pairs(table.columns)))
        num_rows = len(table.columns[0].left)
        num_pairs += num_rows * (num_rows - 1) / 2
    agreements = [together(parts) for parts in zip(*found, strict=True)]
    of_columns = [np.mean(parts, axis=0) for parts in zip(*chance, strict=True)]
    tells = []
    for column in tables[0].columns:
        is_day = column.may_tell_variants and column.kind.name == "date"
        tells.append(column.is_identifying or is_day)
    may_tell = [column.is_identifying or column.may_tell_variants for column in tables[0].columns]
    return InnerPairs(
        agreements,
        of_columns,
        max(num_pairs, 1.0),
        are_seen=all(are_clean[: len(tables)]),
        tells=np.array(tells if any(tells) else may_tell),
        are_amounts=np.array([is_amount(column.name) for column in tables[0].columns]),
    )


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
    return replace(column.within(ids), known=column.frequencies)


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


def _outdone(pairs: Ids, log_odds: Array, have_copies: Sequence[bool]) -> _Outdone | None:
    """Finds pairs of which a row has a better partner; `None` if both tables have copies.

    Args:
        pairs: Candidate pairs of rows, `(num_pairs, 2)`.
        log_odds: Their log-odds, `(num_pairs,)`.
        have_copies: Whether each table has copies: a better partner may be another copy.
    """
    if all(have_copies):
        return None
    is_outdone = np.zeros(len(pairs), bool)
    log_kept = np.zeros(len(pairs))
    for side in (0, 1):
        if have_copies[1 - side]:
            continue
        rows = pairs[:, side]
        best_of_row = np.full(rows.max(initial=0) + 1, -np.inf)
        np.maximum.at(best_of_row, rows, log_odds)
        least = np.maximum(log_odds + _MARGIN, 0)
        is_outdone |= best_of_row[rows] > least
        bests = np.sort(best_of_row[best_of_row > -np.inf])
        num_kept = np.searchsorted(bests, least, side="right")
        log_kept += np.log(np.maximum(num_kept / max(len(bests), 1), _MIN_KEPT))
    return _Outdone(is_outdone, log_kept)


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
