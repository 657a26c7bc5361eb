"""Keys of rows: words, parts of words, values and pairs of them that few rows share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Ids, ranks
from tf_charagram.search._pairs.word_lists import WordHashes, WordLists
from tf_charagram.search._partitions.files import Counts
from tf_charagram.text._algorithm.arguments import distinct

Hashes = NDArray[np.uint64]
# A key is emitted if so many rows are expected to have it, by the counts of its two halves. More
# would compare rows that share little; in small tables, that costs nothing.
_MAX_EXPECTED = 5.0
_SMALL = 20_000
# Keys of a row, and its rarest words and values of which they are made.
_MAX_KEYS = 24
_MAX_SLOTS = 8
# Words of a value: others add little.
_MAX_WORDS = 12
# Letters at both ends of a word: an edit leaves one of them as it is. Words that differ in length
# by an edit have as many.
_PART = 4
_SHORT_PART = 3
_LONG_WORD = 6
# Rows whose keys are in memory at the same time.
_BATCH = 20_000
# Kinds of columns whose values have words.
_WITH_WORDS = ("text", "name")
# Columns of `Slots.atoms`.
_WHOLE, _VALUE, _HEAD, _TAIL = range(4)


class Slots(NamedTuple):
    """Words and values of rows, whole and in part.

    Attributes:
        rows: Rows, ascending, `(num_slots,)`.
        columns: The column of each; values and words of the same column are no two halves of a key.
        are_values: Whether it is a value, not a word of it.
        atoms: Hashes of the whole, its first letters and its last letters, `(num_slots, 3)`; 0 if
            it is short.
    """

    rows: Ids
    columns: Ids
    are_values: NDArray[np.bool_]
    atoms: Hashes

    def at(self, places: Ids | slice) -> Slots:
        """Returns some of them."""
        columns, are_values = self.columns[places], self.are_values[places]
        return Slots(self.rows[places], columns, are_values, self.atoms[places])


def mixed(values: Hashes, tag: int) -> Hashes:
    """Returns hashes that depend on a tag and whose sums say nothing (Steele, *SplitMix*, 2014)."""
    values = values + np.uint64((0x9E3779B97F4A7C15 * (tag + 1)) & (2**64 - 1))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


def value_hashes(values: Sequence[str], column: int) -> Hashes:
    """Returns a hash of each value of a column, the same in all processes."""
    return mixed(WordHashes.of_words(values).values, 4 * column + _VALUE)


def row_hashes(columns: Sequence[Sequence[str]]) -> Hashes:
    """Returns a hash of the values of each row; 0 if all are missing."""
    found = np.zeros(len(columns[0]), np.uint64)
    for number, cells in enumerate(columns):
        values, places = distinct(cells)
        hashes = value_hashes(values, number)
        hashes[[place for place, value in enumerate(values) if not value]] = 0
        found += hashes[places]
    return found


def slots_of(columns: Sequence[Sequence[str]], kinds: Sequence[str]) -> Slots:
    """Finds the words and values of rows.

    Args:
        columns: The values of each column, empty if missing.
        kinds: The kind of each column; `text` for lists of texts.
    """
    parts = []
    for number, (cells, kind) in enumerate(zip(columns, kinds, strict=True)):
        values, places = distinct(cells)
        if kind in _WITH_WORDS:
            lists = WordLists.of_bags([value.split()[:_MAX_WORDS] for value in values])
        else:
            lists = WordLists.of_bags([[value] if value else [] for value in values])
        # Given names and surnames may be swapped.
        tag = 4 * len(columns) if kind == "name" else 4 * number
        words = _atoms(lists.words, tag)
        lengths = np.diff(lists.splits)
        # The value comes first; a single word is the value.
        whole = np.zeros((len(values), 3), np.uint64)
        whole[:, 0] = value_hashes(values, number)
        is_single = lengths == 1
        whole[is_single, 1:] = words[lists.ids[lists.splits[:-1][is_single]], 1:]
        num_slots = np.where(lengths > 1, lengths + 1, lengths)[places]
        rows = np.repeat(np.arange(len(places)), num_slots)
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(num_slots) - num_slots, num_slots)
        starts = lists.splits[:-1][places][rows]
        # The rank of a value is 0; its words come after it.
        word = lists.ids[np.minimum(starts + np.maximum(rank - 1, 0), max(len(lists.ids) - 1, 0))]
        atoms = np.where((rank == 0)[:, np.newaxis], whole[places[rows]], words[word])
        parts.append(Slots(rows, np.full(len(rows), number), rank == 0, atoms))
    slots = Slots(*map(np.concatenate, zip(*parts, strict=True)))
    return slots.at(np.argsort(slots.rows, kind="stable"))


def _atoms(words: Sequence[str], tag: int) -> Hashes:
    """Returns the hashes of words, their first letters and their last letters, `(n, 3)`."""
    if not words:
        return np.zeros((1, 3), np.uint64)
    sizes = np.array([len(word) for word in words], np.int64)
    parts = np.where(sizes >= _LONG_WORD, _PART, _SHORT_PART).tolist()
    heads = [word[:part] for word, part in zip(words, parts, strict=True)]
    tails = [word[-part:] for word, part in zip(words, parts, strict=True)]
    found = [
        mixed(WordHashes.of_words(texts).values, tag + part)
        for texts, part in ((words, _WHOLE), (heads, _HEAD), (tails, _TAIL))
    ]
    atoms = np.stack(found, axis=1)
    atoms[sizes <= _SHORT_PART, 1:] = 0
    return atoms


def atom_counts(slots: Slots) -> tuple[Hashes, Ids]:
    """Returns the distinct atoms, ascending, and the number of rows with each."""
    order = np.argsort(slots.atoms, axis=None, kind="stable")
    atoms = slots.atoms.ravel()[order]
    rows = np.repeat(slots.rows, slots.atoms.shape[1])[order]
    # A row counts once, however often it has a word.
    is_new = np.ones(len(atoms), bool)
    is_new[1:] = (atoms[1:] != atoms[:-1]) | (rows[1:] != rows[:-1])
    keys, counts = np.unique(atoms[is_new & (atoms != 0)], return_counts=True)
    return keys, counts.astype(np.int64)


def keys_of(slots: Slots, counts: Counts, num_rows: int) -> tuple[Ids, Hashes]:
    """Chooses the keys of rows: the least special ones that few rows are expected to have.

    A key is a word, a value or a part of one, or two of them from different places. A key that
    another one of the row contains is left out: rows that share the one share the other.

    Args:
        slots: Words and values of rows.
        counts: How many rows have them.
        num_rows: Number of rows of all tables.

    Returns:
        Rows and keys.
    """
    if not len(slots.rows):
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    found_rows, found_keys = [], []
    distinct_rows, starts = np.unique(slots.rows, return_index=True)
    starts = np.append(starts, len(slots.rows))
    for first in range(0, len(distinct_rows), _BATCH):
        last = min(first + _BATCH, len(distinct_rows))
        own = slice(starts[first], starts[last])
        batch = slots.at(own)
        places = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        rows, keys = _batch_keys(batch, places, counts, num_rows)
        found_rows.append(distinct_rows[first + rows])
        found_keys.append(keys)
    return np.concatenate(found_rows), np.concatenate(found_keys)


def _batch_keys(slots: Slots, rows: Ids, counts: Counts, num_rows: int) -> tuple[Ids, Hashes]:
    numbers = counts.of(slots.atoms).sum(axis=-1).astype(np.float64)
    # What no other row has finds nothing.
    numbers[(numbers < 2) | (slots.atoms == 0)] = np.inf
    rarest = numbers.min(axis=1)
    order = np.lexsort((rarest, rows))
    rank = ranks(rows)
    is_kept = (rank < _MAX_SLOTS) & np.isfinite(rarest[order])
    order, rank = order[is_kept], rank[is_kept]
    num_found = int(rows.max()) + 1
    places = rows[order], rank
    shape = (num_found, _MAX_SLOTS)
    atoms = np.zeros((*shape, 3), np.uint64)
    atoms[places] = slots.atoms[order]
    expected = np.full((*shape, 3), np.inf)
    expected[places] = numbers[order]
    columns = np.full(shape, -1)
    columns[places] = slots.columns[order]
    are_values = np.zeros(shape, bool)
    are_values[places] = slots.are_values[order]
    found: list[tuple[Ids, Hashes, NDArray[np.float64]]] = []

    def emit(is_key: NDArray[np.bool_], keys: Hashes, numbers: NDArray[np.float64]) -> None:
        chosen = np.nonzero(is_key)
        found.append((chosen[0], keys[chosen], numbers[chosen]))

    max_expected = max(_MAX_EXPECTED, _SMALL / num_rows)
    alone = expected <= max_expected
    # Rows that share the whole share its parts.
    alone[..., 0] &= ~alone[..., 1:].any(axis=-1)
    # Keys that few rows are known to share come before pairs of keys.
    emit(alone, atoms, expected / num_rows**2)
    covered = alone.copy()
    covered[..., 0] |= alone[..., 1:].any(axis=-1)
    # Both ends of a word, for words that are misspelled in the middle.
    both = expected[..., 1] * expected[..., 2] / num_rows
    is_key = (both <= max_expected) & ~covered[..., 1:].any(axis=-1)
    emit(is_key, atoms[..., 1] + atoms[..., 2], both)
    for one, other in combinations(range(_MAX_SLOTS), 2):
        number = expected[:, one, :, np.newaxis] * expected[:, other, np.newaxis, :] / num_rows
        is_key = number <= max_expected
        is_key &= ~covered[:, one, :, np.newaxis] & ~covered[:, other, np.newaxis, :]
        is_part = columns[:, one] == columns[:, other]
        is_part &= are_values[:, one] | are_values[:, other]
        is_key[is_part] = False
        whole_covered = is_key[:, 1:, :].any(axis=(1, 2)) | is_key[:, :, 1:].any(axis=(1, 2))
        is_key[:, 0, 0] &= ~whole_covered
        is_key[:, 1:, 0] &= ~is_key[:, 1:, 1:].any(axis=2)
        is_key[:, 0, 1:] &= ~is_key[:, 1:, 1:].any(axis=1)
        emit(is_key, atoms[:, one, :, np.newaxis] + atoms[:, other, np.newaxis, :], number)
    rows, keys, numbers = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    order = np.lexsort((keys, numbers, rows))
    order = order[ranks(rows[order]) < _MAX_KEYS]
    return rows[order], keys[order]
