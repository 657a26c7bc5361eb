"""The step that compares few rows in memory: files give what `match` and `deduplicate` give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tf_charagram._files.json_files import write_json
from tf_charagram.search._partitions.answers import GROUPS, PARTNERS
from tf_charagram.search._partitions.files import save_array
from tf_charagram.search._partitions.job import FIT, Job, save_estimates
from tf_charagram.search.linkage._columns.columns import notes_of
from tf_charagram.search.linkage.answers import Duplicates, Matches
from tf_charagram.search.linkage.linker import Linker
from tf_charagram.search.matching import deduplicate, match

#: Rows of all tables that are compared in memory, at most.
MAX_ROWS = 20_000


def is_in_memory(job: Job) -> bool:
    """Tells whether there are few rows; they must be read."""
    return job.num_rows <= MAX_ROWS


def link(job: Job, number: int) -> None:
    """Finds the groups or partners of all rows."""
    found = _of_texts(job) if job.is_text else _of_columns(job)
    write_json(job.path(FIT), {"notes": notes_of(found.links.columns)})
    save_estimates(job, found.estimates)
    if isinstance(found, Matches):
        save_array(job.path("partners.npy"), np.array(found.pairs, PARTNERS))
        return
    groups = np.zeros(job.num_rows, GROUPS)
    for group_number, group in enumerate(found.groups, start=1):
        groups["group"][group.rows] = group_number
        groups["score"][group.rows] = group.scores
    groups["kept"][found.kept] = True
    save_array(job.path("groups.npy"), groups)


def _of_texts(job: Job) -> Matches | Duplicates:
    """Compares the rows as texts."""
    tables = _tables(job, ["text"])
    options: dict[str, Any] = {
        "on": ["text"],
        "lexical": job.lexical,
        "threshold": job.threshold,
    }
    if job.right:
        left, right = tables
        return match(left, right, job.model, one_to_one=job.one_to_one, **options)
    return deduplicate(tables[0], job.model, groups=job.groups, **options)


def _of_columns(job: Job) -> Matches | Duplicates:
    """Compares the rows by several columns; writes their weights."""
    linker = Linker(
        job.on,
        kinds=dict(job.kinds),
        identifies=job.identifies,
        threshold=job.threshold,
        groups=job.groups,
        model=job.model,
    )
    linker.fit(*_tables(job, job.on))
    path = job.path("linker.json")
    path.unlink(missing_ok=True)
    linker.save(path)
    return linker.match(one_to_one=job.one_to_one) if job.right else linker.deduplicate()


def _tables(job: Job, names: Sequence[str]) -> list[dict[str, list[str]]]:
    """Returns the compared columns of both tables, with the same names."""
    files = job.row_files("cells")
    tables = []
    for first, last in pairwise([0, *job.ends]):
        cells = files.take(np.arange(first, last))
        tables.append(dict(zip(names, cells, strict=True)))
    return tables
