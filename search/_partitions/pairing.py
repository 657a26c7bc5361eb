"""The next steps: rows with rare keys in common are paired and compared."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.json_files import write_json
from tf_charagram.search._pairs.flat_arrays import Ids, ranks
from tf_charagram.search._partitions.comparing import ColumnComparison, Pairs
from tf_charagram.search._partitions.files import (
    KEYS,
    PAIRS,
    load_array,
    read_range,
    records_of,
    runs_of,
    save_array,
)
from tf_charagram.search._partitions.job import (
    ROW_MATCHES,
    Job,
    comparison_of,
    counts_of,
    has_rivals,
)
from tf_charagram.search._partitions.keys import keys_of, mixed, slots_of
from tf_charagram.search.linkage._fellegi_sunter.mixture import MIN_WITH_RIVALS
from tf_charagram.search.linkage._fellegi_sunter.rivals import Sample
from tf_charagram.search.linkage.estimates import THRESHOLDS
from tf_charagram.search.linkage.linker import Linker
from tf_charagram.text._algorithm.arrays import positions

# Left rows to whose candidates weights are fitted.
_NUM_FITTED = 20_000
# A row is paired with so many of the rows that have a key.
_MAX_BLOCK = 40
# Candidates of a row: the pairs with the most rare keys.
_NUM_CANDIDATES = 20
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
    own = np.flatnonzero(load_array(job.path("first.npy"))[start:stop] == rows)
    values = [column.to_pylist() for column in files.read(number).columns]
    values = [[column[row] for row in own.tolist()] for column in values]
    slots = slots_of(comparison.words(values), comparison.kinds)
    places, keys = keys_of(slots, counts_of(job), len(files))
    save_array(job.file("keys", number), records_of(KEYS, keys, start + own[places]))


def pair(job: Job, number: int) -> None:
    """Pairs the rows that have a key of a range of keys."""
    num_rows = len(job.row_files())
    records = read_range(job.files("keys"), KEYS, *job.bounds(number, 2**64))
    rows = records["row"].astype(np.int64)
    starts, ends = runs_of(records["key"])
    sizes = ends - starts
    end_of = np.repeat(ends, sizes)
    places = np.arange(len(rows))
    first = places + 1
    num_left = job.num_left()
    if num_left is not None:
        # Right rows come last.
        num_before = np.append(0, np.cumsum(rows < num_left))
        first = np.repeat(starts + num_before[ends] - num_before[starts], sizes)
        first[rows >= num_left] = end_of[rows >= num_left]
    last = np.minimum(end_of, first + _MAX_BLOCK)
    partners = rows[positions(first, last)]
    weights = _weights(num_rows, np.maximum(sizes, 1))
    keys = np.repeat(rows, last - first) * num_rows + partners
    weights = np.repeat(np.repeat(weights, sizes), last - first)
    save_array(job.file("pairs", number), _summed(records_of(PAIRS, keys, weights)))


def _weights(num_rows: int, sizes: Ids) -> NDArray[np.float32]:
    """Returns the weights of keys that some rows have."""
    return np.round(_PRECISION * np.log2(num_rows / sizes)).astype(np.float32)


def _summed(records: NDArray[Any]) -> NDArray[Any]:
    """Adds up the weights of equal pairs; `records` are sorted."""
    starts, _ = runs_of(records["key"])
    if not len(starts):
        return records
    found = records[starts]
    found["value"] = np.add.reduceat(records["value"], starts)
    return found


def _best(records: NDArray[Any], num_rows: int) -> Ids:
    """Returns the pairs of each left row with the most weight, `(num_pairs, 2)`, sorted."""
    records = _summed(records)
    [least] = _weights(max(num_rows, 1), np.array([_MAX_ALONE]))
    records = records[records["value"] >= least]
    pairs = records["key"].astype(np.int64)
    left = pairs // max(num_rows, 1)
    order = np.lexsort((pairs, -records["value"], left))
    kept = np.sort(order[ranks(left) < _NUM_CANDIDATES])
    return np.stack(np.divmod(pairs[kept], max(num_rows, 1)), axis=1)


def _with_copies(job: Job, pairs: Ids, first: int, last: int) -> Ids:
    """Adds rows that have copies, as pairs of themselves, within a range of rows."""
    if job.right:
        return pairs
    copies = load_array(job.path("first.npy"))
    rows = np.arange(first, last)
    counts = np.bincount(copies[copies != np.arange(len(copies))], minlength=len(copies))
    repeated = rows[counts[first:last] > 0]
    return np.concatenate([pairs, np.stack([repeated, repeated], axis=1)])


def _chunk(job: Job, pairs: Ids) -> Pairs:
    """Returns pairs with the values of their rows."""
    rows, places = np.unique(pairs, return_inverse=True)
    num_left = job.num_left()
    if num_left is not None:
        num_left = int(np.searchsorted(rows, num_left))
    texts: list[str] = []
    comparison = comparison_of(job)
    if isinstance(comparison, ColumnComparison) and comparison.row_scorer is not None:
        texts = comparison.texts_of(job.row_files("cells").take(rows))
    return Pairs(job.row_files().take(rows), places.reshape(pairs.shape), num_left, texts)


def _candidates(job: Job, is_left: NDArray[np.bool_]) -> Ids:
    """Returns the candidates of some left rows, `(num_pairs, 2)`, sorted."""
    num_rows = len(job.row_files())
    parts = [np.zeros(0, PAIRS)]
    for path in job.files("pairs"):
        records = load_array(path)
        parts.append(records[is_left[records["key"] // max(num_rows, 1)]])
    records = np.concatenate(parts)
    return _best(records[np.argsort(records["key"], kind="stable")], num_rows)


def _fitted_rows(job: Job) -> NDArray[np.bool_]:
    """Chooses the left rows to whose candidates weights are fitted."""
    num_left = job.num_left()
    total = len(job.row_files()) if num_left is None else num_left
    share = min(_NUM_FITTED / max(total, 1), 1)
    hashes = mixed(np.arange(total, dtype=np.uint64), 0)
    is_chosen: NDArray[np.bool_] = hashes <= share * (2**64 - 1)
    return is_chosen


def _fitted_pairs(job: Job, is_left: NDArray[np.bool_]) -> Ids:
    """Returns the candidates of some left rows, and these rows themselves if they have copies."""
    pairs = _with_copies(job, _candidates(job, is_left), 0, len(is_left))
    return pairs[is_left[pairs[:, 0]]]


def _other_candidates(job: Job, pairs: Ids, is_left: NDArray[np.bool_]) -> Ids:
    """Returns the candidates of the right rows of pairs with other left rows."""
    num_rows = len(job.row_files())
    is_right = np.zeros(num_rows, bool)
    is_right[pairs[:, 1]] = True
    is_near = np.zeros(len(is_left), bool)
    for path in job.files("pairs"):
        left, right = np.divmod(load_array(path)["key"], max(num_rows, 1))
        is_near[left[is_right[right]]] = True
    others = _candidates(job, is_near & ~is_left)
    return others[is_right[others[:, 1]]]


def fit(job: Job, number: int) -> None:
    """Fits the weights of columns to the candidates of some rows."""
    num_rows = len(job.row_files())
    num_left = job.num_left()
    is_chosen = _fitted_rows(job)
    comparison = comparison_of(job)
    notes = []
    telling: list[int] = []
    if isinstance(comparison, ColumnComparison):
        pairs = _fitted_pairs(job, is_chosen)
        num_others = (num_rows - 1) / 2
        if num_left is not None:
            num_others = num_rows - num_left
            # The better partners of right rows may be any left rows.
            pairs = np.concatenate([pairs, _other_candidates(job, pairs, is_chosen)])
        chunk = _chunk(job, pairs)
        num_equal = np.bincount(load_array(job.path("first.npy")), minlength=num_rows)
        of_tables = np.split(num_equal[np.unique(pairs)], [chunk.num_left or 0])
        sample = Sample(is_chosen[pairs[:, 0]], of_tables)
        notes = comparison.fit(chunk, counts_of(job), int(is_chosen.sum()), num_others, sample)
        telling = comparison.telling
        columns = comparison.columns
        linker = Linker(
            job.on,
            kinds=dict(zip(job.on, comparison.kinds, strict=True)),
            identifies=[column.name for column in columns if column.is_identifying],
            threshold=job.threshold,
            groups=job.groups,
            model=job.model,
        )
        linker.mixture = comparison.mixture
        linker.save(job.path("linker.json"))
        write_json(job.path("recoded.json"), {"recoded": comparison.recoded})
    write_json(job.path("fit.json"), {"notes": notes, "telling": telling})


def fit_rows(job: Job, number: int) -> None:
    """Learns how different the words of rows that match may be."""
    comparison = cast(ColumnComparison, comparison_of(job))
    pairs = _fitted_pairs(job, _fitted_rows(job))
    comparison.fit_rows(_chunk(job, pairs), counts_of(job))
    save_array(job.path(ROW_MATCHES), comparison.row_matches)


def scored(job: Job, pairs: Ids, lowest: float) -> NDArray[Any]:
    """Returns the pairs that have a minimum score, with their scores."""
    comparison = comparison_of(job)
    num_rows = len(job.row_files())
    found = [np.zeros(0, PAIRS)]
    for start in range(0, len(pairs), _CHUNK):
        own = pairs[start : start + _CHUNK]
        scores = comparison.probabilities(_chunk(job, own), counts_of(job), lowest)
        is_kept = (scores >= lowest) & (scores > 0)
        keys = own[is_kept, 0] * num_rows + own[is_kept, 1]
        found.append(records_of(PAIRS, keys, scores[is_kept]))
    records = np.concatenate(found)
    return records[np.argsort(records["key"], kind="stable")]


def score(job: Job, number: int) -> None:
    """Compares the candidates of a range of left rows."""
    num_rows = len(job.row_files())
    first, last = job.bounds(number, num_rows)
    records = read_range(job.files("pairs"), PAIRS, first * num_rows, last * num_rows)
    pairs = _with_copies(job, _best(records, num_rows), first, last)
    lowest = 0.0 if job.is_text else min(*THRESHOLDS, job.threshold)
    if has_rivals(job):
        lowest = min(lowest, MIN_WITH_RIVALS)
    save_array(job.file("edges", number), scored(job, pairs, lowest))
