"""Counts of int64 keys: of one batch, and of many together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# A table of 2 MB stays in the cache of a core.
_MOST_SLOT_BITS = 18
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class KeyCounts(NamedTuple):
    """Distinct keys and how often each occurs.

    Attributes:
        keys: Ascending, int64 `(size,)`.
        counts: int64 `(size,)`.
    """

    keys: np.ndarray
    counts: np.ndarray

    def part(self, start: int | None, stop: int | None) -> KeyCounts:
        """Returns the counts at some positions."""
        return KeyCounts(self.keys[start:stop], self.counts[start:stop])

    def at_least(self, min_count: int) -> KeyCounts:
        """Returns the counts that are high enough."""
        kept = self.counts >= min_count
        return KeyCounts(self.keys[kept], self.counts[kept])


def count_keys(keys: np.ndarray) -> KeyCounts:
    """Counts keys in any order.

    Most occurrences are of few keys. So each slot of a hash table belongs to one of the keys that
    fall into it; those keys are counted without sorting, and only the others are sorted.

    Args:
        keys: Positive, int64 `(number,)`.
    """
    slot_bits = min(max(len(keys) // 4, 2).bit_length(), _MOST_SLOT_BITS)
    slots = ((keys.view(np.uint64) * _MULTIPLIER) >> np.uint64(64 - slot_bits)).view(np.int64)
    owners = np.zeros(1 << slot_bits, np.int64)
    owners[slots] = keys
    is_owner = owners[slots] == keys
    slot_counts = np.bincount(slots[is_owner], minlength=len(owners))
    used = np.flatnonzero(slot_counts)
    others, other_counts = np.unique(keys[~is_owner], return_counts=True)
    return sorted_counts(
        np.concatenate([owners[used], others]), np.concatenate([slot_counts[used], other_counts])
    )


def sorted_counts(keys: np.ndarray, counts: np.ndarray) -> KeyCounts:
    """Sorts keys, and adds up the counts of equal ones."""
    # A stable sort merges parts that are sorted, instead of sorting all again.
    order = np.argsort(keys, kind="stable")
    return grouped(KeyCounts(keys[order], counts[order]))


def grouped(counted: KeyCounts) -> KeyCounts:
    """Adds up the counts of neighbouring keys that are equal."""
    keys, counts = counted
    if not len(keys):
        return counted
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return KeyCounts(keys[firsts], np.add.reduceat(counts, firsts))


def merged(parts: Sequence[KeyCounts]) -> KeyCounts:
    """Adds up several counts."""
    keys, counts = zip(*parts, strict=True)
    return sorted_counts(np.concatenate(keys), np.concatenate(counts))
