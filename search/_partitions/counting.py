"""The first steps: rows are read, brought to the form that is compared, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress, pairwise
from typing import cast

import numpy as np

from tf_charagram._files.json_files import write_json
from tf_charagram.search._pairs.flat_arrays import NO_IDS
from tf_charagram.search._partitions.comparing import ColumnComparison
from tf_charagram.search._partitions.files import (
    COUNTS,
    load_arrays,
    read_range,
    records_of,
    save_array,
    summed,
    write_rows,
)
from tf_charagram.search._partitions.job import (
    FIRST_ROWS,
    ROW_STATISTICS,
    Job,
    comparison_of,
    first_rows_of,
)
from tf_charagram.search._partitions.keys import atom_counts, row_hashes, slots_of
from tf_charagram.search._partitions.right_rows import keep_cells
from tf_charagram.search.statistics import TextStatistics

# Rows from which kinds of columns are told.
_NUM_SAMPLED = 20_000


def read(job: Job, number: int) -> None:
    """Reads the compared columns of an input into files of rows."""
    on = job.on_of(number)
    for part, table in enumerate(job.tables(number)):
        cells = [table.text_of(on)] if job.is_text else list(map(table.column, on))
        path = job.path("cells", f"{number:05}-{part:05}.arrow")
        write_rows(path, cells, {"num_rows": len(table)})
        if number >= len(job.left):
            keep_cells(job, number, part, table)
    write_json(job.path("read", f"{number:05}.json"), {})


def sample(job: Job, number: int) -> None:
    """Chooses rows, at equal distances, from which the kinds of columns are told."""
    files = job.row_files("cells")
    first, last = list(pairwise([0, *job.ends]))[number]
    step = max((last - first) // _NUM_SAMPLED, 1)
    columns = files.take(np.arange(first, last, step))
    write_rows(job.path("sample", f"{number}.arrow"), columns, {"num_rows": len(columns[0])})


def count(job: Job, number: int) -> None:
    """Brings rows to the form that is compared; counts their words and values."""
    files = job.row_files("cells")
    comparison = comparison_of(job)
    side = job.side_of(number)
    cells = files.cells(number)
    values = comparison.values(cells, side)
    save_array(job.file("hashes", number), row_hashes(values))
    if job.right:
        # Of equal rows, those that are the same to the letter belong together.
        first = comparison.text_number or 0
        save_array(job.file("same", number), row_hashes(cells[first : first + 1]))
    keys, numbers = atom_counts(slots_of(comparison.words(values), comparison.kinds))
    sides = [np.zeros_like(numbers), np.zeros_like(numbers)]
    sides[side] = numbers
    save_array(job.file("counts", number), records_of(COUNTS, keys, *sides))
    if job.is_text:
        _save_statistics(job, "words", number, values[0])
    facts = {
        "num_rows": len(values[0]),
        "num_present": [sum(map(bool, column)) for column in values],
    }
    write_rows(job.path("rows", f"{number:05}.arrow"), values, facts)


def merge_counts(job: Job, number: int) -> None:
    """Adds up the counts of a range of words and values; single rows are left out."""
    first, last = job.bounds(number, 2**64)
    records = read_range(job.files("counts"), COUNTS, first, last)
    counted = summed(records, ("left", "right"))
    num_rows = counted["left"].astype(np.int64) + counted["right"]
    is_shared = num_rows > 1
    save_array(job.file("counted", number), counted[is_shared])


def merge_words(job: Job, number: int) -> None:
    """Adds up the counts of words, and finds the first of equal rows."""
    if job.is_text:
        _merge_statistics(job, "words", "statistics.npz")
    hashes = load_arrays(job.files("hashes"), np.uint64)
    first = np.arange(len(hashes), dtype=np.uint32)
    for start, stop in pairwise([0, *job.ends]):
        _, firsts, places = np.unique(hashes[start:stop], return_index=True, return_inverse=True)
        first[start:stop] = firsts[places] + start
    # Rows without values are not equal.
    is_empty = hashes == 0
    first[is_empty] = np.flatnonzero(is_empty)
    save_array(job.path(FIRST_ROWS), first)


def _save_statistics(job: Job, folder: str, number: int, texts: Sequence[str]) -> None:
    path = job.path(folder, f"{number:05}.npz")
    path.unlink(missing_ok=True)
    TextStatistics.of_texts(texts).save(path)


def _merge_statistics(job: Job, folder: str, merged: str) -> None:
    """Adds up the counts of a folder."""
    paths = sorted(job.path(folder).glob("*.npz"))
    words = TextStatistics.of_texts([])
    for path in paths:
        part = TextStatistics.load(path)
        part = replace(part, hashes=part.hashes[:0], hash_counts=part.hash_counts[:0])
        words = TextStatistics.merged([words, part])
    # Joined words that no text has are most, and tell nothing.
    parts = [words]
    for path in paths:
        part = TextStatistics.load(path)
        is_word = np.isin(part.hashes, words.word_hashes)
        joined = part.hashes[is_word], part.hash_counts[is_word]
        parts.append(TextStatistics(0, [], NO_IDS, *joined))
    job.path(merged).unlink(missing_ok=True)
    TextStatistics.merged(parts).save(job.path(merged))


def num_told_rows(job: Job) -> int:
    """Returns the number of files of rows that are compared as a whole; 0 if they are not."""
    comparison = comparison_of(job)
    if isinstance(comparison, ColumnComparison) and comparison.telling:
        return len(job.row_files("cells").paths)
    return 0


def count_wholes(job: Job, number: int) -> None:
    """Counts the words of rows as a whole, once for equal rows; in all rows if they are a text."""
    comparison = cast(ColumnComparison, comparison_of(job))
    texts = comparison.texts_of(job.row_files("cells").cells(number))
    start, stop = job.row_files().starts[number : number + 2]
    is_counted = first_rows_of(job)[start:stop] == np.arange(start, stop)
    is_counted |= comparison.text_number is not None
    _save_statistics(job, "row_words", number, list(compress(texts, is_counted)))
    save_array(job.file("row_hashes", number), row_hashes([texts]))


def merge_wholes(job: Job, number: int) -> None:
    """Adds up the words of rows as a whole."""
    _merge_statistics(job, "row_words", ROW_STATISTICS)
