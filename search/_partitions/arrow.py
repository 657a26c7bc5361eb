"""`RowFunctions`: keys, probabilities and groups over batches of Arrow, for engines of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram.errors import ConfigError
from tf_charagram.search._pairs.average_linkage import average_linkage, group_numbers
from tf_charagram.search._pairs.flat_arrays import numbered, paired
from tf_charagram.search._partitions.comparing import ColumnComparison, Pairs
from tf_charagram.search._partitions.files import COUNTS, Counts, records_of
from tf_charagram.search._partitions.keys import atom_counts, keys_of, slots_of
from tf_charagram.search.linkage._columns.columns import cells_of
from tf_charagram.search.linkage.linker import Linker


class RowFunctions:
    """Three functions with which DuckDB, Polars or Spark deduplicate the rows of one table.

    The engine joins the keys, drops keys that many rows have, and runs `compare` on the pairs.

    Args:
        linker: A linker with weights, as `deduplicate_files` writes it to `linker.json`.
        sample: Rows of the table, drawn at random, in which words and values are counted.
        num_rows: Number of rows of the whole table.

    Raises:
        ConfigError: The linker has no weights, or the sample lacks a column.
    """

    def __init__(self, linker: Linker, sample: Any, num_rows: int) -> None:
        if linker.mixture is None:
            raise ConfigError("Call `linker.fit` first, or load a linker that was fitted.")
        self.on = linker.on
        self.threshold = linker.threshold
        cells = self._cells(sample, "")
        present = [num_rows] * len(self.on)
        kinds = dict(linker.kinds)
        mixture = linker.mixture.for_tables(2 / max(num_rows - 1, 1))
        settings = kinds, linker.identifies, present, self.threshold, mixture
        comparison = ColumnComparison(self.on, [cells], *settings)
        self._comparison = comparison
        values = comparison.values(cells, 0)
        keys, counts = atom_counts(slots_of(values, comparison.kinds))
        # What the sample lacks may be in so many rows as it stands for.
        num_sampled = max(len(values[0]), 1)
        factor = max(num_rows / num_sampled, 1.0)
        numbers = np.ceil(counts * factor).astype(np.int64)
        records = records_of(COUNTS, keys, numbers, np.zeros_like(numbers))
        self._counts = Counts(records, unknown=int(np.ceil(factor)))
        self._num_rows = num_rows

    def keys(self, batch: Any) -> Any:
        """Returns the keys of rows.

        Args:
            batch: A batch or table of Arrow with a column `row`, numbers from 0, and the columns
                that are compared.

        Returns:
            A table with the columns `row` and `key`, int64.
        """
        values = self._comparison.values(self._cells(batch, ""), 0)
        slots = slots_of(values, self._comparison.kinds)
        places, keys = keys_of(slots, self._counts, self._num_rows)
        rows = np.array(batch.column("row").to_pylist(), np.int64)
        return _table({"row": rows[places], "key": keys.view(np.int64)})

    def compare(self, batch: Any) -> Any:
        """Returns the probabilities of pairs of rows.

        Args:
            batch: A batch or table of Arrow with the columns `left_row` and `right_row`, and both
                values of each compared column, as `left_city` and `right_city`.

        Returns:
            A table with the columns `left_row`, `right_row` and `probability`.
        """
        sides = []
        for name in _SIDES:
            cells = self._cells(batch, f"{name}_")
            sides.append(self._comparison.values(cells, 0))
        values = [[*left, *right] for left, right in zip(*sides, strict=True)]
        rows = np.arange(batch.num_rows)
        chunk = Pairs(values, paired(rows, rows + batch.num_rows))
        found = self._comparison.probabilities(chunk, self._counts)
        columns = {name: batch.column(name) for name in _ROWS}
        return _table({**columns, "probability": found})

    def group(self, pairs: Any) -> Any:
        """Returns the groups of the rows that are in pairs.

        Args:
            pairs: A table with the columns of `compare`, each pair of rows once.

        Returns:
            A table with the columns `row` and `group`, the first row of the group.
        """
        left, right = (np.array(pairs.column(name).to_pylist(), np.int64) for name in _ROWS)
        scores = np.array(pairs.column("probability").to_pylist(), np.float64)
        rows, places = numbered(paired(left, right).ravel())
        places = np.sort(places.reshape(-1, 2), axis=1)
        linkage = average_linkage(len(rows), places, scores, self.threshold)
        numbers = group_numbers("average", linkage, places, scores, self.threshold)
        _, firsts = np.unique(numbers, return_index=True)
        return _table({"row": rows, "group": rows[firsts][numbers]})

    def _cells(self, table: Any, prefix: str) -> Sequence[Sequence[str]]:
        names = getattr(table, "schema", None)
        if names is not None:
            table = {name: table.column(name).to_pylist() for name in names.names}
        return [cells_of(table, f"{prefix}{name}", "batch") for name in self.on]


_SIDES = ("left", "right")
_ROWS = ("left_row", "right_row")


def _table(columns: dict[str, Any]) -> Any:
    return extra_module("pyarrow", "parquet").table(columns)
