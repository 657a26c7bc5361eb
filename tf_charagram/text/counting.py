"""Counts the n-grams of any amount of text: exactly, in bounded memory, on all cores.

Threads count batches of texts, and their counts are merged in memory. Counts that do not fit are
spilled to a temporary file as sorted runs, which are merged as a stream at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, NamedTuple, Self

import numpy as np
import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.text.batches import bounded_batches, in_threads
from tf_charagram.text.keys import (
    exact_digits,
    mixed_keys,
    ngram_keys,
    padded_keys,
    prefix_keys,
    renumbered_keys,
    symbol_bits,
    warn_of_mixed_keys,
)
from tf_charagram.text.normalize import SPACE, collapse, decode, normalized_code_points
from tf_charagram.text.symbols import SPACE_SYMBOL, Alphabet
from tf_charagram.text.tensors import string_tensor

#: Default number of distinct keys held in memory.
MAX_DISTINCT = 5_000_000
_NUM_CODE_POINTS = 0x110000
_BATCH_TEXTS, _BATCH_CHARS = 10_000, 1_000_000
# A table of 2 MB stays in the cache of a core.
_MAX_SLOT_BITS = 18
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
        """Returns a slice."""
        return KeyCounts(self.keys[start:stop], self.counts[start:stop])


def count_keys(keys: np.ndarray) -> KeyCounts:
    """Counts positive int64 keys in any order.

    Most occurrences are of few keys. So each slot of a hash table belongs to one of the keys that
    hash to it; those keys are counted without sorting, and only the others are sorted.
    """
    slot_bits = min(max(len(keys) // 4, 2).bit_length(), _MAX_SLOT_BITS)
    slots = ((keys.view(np.uint64) * _MULTIPLIER) >> np.uint64(64 - slot_bits)).view(np.int64)
    owners = np.zeros(1 << slot_bits, np.int64)
    owners[slots] = keys
    is_owner = owners[slots] == keys
    slot_counts = np.bincount(slots[is_owner], minlength=len(owners))
    used = np.flatnonzero(slot_counts)
    others, other_counts = np.unique(keys[~is_owner], return_counts=True)
    return _summed([KeyCounts(owners[used], slot_counts[used]), KeyCounts(others, other_counts)])


def _summed(parts: Sequence[KeyCounts]) -> KeyCounts:
    """Adds up counts whose keys are in any order."""
    keys, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    # A stable sort merges sorted parts instead of sorting everything again.
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    if not len(keys):
        return KeyCounts(keys, counts)
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return KeyCounts(keys[firsts], np.add.reduceat(counts, firsts))


class CountStore:
    """Adds up counts exactly, in bounded memory.

    Counts that do not fit are spilled to an unnamed temporary file, which vanishes with the
    process, in the folder of `tempfile` (`TMPDIR`).

    Args:
        max_distinct: Maximum number of keys held in memory: 16 bytes each, about 60 while merging.
    """

    def __init__(self, max_distinct: int) -> None:
        self._max_distinct = max_distinct
        self._held: list[KeyCounts] = []
        self._num_held = 0
        self._file: IO[bytes] | None = None
        self._run_sizes: list[int] = []

    def add(self, counted: KeyCounts) -> None:
        """Adds counts.

        Raises:
            RunError: They cannot be spilled, for instance because the disk is full.
        """
        self._held.append(counted)
        self._num_held += len(counted.keys)
        if self._num_held > self._max_distinct:
            self._merge()
            # With less than half of the room left, the next counts would soon be merged again.
            if self._num_held > self._max_distinct // 2:
                self._spill()

    def chunks(self) -> Iterator[KeyCounts]:
        """Yields all counts, each key once, in ascending order.

        Raises:
            RunError: As for `add`.
        """
        self._merge()
        if self._file is None:
            yield from self._held
            return
        if self._held:
            self._spill()
        runs, start = [], 0
        numbers = np.memmap(self._file, np.int64, "r").view(np.ndarray)
        for size in self._run_sizes:
            runs.append(KeyCounts(*numbers[start : start + 2 * size].reshape(2, size)))
            start += 2 * size
        at_a_time = max(1, self._max_distinct // len(runs))
        while runs:
            heads = [run.part(None, at_a_time) for run in runs]
            # All keys up to this one have been read from every run.
            last_key = min(head.keys[-1] for head in heads)
            stops = [int(np.searchsorted(head.keys, last_key, side="right")) for head in heads]
            yield _summed([run.part(None, stop) for run, stop in zip(runs, stops, strict=True)])
            runs = [run.part(stop, None) for run, stop in zip(runs, stops, strict=True)]
            runs = [run for run in runs if len(run.keys)]

    def close(self) -> None:
        """Discards all counts and the temporary file."""
        self._held, self._num_held = [], 0
        if self._file is not None:
            self._file.close()
            self._file, self._run_sizes = None, []

    def _merge(self) -> None:
        if len(self._held) > 1:
            self._held = [_summed(self._held)]
            self._num_held = len(self._held[0].keys)

    def _spill(self) -> None:
        """Writes a run: its keys, then their counts."""
        [run], self._held, self._num_held = self._held, [], 0
        if not len(run.keys):
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="charagram-counts-")
            for array in run:
                # Not np.tofile, which hides the reason of a failure.
                self._file.write(np.ascontiguousarray(array, np.int64).data)
            self._file.flush()
        except OSError as error:
            raise RunError(
                f"Cannot write n-gram counts to {tempfile.gettempdir()}: "
                f"{error.strerror or error}. Free some space there, or set TMPDIR to a folder on a "
                "larger disk."
            ) from error
        self._run_sizes.append(len(run.keys))


class _Batch(NamedTuple):
    """Texts as normalized code points, see `decode`; `alphabet` is `None` for mixed keys."""

    codes: np.ndarray
    boundaries: tf.Tensor
    alphabet: Alphabet | None


class NgramCounter:
    """Counts n-grams; to be used in a `with` statement, because it may hold a temporary file.

    The alphabet grows as characters appear. Once exact keys cannot hold it, all keys are mixed.

    Args:
        orders: Ascending n-gram orders.
        lowercase: As for `NgramVocabulary.from_texts`, like the other arguments.
        unicode_form: As there.
        max_chars: As there.
        max_distinct: As there.
    """

    def __init__(
        self,
        orders: tuple[int, ...],
        lowercase: bool,
        unicode_form: str | None,
        max_chars: int | None,
        max_distinct: int,
    ) -> None:
        self._orders, self._max_order = orders, orders[-1]
        self._bits = symbol_bits(self._max_order)
        self._fold = normalized_code_points(lowercase)
        self._unicode_form, self._max_chars = unicode_form, max_chars
        self._max_distinct = max_distinct
        self._alphabet = Alphabet()
        self._is_exact = True
        # Exact keys of the highest order hold the n-grams of all orders; mixed ones do not.
        self._stores = {self._max_order: CountStore(max_distinct)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for store in self._stores.values():
            store.close()

    def count(self, texts: Iterable[str]) -> None:
        """Counts the n-grams of a stream of texts, which the calling thread reads.

        Raises:
            RunError: Counts that do not fit into memory cannot be written to disk.
        """
        batches = map(self._decoded, bounded_batches(texts, _BATCH_TEXTS, _BATCH_CHARS))
        for batch, parts in in_threads(self._counted, batches):
            for order, counted in parts:
                if batch.alphabet is not None and not self._is_exact:
                    self._add_mixed(counted)
                else:
                    self._stores[order].add(counted)

    def _decoded(self, texts: list[str]) -> _Batch:
        """Decodes texts, and adds their characters to the alphabet."""
        codes, boundaries = decode(string_tensor(texts), self._unicode_form)
        codes = codes.numpy()
        # Code points past the table are normalized already.
        codes = np.where(codes < len(self._fold), self._fold.take(codes, mode="clip"), codes)
        if self._is_exact:
            is_used = np.zeros(_NUM_CODE_POINTS, bool)
            is_used[codes] = True
            alphabet = self._alphabet.extended(np.flatnonzero(is_used))
            if len(alphabet) <= Alphabet.capacity(self._bits):
                self._alphabet = alphabet
            else:
                self._mix(len(alphabet))
        return _Batch(codes, boundaries, self._alphabet if self._is_exact else None)

    def _counted(self, batch: _Batch) -> list[tuple[int, KeyCounts]]:
        """Counts the n-grams of a batch; exact ones as those of the highest order."""
        if batch.alphabet is None:
            flat = collapse(tf.constant(batch.codes), batch.boundaries, SPACE, self._max_chars)
            columns = ngram_keys(flat, self._orders, None)[0].numpy().T
            # With unigrams, the last column is that of the spaces after the texts.
            orders = (*self._orders, 1)
            return [
                (order, count_keys(column[column > 0]))
                for order, column in zip(orders, columns, strict=False)
            ]
        symbols = batch.alphabet.symbol_table(False).astype(np.int64)[batch.codes]
        flat = collapse(tf.constant(symbols), batch.boundaries, SPACE_SYMBOL, self._max_chars)
        keys = padded_keys(flat, self._max_order, self._bits)[0].numpy()
        keys = keys[keys > 0]
        if 1 in self._orders:
            spaces = np.full(np.count_nonzero(flat.ends > flat.starts), SPACE_SYMBOL)
            keys = np.append(keys, spaces << self._bits * (self._max_order - 1))
        return [(self._max_order, count_keys(keys))]

    def _mix(self, num_characters: int) -> None:
        """Replaces all exact keys by mixed ones."""
        warn_of_mixed_keys(num_characters, self._max_order)
        exact = self._stores[self._max_order]
        self._stores = {order: CountStore(self._max_distinct) for order in self._orders}
        self._is_exact = False
        for counted in exact.chunks():
            self._add_mixed(counted)
        exact.close()

    def _add_mixed(self, counted: KeyCounts) -> None:
        """Adds the counts of exact keys as mixed ones."""
        for order in self._orders:
            keys, counts = self._prefixes(counted, order)
            digits = exact_digits(keys, self._bits, order)
            mixed = mixed_keys(self._alphabet.code_points(digits))
            self._stores[order].add(_summed([KeyCounts(mixed, counts)]))

    def _prefixes(self, counted: KeyCounts, order: int) -> KeyCounts:
        """Returns the n-grams of an order that exact keys begin with, ascending with repeats."""
        prefixes = prefix_keys(counted.keys, order, self._max_order, self._bits)
        exists = prefixes > 0
        return KeyCounts(prefixes[exists], counted.counts[exists])

    def chosen(
        self, min_count: int, max_per_order: int | None
    ) -> tuple[Alphabet | None, np.ndarray, np.ndarray]:
        """Selects the n-grams that are frequent enough.

        Args:
            min_count: Minimum number of occurrences of an n-gram.
            max_per_order: Maximum number of n-grams of each order; the most frequent ones are kept.

        Returns:
            The alphabet in code point order, or `None` for mixed keys; the keys and their counts,
            both int64 `(size,)`, in the order of `NgramVocabulary.keys`.
        """
        # Not the sorted symbols, because the space always comes first among these.
        ranks = self._alphabet.ranks()

        def ranks_of(keys: np.ndarray) -> np.ndarray:
            return self._renumbered(keys, ranks) if self._is_exact else keys

        parts = [
            most_frequent(self._of_order(order), min_count, max_per_order, ranks_of)
            for order in self._orders
        ]
        keys, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if not self._is_exact:
            return None, keys, counts
        alphabet, renumbered = self._alphabet.sorted()
        symbols = np.empty_like(renumbered)
        symbols[ranks] = renumbered
        return alphabet, self._renumbered(keys, symbols), counts

    def _renumbered(self, keys: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        return renumbered_keys(keys, symbols, self._bits, self._max_order)

    def _of_order(self, order: int) -> Iterator[KeyCounts]:
        """Yields the counts of an order; keys ascend, and equal ones may follow each other."""
        if not self._is_exact:
            yield from self._stores[order].chunks()
            return
        for counted in self._stores[self._max_order].chunks():
            yield self._prefixes(counted, order)


def most_frequent(
    parts: Iterable[KeyCounts],
    min_count: int,
    max_size: int | None,
    ranks_of: Callable[[np.ndarray], np.ndarray],
) -> KeyCounts:
    """Returns the ranks of the most frequent keys of a stream and their counts, by count.

    Args:
        parts: Counts; keys ascend from part to part, and the counts of equal ones are summed.
        min_count: Minimum count of a key.
        max_size: Maximum number of keys, or `None`.
        ranks_of: Maps keys to distinct ranks; of two equally frequent keys, the one with the lower
            rank comes first.
    """
    empty = np.zeros(0, np.int64)
    best = last = KeyCounts(empty, empty)
    kept: list[KeyCounts] = [best]
    num_kept = 0

    def sorted_best() -> KeyCounts:
        ranks, counts = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
        kept.clear()  # May be most of the memory.
        order = np.lexsort((ranks, -counts))[:max_size]
        return KeyCounts(ranks[order], counts[order])

    for part in chain(parts, [None]):
        # The next part may begin with the last key of this one.
        summed = last if part is None else _summed([last, part])
        complete = summed.part(None, None if part is None else -1)
        last = summed.part(-1, None)
        frequent = complete.counts >= min_count
        kept.append(KeyCounts(ranks_of(complete.keys[frequent]), complete.counts[frequent]))
        num_kept += int(np.count_nonzero(frequent))
        if max_size is not None and num_kept > 2 * max_size:
            kept.append(sorted_best())
            num_kept = max_size
    return sorted_best()
