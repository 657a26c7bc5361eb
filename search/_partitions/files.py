"""Files of the steps: sorted records, of which a range is read, and rows as Arrow tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.json_files import read_json, write_json
from tf_charagram._files.writing import whole_file
from tf_charagram.search._pairs.flat_arrays import Ids, paired, pairs_of_keys, places_in, runs_of

#: Key and row; key and counts in both tables; pair of rows as one integer, and weight or score.
KEYS = np.dtype([("key", "<u8"), ("row", "<u4")])
COUNTS = np.dtype([("key", "<u8"), ("left", "<u4"), ("right", "<u4")])
PAIRS = np.dtype([("key", "<u8"), ("value", "<f4")])


def records_of(dtype: np.dtype[Any], *columns: NDArray[Any]) -> NDArray[Any]:
    """Returns columns as records, sorted by their keys; equal keys stay in order."""
    order = np.argsort(columns[0], kind="stable")
    records = np.empty(len(order), dtype)
    for name, column in zip(dtype.names or (), columns, strict=True):
        records[name] = column[order]
    return records


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Writes an array, whole or not at all."""
    array = np.ascontiguousarray(array)
    with whole_file(path) as file:
        header = np.lib.format.header_data_from_array_1_0(array)
        np.lib.format.write_array_header_1_0(file, header)
        # `np.save` would lose the reason why a file cannot be written.
        file.write(array.tobytes())


def load_array(path: Path) -> NDArray[Any]:
    """Opens an array; it is read where it is used."""
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array


def load_arrays(paths: Iterable[Path], dtype: Any) -> NDArray[Any]:
    """Returns arrays of a type, one after the other."""
    return np.concatenate([np.zeros(0, dtype), *map(load_array, paths)])


def read_range(paths: Iterable[Path], dtype: np.dtype[Any], first: int, last: int) -> NDArray[Any]:
    """Returns the records with keys from `first` to before `last`, by key, then by file."""
    parts = [np.zeros(0, dtype)]
    for path in paths:
        records = np.load(path, mmap_mode="r", allow_pickle=False)
        keys = records["key"]
        # `searchsorted` would copy all keys.
        start, stop = bisect_left(keys, first), bisect_left(keys, last)
        parts.append(np.array(records[start:stop]))
    return by_key(parts)


def summed(records: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """Adds up some columns of records with equal keys; `records` are sorted."""
    starts, _ = runs_of(records["key"])
    found = records[starts]
    if len(starts):
        for name in names:
            found[name] = np.add.reduceat(records[name], starts)
    return found


class Counts:
    """Rows with each value, word or part of a word, of both tables.

    Args:
        records: Records of `COUNTS`, sorted.
        unknown: Rows of the left table with anything else. Default: 0, as one row has it alone.
    """

    def __init__(self, records: NDArray[Any], unknown: int = 0) -> None:
        self._keys = np.ascontiguousarray(records["key"])
        # The last row is of all other keys.
        left = np.append(records["left"].astype(np.int64), unknown)
        right = np.append(records["right"].astype(np.int64), 0)
        self._counts = paired(left, right)

    def of(self, keys: NDArray[np.uint64]) -> Ids:
        """Returns the counts of keys, `(..., 2)`."""
        return self._counts[places_in(self._keys, keys)]


class RowFiles:
    """Rows of both tables as texts, a column per column, in files of some rows each.

    Args:
        folder: Folder of the files, with a `.json` for each that has its number of rows.
    """

    def __init__(self, folder: Path) -> None:
        self._arrow = extra_module("pyarrow", "parquet")
        self.facts = [read_json(path) for path in sorted(folder.glob("*.json"))]
        self.paths = sorted(folder.glob("*.arrow"))
        num_rows = [facts["num_rows"] for facts in self.facts]
        self.starts = np.cumsum([0, *num_rows])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def read(self, number: int) -> Any:
        """Returns a file as a table of Arrow that stays on disk."""
        mapped = self._arrow.memory_map(str(self.paths[number]))
        return self._arrow.ipc.open_file(mapped).read_all()

    def cells(self, number: int) -> list[list[str]]:
        """Returns the columns of a file."""
        return [column.to_pylist() for column in self.read(number).columns]

    def take(self, rows: Ids) -> list[list[str]]:
        """Returns the columns of some rows; `rows` is ascending."""
        tables = self.tables(rows)
        if not tables:
            return [[] for _ in self.read(0).columns]
        found = self._arrow.concat_tables(tables)
        return [column.to_pylist() for column in found.columns]

    def tables(self, rows: Ids) -> list[Any]:
        """Returns some rows of each file that has any, as tables of Arrow; `rows` is ascending."""
        bounds = np.searchsorted(rows, self.starts)
        tables = []
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            start, stop = bounds[number : number + 2]
            own = rows[start:stop] - self.starts[number]
            tables.append(self.read(number).take(self._arrow.array(own)))
        return tables


def pairs_in(records: NDArray[Any], num_rows: int) -> Ids:
    """Returns the rows of records of `PAIRS`, `(num_pairs, 2)`."""
    return pairs_of_keys(records["key"].astype(np.int64), num_rows)


def by_key(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Joins records, sorted by their keys; equal keys stay in order."""
    records = np.concatenate(parts)
    return records[np.argsort(records["key"], kind="stable")]


def write_rows(path: Path, columns: Sequence[Sequence[str]], facts: dict[str, Any]) -> None:
    """Writes rows of texts as a file of Arrow."""
    arrow = extra_module("pyarrow", "parquet")
    cells = [arrow.array(column, arrow.large_string()) for column in columns]
    names = list(map(str, range(len(columns))))
    write_table(path, arrow.table(cells, names=names), facts)


def write_table(path: Path, table: Any, facts: dict[str, Any]) -> None:
    """Writes a table of Arrow; `facts` follow in a `.json`, which says that it is done."""
    arrow = extra_module("pyarrow", "parquet")
    with whole_file(path) as file, arrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    write_json(path.with_suffix(".json"), facts)
