"""The last step writes groups or partners next to the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.json_files import read_json
from tf_charagram.data._tables.table_reading import PARQUET
from tf_charagram.data._tables.tables import Table, table_writer
from tf_charagram.errors import DataError
from tf_charagram.search._pairs.flat_arrays import Flags, numbered, stable_order
from tf_charagram.search._partitions.files import load_array
from tf_charagram.search._partitions.job import ESTIMATES, Job, fit_of, input_of
from tf_charagram.search._partitions.right_rows import right_cells
from tf_charagram.search.linkage.estimates import histogram
from tf_charagram.search.linkage.linker import Linker

# Rows that are joined at once.
_CHUNK = 100_000


def write(job: Job, number: int) -> None:
    """Writes a file of the table with its groups, or with its partners."""
    inputs = [input_of(file) for file in job.row_files("cells").paths]
    # A file without rows has no files of rows.
    first = inputs.index(number) if number in inputs else 0
    start = int(job.row_files("cells").starts[first])
    result = load_array(job.path("partners.npy" if job.right else "groups.npy"))
    output = job.output_of(number)
    # A column of Parquet has one type in all parts.
    is_typed = output.suffix == PARQUET
    with table_writer(output) as append:
        for table in job.tables(number):
            stop = start + len(table)
            if stop > job.ends[0]:
                raise DataError(table.path, "has changed since it was read. Add --overwrite")
            if job.right:
                _append_pairs(job, table, start, result, append, is_typed=is_typed)
            else:
                _add_groups(table, result[start:stop], is_typed=is_typed)
                append(table)
            start = stop


def _add_groups(table: Table, own: NDArray[Any], *, is_typed: bool) -> None:
    arrow = extra_module("pyarrow", "parquet")
    is_alone = own["group"] == 0
    table.add("group", arrow.array(own["group"], mask=is_alone))
    table.add("kept", arrow.array(own["kept"].astype(np.int8)))
    has_no_score = is_alone | (own["score"] == 0)
    table.add("score", _cells_of(own["score"], has_no_score, is_typed=is_typed))


def _cells_of(scores: NDArray[Any], is_missing: Flags, *, is_typed: bool) -> Any:
    """Returns the cells of a column of scores."""
    rounded = scores.astype(np.float64).round(4)
    if is_typed:
        return extra_module("pyarrow", "parquet").array(rounded, mask=is_missing)
    # Arrow would write 1, and Python writes 1.0.
    cells = rounded.astype(object)
    cells[is_missing] = None
    return cells.tolist()


def _append_pairs(
    job: Job,
    table: Table,
    start: int,
    pairs: NDArray[Any],
    append: Callable[[Table], None],
    *,
    is_typed: bool,
) -> None:
    """Writes the pairs of the left rows of a table, and its rows without a partner.

    Args:
        job: The job.
        table: Left rows.
        start: Number of the first one.
        pairs: All pairs, by left rows.
        append: Writes a table.
        is_typed: Whether the file has types.
    """
    first, last = np.searchsorted(pairs["left"], [start, start + len(table)])
    own = pairs[first:last]
    left = own["left"] - start
    alone = np.setdiff1d(np.arange(len(table)), left)
    all_left = np.append(left, alone)
    order = stable_order(all_left)
    for begin in range(0, max(len(order), 1), _CHUNK):
        chosen = order[begin : begin + _CHUNK]
        is_alone = chosen >= len(own)
        chosen_pairs = own[chosen[~is_alone]]
        joined = table.take(all_left[chosen].tolist())
        scores = np.zeros(len(chosen))
        scores[~is_alone] = chosen_pairs["score"]
        joined.add("score", _cells_of(scores, is_alone, is_typed=is_typed))
        rows, places = numbered(chosen_pairs["right"])
        taken = np.full(len(chosen), None)
        taken[~is_alone] = places
        right = right_cells(job, rows, is_typed=is_typed)
        joined.add_columns_of(right.take(taken.tolist()))
        append(joined)


def summary_of(job: Job) -> dict[str, Any]:
    """Counts the rows of the result."""
    facts: dict[str, Any] = {
        "notes": fit_of(job)["notes"],
        "threshold": job.threshold,
    }
    if not job.is_text:
        linker = Linker.load(job.path("linker.json"))
        facts |= {"kinds": linker.kinds, "identifies": linker.identifies}
    facts["estimates"] = read_json(job.path(ESTIMATES))
    if job.right:
        found = load_array(job.path("partners.npy"))
        left = found["left"]
        num_left, _ = job.ends
        return {
            "num_rows": num_left,
            "num_matched": len(np.unique(left)),
            "num_pairs": len(left),
            "scores": histogram(found["score"]),
            **facts,
        }
    found = load_array(job.path("groups.npy"))
    num_kept = int(((found["group"] == 0) | found["kept"]).sum())
    num_groups = int(found["group"].max(initial=0))
    # The row that is kept is compared with itself.
    is_other = (found["group"] > 0) & ~found["kept"]
    return {
        "num_rows": len(found),
        "num_kept": num_kept,
        "num_groups": num_groups,
        "scores": histogram(found["score"][is_other]),
        **facts,
    }
