"""The last step writes groups or partners next to the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.json_files import read_json
from tf_charagram.data._tables.tables import Table, table_writer
from tf_charagram.errors import DataError
from tf_charagram.search._partitions.files import load_array
from tf_charagram.search._partitions.job import FIT, Job, input_of


def write(job: Job, number: int) -> None:
    """Writes a file of the table with columns for its groups, or for its partners."""
    path = job.left[number]
    inputs = [input_of(file) for file in job.row_files("cells").paths]
    # A file without rows has no files of rows.
    first = inputs.index(number) if number in inputs else 0
    start = int(job.row_files("cells").starts[first])
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
    has_no_score = is_alone | (scores == 0)
    table.add("score", arrow.array(scores, mask=has_no_score))


def _add_partners(job: Job, table: Table, own: NDArray[Any]) -> None:
    arrow = extra_module("pyarrow", "parquet")
    is_alone = own["partner"] < 0
    scores = own["score"].astype(np.float64).round(4)
    table.add("score", arrow.array(scores, mask=is_alone))
    table.add("right_row", arrow.array(own["partner"], mask=is_alone))
    rows, places = np.unique(own["partner"], return_inverse=True)
    # No partner is -1, which comes first.
    num_alone = int(is_alone.any())
    num_left = job.num_left() or 0
    cells = job.row_files("cells").take(num_left + rows[num_alone:])
    indices = arrow.array(places - num_alone, mask=is_alone)
    first_right = len(job.left)
    names = read_json(job.path("read", f"{first_right:05}.json"))["names"]
    for name, values in zip(names or ["text"], cells, strict=False):
        column = arrow.array(values, arrow.string())
        table.add(f"right_{name}", column.take(indices))


def summary_of(job: Job) -> dict[str, Any]:
    """Counts the rows of the result."""
    notes = read_json(job.path(FIT))["notes"]
    if job.right:
        partners = load_array(job.path("partners.npy"))["partner"]
        return {
            "num_rows": len(partners),
            "num_matched": int((partners >= 0).sum()),
            "notes": notes,
        }
    found = load_array(job.path("groups.npy"))
    num_kept = int(((found["group"] == 0) | found["kept"]).sum())
    num_groups = int(found["group"].max(initial=0))
    return {
        "num_rows": len(found),
        "num_kept": num_kept,
        "num_groups": num_groups,
        "notes": notes,
    }
