"""The last steps: pairs become groups or partners, which are written next to the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.json_files import read_json
from tf_charagram.data._tables.tables import Table, table_writer
from tf_charagram.errors import DataError
from tf_charagram.search._pairs.average_linkage import average_linkage, group_numbers
from tf_charagram.search._pairs.connected import missing_pairs
from tf_charagram.search._pairs.flat_arrays import Ids
from tf_charagram.search._pairs.grouping import degrees_of
from tf_charagram.search._partitions.files import (
    PAIRS,
    load_array,
    load_arrays,
    read_range,
    records_of,
    save_array,
)
from tf_charagram.search._partitions.job import Job, has_rivals, input_of
from tf_charagram.search._partitions.pairing import scored
from tf_charagram.search.linkage._fellegi_sunter.mixture import mutual_evidence, rival_evidence
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals
from tf_charagram.search.linkage.estimates import THRESHOLDS

# Values that rounding made 0 or 1.
_MIN_VALUE = 1e-6
GROUPS = np.dtype([("group", "<i8"), ("kept", "?"), ("score", "<f4")])
PARTNERS = np.dtype([("partner", "<i8"), ("score", "<f4")])


class _Graph(NamedTuple):
    """Rows with partners, and their pairs.

    Attributes:
        rows: Rows, ascending.
        pairs: Places of pairs in `rows`, sorted.
        scores: Their scores.
    """

    rows: Ids
    pairs: Ids
    scores: NDArray[np.float64]

    @classmethod
    def of(cls, records: NDArray[Any], num_rows: int) -> _Graph:
        """Numbers the rows of pairs; rows paired with themselves are left out."""
        pairs = _pairs_of(records, num_rows)
        is_pair = pairs[:, 0] != pairs[:, 1]
        rows, places = np.unique(pairs[is_pair], return_inverse=True)
        scores = records["value"][is_pair].astype(np.float64)
        return cls(rows, places.reshape(-1, 2), scores)


def _edges(job: Job, *steps: str) -> NDArray[Any]:
    return load_arrays((path for step in steps for path in job.files(step)), PAIRS)


def _pairs_of(records: NDArray[Any], num_rows: int) -> Ids:
    return np.stack(np.divmod(records["key"].astype(np.int64), max(num_rows, 1)), axis=1)


def find_inner(job: Job, number: int) -> None:
    """Finds the pairs that other pairs connect: rows of large groups have more partners."""
    num_rows = len(job.row_files())
    edges = _edges(job, "edges")
    graph = _Graph.of(_with_rivals(job, edges, edges), num_rows)
    added = missing_pairs(len(graph.rows), graph.pairs, graph.scores, job.threshold)
    left, right = graph.rows[added].T
    keys = left * num_rows + right
    save_array(job.path("inner.npy"), records_of(PAIRS, keys, np.zeros(len(keys))))


def score_inner(job: Job, number: int) -> None:
    """Compares a part of the pairs that other pairs connect."""
    num_rows = len(job.row_files())
    first, last = job.bounds(number, num_rows)
    records = read_range([job.path("inner.npy")], PAIRS, first * num_rows, last * num_rows)
    pairs = _pairs_of(records, num_rows)
    save_array(job.file("inner", number), scored(job, pairs, 0.0))


def group(job: Job, number: int) -> None:
    """Groups the rows."""
    num_rows = len(job.row_files())
    records = _with_rivals(job, _edges(job, "edges"), _edges(job, "edges", "inner"))
    records = records[np.argsort(records["key"], kind="stable")]
    graph = _Graph.of(records, num_rows)
    threshold = job.threshold
    lowest = min(*THRESHOLDS, threshold)
    linkage = average_linkage(len(graph.rows), graph.pairs, graph.scores, lowest)
    numbers = group_numbers(job.groups, linkage, graph.pairs, graph.scores, threshold)
    # The first row of the group of each row.
    all_rows = np.arange(num_rows)
    heads = all_rows.copy()
    _, firsts = np.unique(numbers, return_index=True)
    if len(firsts):
        heads[graph.rows] = graph.rows[firsts[numbers]]
    copied = load_array(job.path("first.npy")).astype(np.int64)
    sizes = np.bincount(copied, minlength=num_rows)
    # Equal rows may have too few values to be the same thing.
    alike = _known(records, all_rows, all_rows, num_rows)
    is_copy = (copied != all_rows) & (alike[copied] >= threshold)
    heads[is_copy] = heads[copied[is_copy]]
    is_match = graph.scores >= threshold
    degrees = sizes.copy()
    degrees[graph.rows] = degrees_of(graph.pairs[is_match], sizes[graph.rows])
    save_array(job.path("groups.npy"), _as_groups(heads, degrees[copied], copied, records))


def _known(records: NDArray[Any], left: Ids, right: Ids, num_rows: int) -> NDArray[np.float32]:
    """Returns the scores of pairs that are among sorted records; 0 for others."""
    keys = (np.minimum(left, right) * num_rows + np.maximum(left, right)).astype(np.uint64)
    if not len(records):
        return np.zeros(len(keys), np.float32)
    places = np.minimum(np.searchsorted(records["key"], keys), len(records) - 1)
    return np.where(records["key"][places] == keys, records["value"][places], np.float32(0))


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
    is_first = np.diff(heads[order], prepend=-1) > 0
    kept = np.zeros(num_rows, np.int64)
    kept[heads[order[is_first]]] = order[is_first]
    kept_of = kept[heads]
    found["kept"] = kept_of == np.arange(num_rows)
    scores = _known(records, copied[kept_of], copied, num_rows)
    found["score"] = np.where(found["kept"], 1, scores)
    return found


def best_partners(job: Job, number: int) -> None:
    """Chooses the best right row of each left row; copies have the partner of the first."""
    num_rows = len(job.row_files())
    num_left = job.num_left() or 0
    edges = _edges(job, "edges")
    records = _with_rivals(job, edges, edges)
    left, right = _pairs_of(records, num_rows).T
    scores = records["value"]
    first_rows = load_array(job.path("first.npy"))
    is_enough = scores >= job.threshold
    order = np.lexsort((right, -scores, left))
    order = order[is_enough[order]]
    is_first = np.diff(left[order], prepend=-1) > 0
    chosen = order[is_first]
    found = np.zeros(num_left, PARTNERS)
    found["partner"] = -1
    found["partner"][left[chosen]] = right[chosen] - num_left
    found["score"][left[chosen]] = scores[chosen]
    save_array(job.path("partners.npy"), found[first_rows[:num_left]])


def _with_rivals(job: Job, edges: NDArray[Any], records: NDArray[Any]) -> NDArray[Any]:
    """Returns pairs with their probabilities, which are surer without other good partners.

    Args:
        job: The job.
        edges: Candidate pairs, which are the rivals of one another.
        records: The pairs.
    """
    if not has_rivals(job):
        return records
    num_rows = len(job.row_files())
    num_left = job.num_left()
    # Rows with the same text as a whole are no rivals; copies of texts are no candidates.
    texts = np.arange(num_rows)
    if not job.is_text:
        hashes = load_arrays(job.files("row_hashes"), np.uint64)
        _, texts = np.unique(hashes, return_inverse=True)
    first_right = num_left or 0
    tables = texts[:num_left], texts[first_right:]
    offset = np.array([0, first_right])
    rival_pairs = _pairs_of(edges, num_rows) - offset
    rivals = PairRivals(tables, rival_pairs, edges["value"], is_one_table=num_left is None)
    pairs = _pairs_of(records, num_rows) - offset
    scores = rivals.scores(pairs)
    values = records["value"].astype(np.float64)
    log_odds = logit(np.clip(values, _MIN_VALUE, 1 - _MIN_VALUE))
    mutual = 0.0
    if job.is_text:
        alone = expit(log_odds + rival_evidence(log_odds, scores, 0.0))
        mutual = mutual_evidence(pairs, alone, _present(job))
    found = records.copy()
    found["value"] = expit(log_odds + rival_evidence(log_odds, scores, mutual))
    return found


def _present(job: Job) -> tuple[Ids, Ids]:
    """Returns the distinct texts of both tables that have words, by their rows."""
    hashes = load_arrays(job.files("hashes"), np.uint64)
    first_rows = load_array(job.path("first.npy"))
    is_text = (first_rows == np.arange(len(hashes))) & (hashes != 0)
    texts = np.flatnonzero(is_text)
    num_left = job.num_left() or 0
    return texts[texts < num_left], texts[texts >= num_left] - num_left


def write(job: Job, number: int) -> None:
    """Writes a file of the table with columns for its groups, or for its partners."""
    path = job.left[number]
    inputs = [input_of(file) for file in job.row_files("cells").paths]
    # A file without rows has no files of rows.
    first = inputs.index(number) if number in inputs else 0
    start = int(job.row_files().starts[first])
    result = load_array(job.path("partners.npy" if job.right else "groups.npy"))
    with table_writer(job.output_of(number)) as append:
        for table in job.tables(number):
            own = result[start : start + len(table)]
            if len(own) != len(table):
                raise DataError(path, "has changed since it was read. Start again with --overwrite")
            add = _add_partners if job.right else _add_groups
            add(job, table, own)
            append(table)
            start += len(table)


def _add_groups(job: Job, table: Table, own: NDArray[Any]) -> None:
    arrow = extra_module("pyarrow", "parquet")
    is_alone = own["group"] == 0
    table.add("group", arrow.array(own["group"], mask=is_alone))
    table.add("kept", arrow.array(own["kept"].astype(np.int8)))
    scores = own["score"].astype(np.float64).round(4)
    table.add("score", arrow.array(scores, mask=is_alone | (scores == 0)))


def _add_partners(job: Job, table: Table, own: NDArray[Any]) -> None:
    arrow = extra_module("pyarrow", "parquet")
    is_alone = own["partner"] < 0
    scores = own["score"].astype(np.float64).round(4)
    table.add("score", arrow.array(scores, mask=is_alone))
    table.add("right_row", arrow.array(own["partner"], mask=is_alone))
    rows, places = np.unique(own["partner"][~is_alone], return_inverse=True)
    cells = job.row_files("cells").take(rows + (job.num_left() or 0))
    where = np.full(len(own), -1)
    where[~is_alone] = places
    indices = arrow.array(where, mask=is_alone)
    names = read_json(job.path("read", f"{len(job.left):05}.json"))["names"]
    for number, name in enumerate(names or ["text"]):
        column = arrow.array(cells[number], arrow.string())
        table.add(f"right_{name}", column.take(indices))
