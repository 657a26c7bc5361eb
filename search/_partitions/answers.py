"""The last steps: pairs become groups or partners."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.average_linkage import average_linkage, group_numbers
from tf_charagram.search._pairs.connected import missing_pairs
from tf_charagram.search._pairs.copies import row_pairs
from tf_charagram.search._pairs.flat_arrays import (
    Array,
    Floats,
    Ids,
    are_first,
    keys_of_pairs,
    numbered,
    paired,
    places_in,
)
from tf_charagram.search._pairs.grouping import degrees_of
from tf_charagram.search._partitions.files import (
    PAIRS,
    by_key,
    load_arrays,
    pairs_in,
    read_range,
    records_of,
    save_array,
)
from tf_charagram.search._partitions.job import (
    Job,
    comparison_of,
    first_rows_of,
    fit_of,
    save_estimates,
)
from tf_charagram.search._partitions.pairing import scored
from tf_charagram.search._partitions.rivals import edges_of, text_hashes, with_rivals
from tf_charagram.search.linkage.answers import answers_of, group_estimates
from tf_charagram.search.linkage.estimates import THRESHOLDS

GROUPS = np.dtype([("group", "<i8"), ("kept", "?"), ("score", "<f4")])
#: Pairs of rows of both tables, by left rows, the best ones first.
PARTNERS = np.dtype([("left", "<i8"), ("right", "<i8"), ("score", "<f8")])

# Pairs of equal rows that are counted as different ones, for estimates.
_MAX_COUNTED = 1000


class _Graph(NamedTuple):
    """Rows with partners, and their pairs.

    Attributes:
        rows: Rows, ascending.
        pairs: Places of pairs in `rows`, sorted.
        scores: Their scores.
    """

    rows: Ids
    pairs: Ids
    scores: Array

    @classmethod
    def of(cls, records: NDArray[Any], num_rows: int) -> _Graph:
        """Numbers the rows of pairs; rows paired with themselves are left out."""
        pairs = pairs_in(records, num_rows)
        is_pair = pairs[:, 0] != pairs[:, 1]
        rows, places = numbered(pairs[is_pair].ravel())
        scores = records["value"][is_pair].astype(np.float64)
        return cls(rows, places.reshape(-1, 2), scores)


def find_inner(job: Job, number: int) -> None:
    """Finds the pairs that other pairs connect: rows of large groups have more partners."""
    graph = _Graph.of(with_rivals(job, edges_of(job)), job.num_rows)
    added = missing_pairs(len(graph.rows), graph.pairs, graph.scores, job.threshold)
    keys = keys_of_pairs(graph.rows[added], job.num_rows)
    save_array(job.path("inner.npy"), records_of(PAIRS, keys, np.zeros(len(keys))))


def score_inner(job: Job, number: int) -> None:
    """Compares a part of the pairs that other pairs connect."""
    num_rows = job.num_rows
    first, last = job.bounds(number, num_rows)
    records = read_range([job.path("inner.npy")], PAIRS, first * num_rows, last * num_rows)
    found = scored(job, pairs_in(records, num_rows), 0.0)
    save_array(job.file("inner", number), found)


def group(job: Job, number: int) -> None:
    """Groups the rows."""
    num_rows = job.num_rows
    edges, inner = (with_rivals(job, edges_of(job, step)) for step in ("edges", "inner"))
    records = by_key([edges, inner])
    graph = _Graph.of(records, num_rows)
    threshold = job.threshold
    lowest = min(*THRESHOLDS, threshold)
    linkage = average_linkage(len(graph.rows), graph.pairs, graph.scores, lowest)
    numbers = group_numbers(job.groups, linkage, graph.pairs, graph.scores, threshold)
    # The first row of the group of each row.
    all_rows = np.arange(num_rows)
    heads = all_rows.copy()
    _, firsts = np.unique(numbers, return_index=True)
    heads[graph.rows] = graph.rows[firsts][numbers]
    copied = first_rows_of(job).astype(np.int64)
    sizes = np.bincount(copied, minlength=num_rows)
    # Equal rows may have too few values to be the same thing.
    alike = _known(records, paired(all_rows, all_rows), num_rows)
    is_copy = (copied != all_rows) & (alike[copied] >= threshold)
    heads[is_copy] = heads[copied[is_copy]]
    is_match = graph.scores >= threshold
    degrees = sizes.copy()
    degrees[graph.rows] = degrees_of(graph.pairs[is_match], sizes[graph.rows])
    facts = fit_of(job)
    estimates = group_estimates(
        linkage,
        graph.pairs,
        graph.scores,
        threshold,
        job.groups,
        unseen=facts["unseen"],
        hidden=facts["hidden"],
        unclear=facts["unclear"],
        counts=np.minimum(sizes[graph.rows[graph.pairs]].prod(axis=1), _MAX_COUNTED),
        copies=alike.repeat(np.minimum(sizes * (sizes - 1) // 2, _MAX_COUNTED)),
    )
    save_estimates(job, estimates)
    found = _as_groups(heads, degrees[copied], copied, records)
    save_array(job.path("groups.npy"), found)


def _known(records: NDArray[Any], pairs: Ids, num_rows: int) -> Floats:
    """Returns the scores of pairs that are among sorted records; 0 for others."""
    keys = keys_of_pairs(np.sort(pairs, axis=1), num_rows).astype(np.uint64)
    # The last score is of all other pairs.
    scores = np.append(records["value"], np.float32(0))
    return scores[places_in(records["key"], keys)]


def _as_groups(heads: Ids, degrees: Ids, copied: Ids, records: NDArray[Any]) -> NDArray[Any]:
    """Numbers groups of at least two rows by their first rows, from 1; 0 is no group."""
    num_rows = len(heads)
    found = np.zeros(num_rows, GROUPS)
    sizes = np.bincount(heads, minlength=num_rows)
    is_head = sizes > 1
    numbers = np.cumsum(is_head) * is_head
    found["group"] = numbers[heads]
    # The row with the most partners is kept; of several, the first.
    order = np.lexsort((np.arange(num_rows), -degrees, heads))
    is_first = are_first(heads[order])
    kept = np.zeros(num_rows, np.int64)
    kept[heads[order[is_first]]] = order[is_first]
    kept_of = kept[heads]
    found["kept"] = kept_of == np.arange(num_rows)
    scores = _known(records, paired(copied[kept_of], copied), num_rows)
    found["score"] = np.where(found["kept"], 1, scores)
    return found


def choose_partners(job: Job, number: int) -> None:
    """Chooses the pairs that are the best ones of one of their rows, as `match` does."""
    num_left = job.num_left() or 0
    records = with_rivals(job, edges_of(job))
    records = records[records["value"] >= min(*THRESHOLDS, job.threshold)]
    left_firsts, right_firsts = np.split(first_rows_of(job).astype(np.int64), [num_left])
    first_pairs = pairs_in(records, job.num_rows)
    pairs = row_pairs(left_firsts, right_firsts, first_pairs, is_one_table=False)
    left, right = pairs.T
    scores = _known(records, paired(left_firsts[left], right_firsts[right]), job.num_rows)
    left_cells, right_cells = np.split(load_arrays(job.files("same"), np.uint64), [num_left])
    is_same = left_cells[left] == right_cells[right]
    texts = None
    if comparison_of(job).text_number is not None:
        hashes = text_hashes(job)
        _, numbers = np.unique(hashes, return_inverse=True)
        # Rows without a text.
        numbers[hashes == 0] = -1
        texts = numbers[:num_left], numbers[num_left:]
    chosen, estimates = answers_of(
        pairs,
        scores,
        is_same,
        job.threshold,
        one_to_one=job.one_to_one,
        unseen=fit_of(job)["unseen"],
        unclear=fit_of(job)["unclear"],
        num_rows=(num_left, job.num_rows - num_left),
        texts=texts,
    )
    save_estimates(job, estimates)
    found = np.empty(len(chosen), PARTNERS)
    found["left"] = left[chosen]
    found["right"] = right[chosen]
    found["score"] = scores[chosen]
    save_array(job.path("partners.npy"), found)
