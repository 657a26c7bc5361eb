"""Finds the pairs of rows that are worth comparing column by column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from scipy import sparse

from tf_charagram.search._pairs.flat_arrays import (
    NO_PAIRS,
    Ids,
    distinct_integers,
    keys_of_pairs,
    lengths_of,
    ones_of,
    packed_integers,
    paired,
    pairs_of_keys,
    runs_of,
    stable_order,
)
from tf_charagram.search._pairs.rare_keys import nearest_pairs, rare_keys
from tf_charagram.search.linkage._columns.columns import MISSING, Column
from tf_charagram.search.linkage._columns.names import other_forms
from tf_charagram.search.linkage._columns.ngrams import trigram_tfidf
from tf_charagram.text._algorithm.arguments import distinct
from tf_charagram.text._algorithm.arrays import splits_of
from tf_charagram.text._algorithm.batches import in_threads

# Candidates per row, and of all rows of large tables together: of 40,000 rows of name, city and
# date, F1 is 99.6 with 40 and with 20. With three columns and many errors it is 0.3 higher with 40.
_MAX_CANDIDATES = 40
_MIN_CANDIDATES = 20
_ALL_CANDIDATES = 400_000
# Rows that are found by the rare keys of a row, with repetitions, and by those of all rows.
_MAX_POSTINGS = 5000
_MIN_POSTINGS = 2000
_ALL_POSTINGS = 80_000_000
# In large tables with so many columns that tell something, rows that match share ends of values of
# two columns, which few other rows have. So few candidates are enough. In tables with more columns
# of any kind, more candidates are neighbours that are joined: F1 of made-up teams is 56 with 10,
# and 29 with 20.
_MIN_COLUMNS = 3
_MAX_SMALL = 30_000
_FEW_CANDIDATES = 10
# Such columns have short values, and tell so much, in nats: 150 equally frequent values do.
_SHORT_KINDS = ("code", "date", "name")
_MIN_TOLD = 5.0
# Letters at both ends of a value, if it is short and if it is longer: a multiple of this. An edit
# leaves one of both as it is, and most values that differ in length by an edit have as many.
_SHORT_END = 3
_END = 4
# Rows that share a key of two ends at most.
_MAX_SHARED = 30
# Two ends that more rows have count only if these are of one thing: so many times as many rows as
# by chance.
_MIN_RATIO = 3
# Left rows whose candidates are in memory at the same time.
_BATCH = 2000


def candidate_pairs(columns: Sequence[Column], k: int | None = None, first: int = 0) -> Ids:
    """Finds the k most similar right rows of each left row.

    Two rows are similar if they share rare values and rare trigrams of values, in the same column.

    Args:
        columns: The columns.
        k: Candidates per left row. Default: 40, in large tables 10 or 20.
        first: With one table, rows from this one on are looked up.

    Returns:
        Rows of both tables, `(num_pairs, 2)`, sorted. With one table, each pair once, and the left
        row is the smaller one.
    """
    num_left = len(columns[0].left)
    num_rows = num_left - first
    max_postings = _share(_ALL_POSTINGS, num_rows, _MIN_POSTINGS, _MAX_POSTINGS)
    num_candidates = _share(_ALL_CANDIDATES, num_rows, _MIN_CANDIDATES, _MAX_CANDIDATES)
    telling = [column for column in columns if column.told >= _MIN_TOLD]
    num_short = sum(column.kind.name in _SHORT_KINDS for column in telling)
    is_large = num_rows > _MAX_SMALL
    by_ends = is_large and num_short >= _MIN_COLUMNS
    if by_ends or (is_large and len(columns) > _MIN_COLUMNS):
        num_candidates = _FEW_CANDIDATES
    keys = _keys_of_ends(telling) if by_ends else _keys(columns)
    k = k or num_candidates
    if columns[0].is_one_table:
        pairs = _pairs_in_one_table(columns, keys, k, first, max_postings)
    else:
        pairs = _nearest(keys[:num_left], keys[num_left:], k, max_postings)
    num_right = len(columns[0].right)
    keys = distinct_integers(keys_of_pairs(pairs, num_right))
    return pairs_of_keys(keys, num_right)


def _pairs_in_one_table(
    columns: Sequence[Column], keys: sparse.csr_array, k: int, first: int, max_postings: int
) -> Ids:
    """Finds the candidates in one table, the smaller row first.

    A copy of a row has this row as its only candidate: copies would crowd out other rows.
    """
    values = packed_integers([column.left - MISSING for column in columns])
    all_rows = np.arange(len(values))
    _, firsts, numbers = np.unique(values, return_index=True, return_inverse=True)
    first_of = firsts[numbers]
    # Rows without values say nothing.
    has_values = np.any([column.left != MISSING for column in columns], axis=0)
    is_copy = (first_of != all_rows) & has_values & (all_rows >= first)
    copies = paired(first_of, all_rows)[is_copy]
    rows = np.sort(firsts)
    # A row finds itself, too.
    skipped = np.searchsorted(rows, first)
    places = _nearest(keys[rows[skipped:]], keys[rows], k + 1, max_postings)
    places[:, 0] += skipped
    pairs = np.sort(rows[places], axis=1)
    is_other = pairs[:, 0] != pairs[:, 1]
    return np.concatenate([pairs[is_other], copies])


def _nearest(left: sparse.csr_array, right: sparse.csr_array, k: int, max_postings: int) -> Ids:
    """Returns the k most similar right rows of each left row as pairs, `(num_pairs, 2)`."""
    num_left = left.shape[0]
    by_key = right.T.tocsr()

    def pairs_of(start: int) -> Ids:
        batch = rare_keys(left[start : start + _BATCH], lengths_of(by_key.indptr), max_postings)
        keys = nearest_pairs(batch, by_key, k)
        pairs = pairs_of_keys(keys, right.shape[0])
        pairs[:, 0] += start
        return pairs

    found = [NO_PAIRS]
    # SciPy releases the GIL for the products of matrices.
    for _, pairs in in_threads(pairs_of, range(0, num_left, _BATCH)):
        found.append(pairs)
    return np.concatenate(found)


def _share(total: int, num_rows: int, smallest: int, largest: int) -> int:
    """Returns the part of each row, between two limits."""
    return min(max(total // max(num_rows, 1), smallest), largest)


def _keys(columns: Sequence[Column]) -> sparse.csr_array:
    """Returns the weights of the keys of each row, float32 `(num_rows, num_keys)`.

    The keys of a row are the trigrams of its values, and its values as a whole. Left rows come
    first.
    """
    blocks = []
    for column in columns:
        ids = np.concatenate(column.tables)
        num_values = len(column.values)
        num_rows = max(column.counts.sum(), 1)
        # A trigram cannot tell more than the value it is part of.
        weights = sparse.diags_array(
            np.log1p(num_rows / np.maximum(column.counts, 1)), format="csr"
        )
        letters = weights @ trigram_tfidf([_with_forms(value) for value in column.values])
        of_value = sparse.hstack([weights, letters], format="csr")
        has_value = ids >= 0
        splits = splits_of(has_value.astype(np.int64))
        chosen = ones_of(ids[has_value], splits, num_values)
        blocks.append(chosen @ of_value)
    return sparse.csr_array(sparse.hstack(blocks, format="csr"), dtype=np.float32)


def _keys_of_ends(columns: Sequence[Column]) -> sparse.csr_array:
    """Returns the weights of pairs of ends of values, float32 `(num_rows, num_keys)`.

    Each pair is of one value, or of the values of two columns. Left rows come first.
    """
    ends = [_ends(column) for column in columns]
    num_rows = len(ends[0][0])
    both = list(ends)
    for one, other in combinations(ends, 2):
        both.extend(product(one, other))
    num_keys = 0
    rows, keys, weights = [], [], []
    for number, (first, second) in enumerate(both):
        present = np.flatnonzero((first >= 0) & (second >= 0))
        numbers = keys_of_pairs(paired(first, second)[present], second.max(initial=0) + 1)
        order = stable_order(numbers)
        starts, stops = runs_of(numbers[order])
        sizes = stops - starts
        heads = present[order[starts]]
        first_counts = np.bincount(first[present])[first[heads]]
        second_counts = np.bincount(second[present])[second[heads]]
        by_chance = first_counts * second_counts / num_rows
        is_shared = (sizes <= _MAX_SHARED) | (sizes > _MIN_RATIO * by_chance)
        is_shared &= sizes > 1
        shared = sizes[is_shared]
        rows.append(present[order[np.repeat(is_shared, sizes)]])
        # Rows of a large group share a key with their neighbours in the group, which is divided
        # elsewhere by each two columns, or its parts would not be connected.
        places = np.arange(shared.sum()) - np.repeat(splits_of(shared)[:-1], shared)
        is_new = places % (_MAX_SHARED + number % _MAX_SHARED) == 0
        keys.append(num_keys + np.cumsum(is_new) - 1)
        of_key = np.log1p(num_rows / shared)
        weights.append(np.repeat(of_key.astype(np.float32), shared))
        num_keys += is_new.sum()
    places = np.concatenate(rows), np.concatenate(keys)
    return sparse.csr_array((np.concatenate(weights), places), (num_rows, num_keys))


def _ends(column: Column) -> tuple[Ids, Ids]:
    """Returns the numbers of both ends of the value of each row, negative without a value."""
    ids = np.concatenate(column.tables)
    heads, tails = [], []
    for value in column.values:
        size = max(len(value) // (2 * _END) * _END, _SHORT_END)
        heads.append(value[:size])
        tails.append(value[-size:])
    # The last one is of rows without a value.
    return (
        np.append(distinct(heads)[1], MISSING)[ids],
        np.append(distinct(tails)[1], MISSING)[ids],
    )


def _with_forms(value: str) -> str:
    """Appends other forms of a name, which share no trigram with it: `bill` and `william`."""
    return " ".join([value, *other_forms(value)])
