"""All cells of right rows, which are written next to those of left rows."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import chain
from typing import Any

from tf_charagram._common.lazy import extra_module
from tf_charagram.data._tables.table_reading import PARQUET, format_of, open_parquet
from tf_charagram.data._tables.tables import Table, written_text
from tf_charagram.search._pairs.flat_arrays import Ids
from tf_charagram.search._partitions.files import write_rows, write_table
from tf_charagram.search._partitions.job import Job

_FOLDER = "right"


def keep_cells(job: Job, number: int, part: int, table: Table) -> None:
    """Writes all cells of a part of an input of the right table."""
    path = job.path(_FOLDER, f"{number:05}-{part:05}.arrow")
    facts = {"num_rows": len(table), "names": table.columns}
    if _schema(job.right) is not None:
        write_table(path, table.as_arrow(), facts)
        return
    *lines, _ = table.as_json().split("\n")
    write_rows(path, [lines], facts)


def right_cells(job: Job, rows: Ids, *, is_typed: bool) -> Table:
    """Returns all cells of some right rows.

    Args:
        job: The job.
        rows: The rows, ascending.
        is_typed: Whether each column has one type: cells without types become texts.
    """
    files = job.row_files(_FOLDER)
    tables = files.tables(rows)
    schema = _schema(job.right)
    arrow = extra_module("pyarrow", "parquet")
    if schema is not None:
        every = [schema.empty_table(), *tables]
        found = arrow.concat_tables(every, promote_options="permissive")
        return Table(schema.names, found.columns, fields=list(schema))
    lines = chain.from_iterable(table.column(0).to_pylist() for table in tables)
    objects = list(map(json.loads, lines))
    names = list(dict.fromkeys(chain.from_iterable(facts["names"] for facts in files.facts)))
    cells: list[Any] = []
    for name in names:
        values = [row.get(name) for row in objects]
        if is_typed:
            values = arrow.array(map(_as_text, values), arrow.string())
        cells.append(values)
    return Table(names, cells)


def _as_text(value: Any) -> str | None:
    return None if value is None else written_text(value, "")


@lru_cache(maxsize=1)
def _schema(paths: tuple[str, ...]) -> Any:
    """Returns the schema of files of Parquet, or `None` if they have other formats or types."""
    if any(format_of(path) != PARQUET for path in paths):
        return None
    arrow = extra_module("pyarrow", "parquet")
    schemas = [open_parquet(path).schema_arrow for path in paths]
    try:
        return arrow.unify_schemas(schemas, promote_options="permissive")
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return None
