"""Keys of rows: words, parts of words, values and pairs of them that few rows share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import (
    NO_IDS,
    Array,
    Flags,
    Ids,
    are_first,
    lengths_of,
    list_numbers,
    numbered,
    ranks,
    stable_order,
    taken,
)
from tf_charagram.search._pairs.word_lists import WordHashes, WordLists
from tf_charagram.search._partitions.files import Counts
from tf_charagram.text._algorithm.arguments import distinct
from tf_charagram.text._algorithm.arrays import positions

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
# Rows with fewer keys get some of frequent values, of up to so many values each. Of 100,000 made-up
# people, twice as many pairs are compared if all rows get some, and no more matches are found.
_FEW_KEYS = 16
_MAX_VALUES = 3
_NUM_FREQUENT = 3
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
    are_values: Flags
    atoms: Hashes

    def at(self, places: Ids | slice) -> Slots:
        """Returns some of them."""
        return Slots(*taken(self, places))


def mixed(values: Hashes, tag: int) -> Hashes:
    """Returns hashes that depend on a tag and whose sums say nothing (Steele, *SplitMix*, 2014)."""
    step = 0x9E3779B97F4A7C15 * (tag + 1)
    values = values + np.uint64(step % 2**64)
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
        # Given names and surnames may be swapped.
        tag = 4 * len(columns) if kind == "name" else 4 * number
        slots = _slots_of_values(values, number, tag, has_words=kind in _WITH_WORDS)
        splits = np.searchsorted(slots.rows, np.arange(len(values) + 1))
        starts = splits[places]
        stops = splits[places + 1]
        own = slots.at(positions(starts, stops))
        parts.append(own._replace(rows=list_numbers(stops - starts)))
    slots = Slots(*map(np.concatenate, zip(*parts, strict=True)))
    return slots.at(stable_order(slots.rows))


def _slots_of_values(values: Sequence[str], number: int, tag: int, *, has_words: bool) -> Slots:
    """Finds the words of distinct values; a value comes first, and a single word is the value."""
    if has_words:
        lists = WordLists.of_bags([value.split()[:_MAX_WORDS] for value in values])
    else:
        lists = WordLists.of_bags([[value] if value else [] for value in values])
    num_words = lengths_of(lists.splits)
    rows = list_numbers(np.where(num_words > 1, num_words + 1, num_words))
    rank = ranks(rows)
    is_value = rank == 0
    word = lists.splits[rows] + np.maximum(rank - 1, 0)
    atoms = _atoms(lists.words, tag)[lists.ids[word]]
    atoms[is_value & (num_words[rows] > 1)] = 0
    atoms[is_value, _WHOLE] = value_hashes(values, number)[rows[is_value]]
    return Slots(rows, np.full(len(rows), number), is_value, atoms)


def _atoms(words: Sequence[str], tag: int) -> Hashes:
    """Returns the hashes of words, their first letters and their last letters, `(n, 3)`."""
    sizes = np.array([len(word) for word in words], np.int64)
    parts = np.where(sizes >= _LONG_WORD, _PART, _SHORT_PART).tolist()
    heads = []
    tails = []
    for word, part in zip(words, parts, strict=True):
        heads.append(word[:part])
        tails.append(word[-part:])
    found = []
    for texts, part in ((words, _WHOLE), (heads, _HEAD), (tails, _TAIL)):
        hashes = WordHashes.of_words(texts).values
        found.append(mixed(hashes, tag + part))
    atoms = np.stack(found, axis=1)
    atoms[sizes <= _SHORT_PART, 1:] = 0
    return atoms


def atom_counts(slots: Slots) -> tuple[Hashes, Ids]:
    """Returns the distinct atoms, ascending, and the number of rows with each."""
    order = np.argsort(slots.atoms, axis=None, kind="stable")
    atoms = slots.atoms.ravel()[order]
    rows = np.repeat(slots.rows, slots.atoms.shape[1])[order]
    # A row counts once, however often it has a word.
    is_new = are_first(atoms) | are_first(rows)
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
    found_rows = [NO_IDS]
    found_keys = [np.zeros(0, np.uint64)]
    distinct_rows, numbers = numbered(slots.rows)
    for first in range(0, len(distinct_rows), _BATCH):
        start, stop = np.searchsorted(numbers, [first, first + _BATCH])
        own = slice(start, stop)
        rarest = _rarest(slots.at(own), numbers[own] - first, counts)
        special = _special_keys(rarest, num_rows)
        found_rows.append(distinct_rows[first + special.rows])
        found_keys.append(special.keys)
    return np.concatenate(found_rows), np.concatenate(found_keys)


class _Rarest(NamedTuple):
    """The rarest slots of rows, as many of each row.

    Attributes:
        atoms: Hashes, `(num_rows, num_slots, 3)`.
        expected: Number of rows with each, infinite for an atom that finds nothing.
        columns: The columns of the slots, `(num_rows, num_slots)`, -1 for no slot.
        are_values: Whether they are values, not words.
    """

    atoms: Hashes
    expected: Array
    columns: Ids
    are_values: Flags

    def at(self, rows: Ids) -> _Rarest:
        """Returns the slots of some rows."""
        return _Rarest(*taken(self, rows))


def _rarest(slots: Slots, rows: Ids, counts: Counts) -> _Rarest:
    """Chooses the rarest slots of each row; `rows` counts from 0."""
    numbers = counts.of(slots.atoms).sum(axis=-1).astype(np.float64)
    # A value that no other row has finds nothing.
    numbers[(numbers < 2) | (slots.atoms == 0)] = np.inf
    rarest = numbers.min(axis=1)
    order = np.lexsort((rarest, rows))
    rank = ranks(rows)
    is_kept = (rank < _MAX_SLOTS) & np.isfinite(rarest[order])
    own = order[is_kept]
    places = rows[own], rank[is_kept]
    shape = (int(rows[-1]) + 1, _MAX_SLOTS)
    found = _Rarest(
        np.zeros((*shape, 3), np.uint64),
        np.full((*shape, 3), np.inf),
        np.full(shape, -1),
        np.zeros(shape, bool),
    )
    chosen = slots.at(own)
    found.atoms[places] = chosen.atoms
    found.expected[places] = numbers[own]
    found.columns[places] = chosen.columns
    found.are_values[places] = chosen.are_values
    return found


class _Keys(NamedTuple):
    """Keys of rows, and the number of rows that are expected to have each."""

    rows: Ids
    keys: Hashes
    expected: Array

    @classmethod
    def where(cls, is_key: Flags, keys: Hashes, expected: Array) -> _Keys:
        """Chooses keys; rows are the first axis."""
        rows, *_ = places = np.nonzero(is_key)
        return cls(rows, keys[places], expected[places])

    @classmethod
    def best(cls, parts: Sequence[_Keys], num_keys: int) -> _Keys:
        """Chooses so many keys of each row, those that the fewest rows have; rows are ascending."""
        rows, keys, expected = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((keys, expected, rows))
        order = order[ranks(rows[order]) < num_keys]
        return cls(rows[order], keys[order], expected[order])


def _special_keys(slots: _Rarest, num_rows: int) -> _Keys:
    """Returns the keys that few of the rows of all tables are expected to have."""
    atoms, expected, _, _ = slots
    max_expected = max(_MAX_EXPECTED, _SMALL / num_rows)
    is_alone = expected <= max_expected
    has_part = is_alone[..., 1:].any(axis=-1)
    # Rows that share the whole share its parts.
    is_alone[..., _WHOLE] &= ~has_part
    # Keys that few rows are known to share come before pairs of keys.
    by_chance = expected / num_rows**2
    alone = _Keys.where(is_alone, atoms, by_chance)
    is_covered = is_alone.copy()
    is_covered[..., _WHOLE] |= has_part
    # Both ends of a word, for words that are misspelled in the middle.
    of_ends = expected[..., 1] * expected[..., 2] / num_rows
    is_rare = of_ends <= max_expected
    is_key = is_rare & ~has_part
    ends = _Keys.where(is_key, atoms[..., 1] + atoms[..., 2], of_ends)
    found = [alone, ends]
    for one, other in combinations(range(_MAX_SLOTS), 2):
        found.append(_keys_of_two(slots, one, other, is_covered, max_expected, num_rows))
    num_keys = np.bincount(np.concatenate([each.rows for each in found]), minlength=len(atoms))
    own = _keys_of_frequent(slots, max_expected, num_rows)
    is_frequent = own.expected > max_expected
    is_needed = (ranks(own.rows) < _NUM_FREQUENT) & (num_keys[own.rows] < _FEW_KEYS)
    found.append(_Keys(*taken(own, is_needed | ~is_frequent)))
    return _Keys.best(found, _MAX_KEYS)


def _keys_of_frequent(slots: _Rarest, max_expected: float, num_rows: int) -> _Keys:
    """Returns keys of up to three values or words that are frequent, alone and two together.

    Rows with such values only have no other keys. Of the rows that share a key which is still
    frequent, each is paired with the next ones. Lists of frequent words are told by three of them.
    """
    expected = slots.expected[..., _WHOLE]
    atoms = slots.atoms[..., _WHOLE]
    found = []
    for size in range(1, _MAX_VALUES + 1):
        for places in map(list, combinations(range(_MAX_SLOTS), size)):
            is_key = np.isfinite(expected[:, places]).all(axis=1)
            for one, other in combinations(places, 2):
                is_key &= ~_is_part(slots, one, other)
            rows = np.flatnonzero(is_key)
            counts = expected[rows][:, places]
            numbers = num_rows * (counts / num_rows).prod(axis=1)
            # Without the most frequent value, and with all of a few, it is no other key.
            most = counts.max(axis=1) / num_rows
            is_frequent = numbers / most > max_expected
            if size < _MAX_VALUES:
                is_frequent &= numbers > max_expected
            rows = rows[is_frequent]
            keys = atoms[rows][:, places].sum(axis=1, dtype=np.uint64)
            found.append(_Keys(rows, keys, numbers[is_frequent]))
    return _Keys.best(found, _MAX_KEYS)


def _is_part(slots: _Rarest, one: int, other: int) -> Flags:
    """Tells rows of which one of two slots is a value and the other one its word."""
    is_part: Flags = slots.columns[:, one] == slots.columns[:, other]
    return is_part & (slots.are_values[:, one] | slots.are_values[:, other])


def _keys_of_two(
    slots: _Rarest,
    one: int,
    other: int,
    is_covered: Flags,
    max_expected: float,
    num_rows: int,
) -> _Keys:
    """Returns the keys of two slots, each whole or in part, that few rows should have."""

    def first(values: NDArray[Any]) -> NDArray[Any]:
        return values[:, one, :, np.newaxis]

    def second(values: NDArray[Any]) -> NDArray[Any]:
        return values[:, other, np.newaxis]

    expected = first(slots.expected) * second(slots.expected) / num_rows
    is_key = expected <= max_expected
    is_key &= ~(first(is_covered) | second(is_covered))
    is_key[_is_part(slots, one, other)] = False
    # Rows that share more share these parts.
    parts = is_key[:, 1:, 1:]
    is_key[:, 1:, _WHOLE] &= ~parts.any(axis=2)
    is_key[:, _WHOLE, 1:] &= ~parts.any(axis=1)
    is_less = is_key.reshape(len(is_key), -1)[:, 1:]
    is_key[:, _WHOLE, _WHOLE] &= ~is_less.any(axis=1)
    return _Keys.where(is_key, first(slots.atoms) + second(slots.atoms), expected)
