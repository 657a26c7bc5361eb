"""Counts the n-grams of any amount of text, exactly and on all cores.

Threads count batches of texts, whose counts are then added up. Memory grows only with the number of
distinct n-grams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram.text._algorithm import graph
from tf_charagram.text._algorithm.batches import bounded_batches, in_threads
from tf_charagram.text._algorithm.code_points import SPACE, normalized_code_points
from tf_charagram.text._algorithm.flat import collapse, decode
from tf_charagram.text._algorithm.keys import (
    exact_digits,
    mixed_keys,
    ngram_keys,
    padded_keys,
    prefix_keys,
    renumbered_keys,
    warn_of_mixed_keys,
)
from tf_charagram.text._algorithm.tensors import string_tensor
from tf_charagram.text.alphabet import SPACE_SYMBOL, Alphabet, symbol_bits

# Counts up to this number are merged only at the end.
_MIN_HELD = 5_000_000
_NUM_CODE_POINTS = 0x110000
_BATCH_TEXTS = 10_000
_BATCH_CHARS = 1_000_000
# A table of 2 MB stays in the cache of a core.
_MAX_SLOT_BITS = 18
# 2^64 divided by the golden ratio spreads keys well (Knuth, volume 3, section 6.4).
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class KeyCounts(NamedTuple):
    """Distinct keys and how often each occurs.

    Attributes:
        keys: Ascending, int64 `(size,)`.
        counts: int64 `(size,)`.
    """

    keys: np.ndarray
    counts: np.ndarray


def count_keys(keys: np.ndarray) -> KeyCounts:
    """Counts positive int64 keys in any order.

    Most occurrences are of few keys. So each slot of a hash table belongs to one of the keys that
    hash to it; those keys are counted without sorting, and only the others are sorted.
    """
    num_wanted = max(len(keys) // 4, 2)
    wanted_bits = num_wanted.bit_length()
    slot_bits = min(wanted_bits, _MAX_SLOT_BITS)
    num_slots = 1 << slot_bits
    hashes = keys.view(np.uint64) * _MULTIPLIER
    # The highest bits depend on all bits of a key.
    high_bits = hashes >> np.uint64(64 - slot_bits)
    slots = high_bits.view(np.int64)
    # The last key that is written to a slot owns it.
    owners = np.zeros(num_slots, np.int64)
    owners[slots] = keys
    is_owner = owners[slots] == keys
    slot_counts = np.bincount(slots[is_owner], minlength=num_slots)
    used = np.flatnonzero(slot_counts)
    owned = KeyCounts(owners[used], slot_counts[used])
    other_keys, other_counts = np.unique(keys[~is_owner], return_counts=True)
    others = KeyCounts(other_keys, other_counts)
    return _summed([owned, others])


def _summed(parts: Sequence[KeyCounts]) -> KeyCounts:
    """Adds up counts whose keys are in any order."""
    keys, counts = _concatenated(parts)
    # A stable sort merges sorted parts instead of sorting everything again.
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    counts = counts[order]
    is_first = np.ones(len(keys), bool)
    is_first[1:] = keys[1:] != keys[:-1]
    firsts = np.flatnonzero(is_first)
    sums = np.add.reduceat(counts, firsts)
    return KeyCounts(keys[firsts], sums)


def _concatenated(parts: Sequence[KeyCounts]) -> KeyCounts:
    keys = np.concatenate([part.keys for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    return KeyCounts(keys, counts)


class _Sum:
    """Adds up counts, in amortized linear time: merges them when their number has doubled."""

    def __init__(self) -> None:
        self._parts: list[KeyCounts] = []
        self._num_held = 0
        self._max_held = _MIN_HELD

    def add(self, counted: KeyCounts) -> None:
        """Adds counts."""
        self._parts.append(counted)
        self._num_held += len(counted.keys)
        if self._num_held > self._max_held:
            self._num_held = len(self.total().keys)
            self._max_held = max(2 * self._num_held, _MIN_HELD)

    def total(self) -> KeyCounts:
        """Returns all counts, each key once, in ascending order."""
        empty = np.zeros(0, np.int64)
        parts = self._parts or [KeyCounts(empty, empty)]
        total = _summed(parts)
        self._parts = [total]
        return total


class _Batch(NamedTuple):
    """A batch of texts as normalized code points.

    Attributes:
        codes: Code points with a space before each text and after the last, int32
            `(num_symbols,)`.
        boundaries: The positions of those spaces, int32 `(batch + 1,)`.
        alphabet: The alphabet of its exact keys; `None` for mixed keys.
    """

    codes: np.ndarray
    boundaries: tf.Tensor
    alphabet: Alphabet | None


class NgramCounter:
    """Counts n-grams.

    The alphabet grows as characters appear. Once exact keys cannot hold it, all keys are mixed.

    Args:
        orders: Ascending n-gram orders.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form such as `"NFKC"`, applied first, or `None`.
        max_chars: Texts are truncated after this many characters, unless `None`.
    """

    def __init__(
        self,
        orders: tuple[int, ...],
        lowercase: bool,
        unicode_form: str | None,
        max_chars: int | None,
    ) -> None:
        self._orders = orders
        self._max_order = orders[-1]
        self._bits = symbol_bits(self._max_order)
        self._fold = normalized_code_points(lowercase)
        self._unicode_form = unicode_form
        self._max_chars = max_chars
        self._alphabet = Alphabet()
        self._is_exact = True
        # Exact keys of the highest order hold the n-grams of all orders; mixed ones do not.
        self._sums = {self._max_order: _Sum()}

    def count(self, texts: Iterable[str]) -> None:
        """Counts the n-grams of a stream of texts, which the calling thread reads."""
        batches_of_texts = bounded_batches(texts, _BATCH_TEXTS, _BATCH_CHARS)
        batches = map(self._decoded, batches_of_texts)
        for batch, parts in in_threads(self._counted, batches):
            # Other threads may have counted exact keys when the alphabet became too large.
            must_mix = batch.alphabet is not None and not self._is_exact
            for order, counted in parts:
                if must_mix:
                    self._add_mixed(counted)
                else:
                    self._sums[order].add(counted)

    @on_cpu
    def _decoded(self, texts: list[str]) -> _Batch:
        """Decodes texts, and adds their characters to the alphabet."""
        codes, boundaries = decode(graph, string_tensor(texts), self._unicode_form)
        codes = codes.numpy()
        folded = self._fold.take(codes, mode="clip")
        # Code points past the table are normalized already.
        codes = np.where(codes < len(self._fold), folded, codes)
        if self._is_exact:
            self._extend_alphabet(codes)
        alphabet = self._alphabet if self._is_exact else None
        return _Batch(codes, boundaries, alphabet)

    def _extend_alphabet(self, codes: np.ndarray) -> None:
        """Adds characters to the alphabet, or mixes all keys if exact keys cannot hold them."""
        # Sorting the code points would take longer than a flag for each.
        is_used = np.zeros(_NUM_CODE_POINTS, bool)
        is_used[codes] = True
        alphabet = self._alphabet.extended(np.flatnonzero(is_used))
        if len(alphabet) <= Alphabet.capacity(self._bits):
            self._alphabet = alphabet
        else:
            self._mix(len(alphabet))

    @on_cpu
    def _counted(self, batch: _Batch) -> list[tuple[int, KeyCounts]]:
        """Counts the n-grams of a batch.

        Returns:
            Pairs of an order and the counts of its n-grams. Exact keys are all counted with the
            highest order, whose n-grams begin with the shorter ones.
        """
        if batch.alphabet is None:
            return self._counted_mixed(batch)
        return [(self._max_order, self._counted_exact(batch, batch.alphabet))]

    def _counted_mixed(self, batch: _Batch) -> list[tuple[int, KeyCounts]]:
        flat = collapse(
            graph,
            tf.constant(batch.codes),
            batch.boundaries,
            SPACE,
            self._max_chars,
        )
        keys, _ = ngram_keys(graph, flat, self._orders, None)
        columns = keys.numpy().T
        # With unigrams, there is another column for the spaces after the texts.
        orders = (*self._orders, 1)
        parts = []
        for order, column in zip(orders, columns, strict=False):
            counted = count_keys(column[column > 0])
            parts.append((order, counted))
        return parts

    def _counted_exact(self, batch: _Batch, alphabet: Alphabet) -> KeyCounts:
        table = alphabet.symbol_table(False).astype(np.int64)
        symbols = table[batch.codes]
        flat = collapse(
            graph,
            tf.constant(symbols),
            batch.boundaries,
            SPACE_SYMBOL,
            self._max_chars,
        )
        padded, _ = padded_keys(graph, flat, self._max_order, self._bits)
        keys = padded.numpy()
        keys = keys[keys > 0]
        if 1 in self._orders:
            # No n-gram begins with the space after a text, which is a unigram nevertheless.
            has_space = flat.ends > flat.starts
            num_spaces = np.count_nonzero(has_space)
            num_padded = self._max_order - 1
            space = SPACE_SYMBOL << self._bits * num_padded
            keys = np.append(keys, np.full(num_spaces, space))
        return count_keys(keys)

    def _mix(self, num_characters: int) -> None:
        """Replaces all exact keys by mixed ones."""
        warn_of_mixed_keys(num_characters, self._max_order)
        exact = self._sums[self._max_order].total()
        self._sums = {order: _Sum() for order in self._orders}
        self._is_exact = False
        self._add_mixed(exact)

    def _add_mixed(self, counted: KeyCounts) -> None:
        """Adds the counts of exact keys as mixed ones."""
        for order in self._orders:
            keys, counts = self._prefixes(counted, order)
            digits = exact_digits(keys, self._bits, order)
            codes = self._alphabet.code_points(digits)
            mixed = KeyCounts(mixed_keys(codes), counts)
            self._sums[order].add(_summed([mixed]))

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
        alphabet, symbols = self._alphabet.sorted()
        parts = []
        for order in self._orders:
            keys, counts = self._of_order(order)
            if self._is_exact:
                keys = renumbered_keys(keys, symbols, self._bits, self._max_order)
            counted = KeyCounts(keys, counts)
            parts.append(_most_frequent(counted, min_count, max_per_order))
        keys, counts = _concatenated(parts)
        if not self._is_exact:
            return None, keys, counts
        return alphabet, keys, counts

    def _of_order(self, order: int) -> KeyCounts:
        """Returns the counts of the n-grams of an order, each key once, in ascending order."""
        if not self._is_exact:
            return self._sums[order].total()
        longest = self._sums[self._max_order].total()
        return _summed([self._prefixes(longest, order)])


def _most_frequent(counted: KeyCounts, min_count: int, max_size: int | None) -> KeyCounts:
    """Returns the most frequent keys, at most `max_size`, by descending count and then by key."""
    is_frequent = counted.counts >= min_count
    keys = counted.keys[is_frequent]
    counts = counted.counts[is_frequent]
    order = np.lexsort((keys, -counts))
    chosen = order[:max_size]
    return KeyCounts(keys[chosen], counts[chosen])
