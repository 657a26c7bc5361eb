"""The next steps: rows with rare keys in common are paired and compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    Flags,
    Floats,
    Ids,
    blocks,
    keys_of_pairs,
    numbered,
    paired,
    ranks,
    runs_of,
)
from tf_charagram.search._partitions.comparing import ColumnComparison, Pairs
from tf_charagram.search._partitions.files import (
    KEYS,
    PAIRS,
    by_key,
    load_array,
    pairs_in,
    read_range,
    records_of,
    save_array,
    summed,
)
from tf_charagram.search._partitions.job import Job, comparison_of, counts_of, first_rows_of
from tf_charagram.search._partitions.keys import keys_of, slots_of
from tf_charagram.search._partitions.rivals import has_rivals
from tf_charagram.search.linkage._fellegi_sunter.text_odds import MIN_WITH_RIVALS
from tf_charagram.search.linkage.estimates import THRESHOLDS
from tf_charagram.text._algorithm.arrays import positions, splits_of

# A row is paired with so many of the rows that have a key.
_MAX_BLOCK = 40
# Candidates of a row: the pairs with the most rare keys.
_NUM_CANDIDATES = 20
_MIN_CANDIDATES = 3
# Pairs with a single key are compared if at most so many rows have it. Of the pairs of 100,000
# made-up people that match, 99.9 % have a rarer key or several, and 13 % of the others do.
_MAX_ALONE = 8
# Weights of keys are whole numbers, so that their sum does not depend on how keys are divided.
_PRECISION = 16
# Pairs that are compared at once.
_CHUNK = 200_000


def emit_keys(job: Job, number: int) -> None:
    """Emits the keys of rows, once for equal rows."""
    files = job.row_files()
    comparison = comparison_of(job)
    start, stop = files.starts[number : number + 2]
    rows = np.arange(start, stop)
    own = np.flatnonzero(first_rows_of(job)[start:stop] == rows)
    values = files.take(start + own)
    slots = slots_of(comparison.words(values), comparison.kinds)
    if comparison.text_number is not None:
        # The others hardly tell anything, so rows that share them are no candidates.
        slots = slots.at(np.flatnonzero(slots.columns == comparison.text_number))
    places, keys = keys_of(slots, counts_of(job), len(files))
    save_array(job.file("keys", number), records_of(KEYS, keys, start + own[places]))


def pair(job: Job, number: int) -> None:
    """Pairs the rows that have a key of a range of keys."""
    num_rows = job.num_rows
    first_key, last_key = job.bounds(number, 2**64)
    records = read_range(job.files("keys"), KEYS, first_key, last_key)
    rows = records["row"].astype(np.int64)
    starts, ends = runs_of(records["key"])
    sizes = ends - starts
    end_of = np.repeat(ends, sizes)
    first = np.arange(len(rows)) + 1
    num_left = job.num_left()
    if num_left is not None:
        # Right rows come last.
        is_right = rows >= num_left
        num_before = splits_of(is_right.astype(np.int64))
        first_right = ends - (num_before[ends] - num_before[starts])
        first = np.repeat(first_right, sizes)
        first[is_right] = end_of[is_right]
    last = np.minimum(end_of, first + _MAX_BLOCK)
    num_partners = last - first
    partners = rows[positions(first, last)]
    pairs = paired(np.repeat(rows, num_partners), partners)
    weight_of_row = np.repeat(_weights(num_rows, sizes), sizes)
    weights = np.repeat(weight_of_row, num_partners)
    # A row has a key twice if two of its names start alike, and is no partner of itself.
    is_other = pairs[:, 0] != pairs[:, 1]
    keys = keys_of_pairs(pairs[is_other], num_rows)
    records = records_of(PAIRS, keys, weights[is_other])
    save_array(job.file("pairs", number), summed(records, ("value",)))


def _weights(num_rows: int, sizes: Ids) -> Floats:
    """Returns the weights of keys that some rows have."""
    bits = np.log2(num_rows / sizes)
    return np.round(_PRECISION * bits).astype(np.float32)


def _best(records: NDArray[Any], num_rows: int) -> Ids:
    """Returns the pairs of each left row with the most weight, `(num_pairs, 2)`, sorted.

    Some are compared even if their rows share frequent values only: all rows of a large group do.
    """
    records = summed(records, ("value",))
    [least] = _weights(max(num_rows, 1), np.array([_MAX_ALONE]))
    pairs = pairs_in(records, num_rows)
    left, right = pairs.T
    order = np.lexsort((right, -records["value"], left))
    max_pairs = np.where(records["value"][order] >= least, _NUM_CANDIDATES, _MIN_CANDIDATES)
    kept = np.sort(order[ranks(left) < max_pairs])
    return pairs[kept]


def candidates_of(job: Job, is_left: Flags) -> Ids:
    """Returns the candidates of some left rows, `(num_pairs, 2)`, sorted."""
    parts = [np.zeros(0, PAIRS)]
    for path in job.files("pairs"):
        records = load_array(path)
        left, _ = pairs_in(records, job.num_rows).T
        parts.append(records[is_left[left]])
    return _best(by_key(parts), job.num_rows)


def with_copies(job: Job, pairs: Ids, first: int, last: int) -> Ids:
    """Adds rows that have copies, as pairs of themselves, within a range of rows."""
    if job.right:
        return pairs
    num_equal = np.bincount(first_rows_of(job), minlength=last)
    repeated = first + np.flatnonzero(num_equal[first:last] > 1)
    return np.concatenate([pairs, paired(repeated, repeated)])


def chunk_of(job: Job, pairs: Ids) -> Pairs:
    """Returns pairs with the values of their rows."""
    rows, places = numbered(pairs.ravel())
    num_left = job.num_left()
    if num_left is not None:
        num_left = int(np.searchsorted(rows, num_left))
    texts: list[str] = []
    comparison = comparison_of(job)
    if isinstance(comparison, ColumnComparison) and comparison.row_scorer is not None:
        texts = comparison.texts_of(job.row_files("cells").take(rows))
    return Pairs(job.row_files().take(rows), places.reshape(pairs.shape), num_left, texts)


def scored(job: Job, pairs: Ids, lowest: float) -> NDArray[Any]:
    """Returns the pairs that have a minimum score, with their scores."""
    comparison = comparison_of(job)
    found = [np.zeros(0, PAIRS)]
    for block in blocks(len(pairs), _CHUNK):
        own = pairs[block]
        scores = comparison.probabilities(chunk_of(job, own), counts_of(job), lowest)
        is_kept = (scores >= lowest) & (scores > 0)
        keys = keys_of_pairs(own[is_kept], job.num_rows)
        found.append(records_of(PAIRS, keys, scores[is_kept]))
    return by_key(found)


def score(job: Job, number: int) -> None:
    """Compares the candidates of a range of left rows."""
    num_rows = job.num_rows
    first, last = job.bounds(number, num_rows)
    records = read_range(job.files("pairs"), PAIRS, first * num_rows, last * num_rows)
    pairs = with_copies(job, _best(records, num_rows), first, last)
    by_texts = comparison_of(job).text_number is not None
    lowest = 0.0 if by_texts else min(*THRESHOLDS, job.threshold)
    if has_rivals(job):
        lowest = min(lowest, MIN_WITH_RIVALS)
    save_array(job.file("edges", number), scored(job, pairs, lowest))
