"""Counts of the n-grams of a stream of texts: exact, in bounded memory, in all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import tensorflow as tf

from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.count_store import CountStore
from tf_charagram.text.key_counts import KeyCounts, count_keys, sorted_counts
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
from tf_charagram.text.parallel import in_threads
from tf_charagram.text.selection import Selection
from tf_charagram.text.symbols import SPACE_SYMBOL, Alphabet
from tf_charagram.text.tensors import string_tensor
from tf_charagram.text.validation import check_orders, check_text_options

#: Most keys held in memory, unless told otherwise.
MAX_DISTINCT = 5_000_000
_NUM_CODE_POINTS = 0x110000
_BATCH_CHARS = 1_000_000


@dataclass(frozen=True)
class CountSettings:
    """How texts are read and which n-grams are counted; as for `NgramVocabulary.from_texts`."""

    orders: tuple[int, ...]
    lowercase: bool = True
    unicode_form: str | None = None
    max_chars: int | None = 10_000

    def __post_init__(self) -> None:
        """Checks the values."""
        object.__setattr__(self, "orders", check_orders(self.orders))
        check_text_options(self.lowercase, self.unicode_form, self.max_chars)

    @property
    def max_order(self) -> int:
        """The highest n-gram order."""
        return self.orders[-1]

    @property
    def bits(self) -> int:
        """Bits per symbol in exact keys."""
        return symbol_bits(self.max_order)

    def is_exact(self, alphabet: Alphabet) -> bool:
        """Returns whether exact keys can hold all characters of an alphabet."""
        return len(alphabet) <= Alphabet.capacity(self.bits)


class NgramCounts(NamedTuple):
    """Counts of n-grams.

    Attributes:
        alphabet: Their characters, and maybe others. Keys are exact if they can hold all of them,
            and mixed otherwise.
        order: The order of mixed keys. Exact ones are `padded_keys` of the highest order, which
            tell the n-grams of all orders.
        counted: The keys and their counts.
    """

    alphabet: Alphabet
    order: int
    counted: KeyCounts


def count_batch(
    texts: list[str], settings: CountSettings, known: Alphabet
) -> Iterable[NgramCounts]:
    """Counts the n-grams of some texts.

    Args:
        texts: The texts.
        settings: What is counted.
        known: The alphabet begins with it; where that is too large for exact keys, characters are
            not looked at.
    """
    codes, boundaries = decode(string_tensor(texts), settings.unicode_form)
    fold = normalized_code_points(settings.lowercase)
    # Code points past the table are normalized already.
    codes = codes.numpy()
    codes = np.where(codes < len(fold), fold.take(codes, mode="clip"), codes)
    alphabet = known
    if settings.is_exact(known):
        is_used = np.zeros(_NUM_CODE_POINTS, bool)
        is_used[codes] = True
        alphabet = known.extended(np.flatnonzero(is_used))
    if not settings.is_exact(alphabet):
        flat = collapse(tf.constant(codes), boundaries, SPACE, settings.max_chars)
        columns = ngram_keys(flat, settings.orders, None)[0].numpy().T
        # The last column is the unigrams of the spaces after the texts, where these are counted.
        orders = (*settings.orders, 1)
        return [
            NgramCounts(alphabet, order, count_keys(column[column > 0]))
            for order, column in zip(orders, columns, strict=False)
        ]
    symbols = alphabet.symbol_table(False).astype(np.int64)[codes]
    flat = collapse(tf.constant(symbols), boundaries, SPACE_SYMBOL, settings.max_chars)
    keys = padded_keys(flat, settings.max_order, settings.bits)[0].numpy()
    keys = keys[keys > 0]
    if 1 in settings.orders:
        spaces = np.full(np.count_nonzero(flat.ends > flat.starts), SPACE_SYMBOL)
        keys = np.append(keys, spaces << settings.bits * (settings.max_order - 1))
    return [NgramCounts(alphabet, settings.max_order, count_keys(keys))]


class NgramCounter:
    """Counts n-grams; to be closed, for it may hold a temporary file.

    The alphabet grows as characters appear. Once exact keys cannot hold it, all keys are mixed.

    Args:
        settings: What is counted.
        max_distinct: Most keys held in memory; see `CountStore`.
    """

    def __init__(self, settings: CountSettings, max_distinct: int = MAX_DISTINCT) -> None:
        self.settings = settings
        self._max_distinct = max_distinct
        self._alphabet = Alphabet()
        self._stores = {settings.max_order: CountStore(max_distinct)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for store in self._stores.values():
            store.close()

    @property
    def is_exact(self) -> bool:
        """Whether keys are exact."""
        return self.settings.is_exact(self._alphabet)

    def count(
        self, texts: Iterable[str], *, chunk_size: int = 10_000, num_threads: int | None = None
    ) -> None:
        """Counts the n-grams of a stream of texts.

        Args:
            texts: The texts, read once, in the thread of the caller.
            chunk_size: Texts counted at a time.
            num_threads: Threads that count; `None` for one per core.

        Raises:
            RunError: Counts that do not fit into memory cannot be written to disk.
        """

        def count(batch: list[str]) -> Iterable[NgramCounts]:
            # An earlier alphabet would do, too: it is what the later ones begin with.
            return count_batch(batch, self.settings, self._alphabet)

        batches = bounded_batches(texts, chunk_size, _BATCH_CHARS)
        for _, parts in in_threads(count, batches, num_threads):
            for part in parts:
                self.add(part)

    def add(self, part: NgramCounts) -> None:
        """Adds counts, with the same settings and any alphabet.

        Raises:
            RunError: As for `count`.
        """
        settings = self.settings
        if self.is_exact:
            self._extend(part.alphabet)
        if not settings.is_exact(part.alphabet):
            self._stores[part.order].add(part.counted)
        elif not self.is_exact:
            self._add_mixed(part)
        else:
            symbols = self._alphabet.symbols_of(part.alphabet)
            keys, counts = part.counted
            if (symbols != np.arange(len(symbols))).any():
                keys = renumbered_keys(keys, symbols, settings.bits, settings.max_order)
                keys, counts = sorted_counts(keys, counts)
            self._stores[part.order].add(KeyCounts(keys, counts))

    def _extend(self, other: Alphabet) -> None:
        """Adds characters to the alphabet, and mixes all keys when there are too many of them."""
        before, self._alphabet = self._alphabet, self._alphabet.extended(other.characters)
        if self.is_exact:
            return
        order = self.settings.max_order
        warn_of_mixed_keys(len(self._alphabet), order)
        exact = self._stores[order]
        self._stores = {order: CountStore(self._max_distinct) for order in self.settings.orders}
        for counted in exact.chunks():
            self._add_mixed(NgramCounts(before, order, counted))
        exact.close()

    def _add_mixed(self, part: NgramCounts) -> None:
        for order, (keys, counts) in self._by_order(part):
            digits = exact_digits(keys, self.settings.bits, order)
            mixed = mixed_keys(part.alphabet.code_points(digits))
            self._stores[order].add(sorted_counts(mixed, counts))

    def _by_order(self, part: NgramCounts) -> Iterator[tuple[int, KeyCounts]]:
        """Yields orders and the exact keys of their n-grams, ascending and with repeats."""
        bits, (keys, counts) = self.settings.bits, part.counted
        for order in self.settings.orders:
            prefixes = prefix_keys(keys, order, part.order, bits)
            exists = prefixes > 0
            yield order, KeyCounts(prefixes[exists], counts[exists])

    def parts(self) -> Iterator[NgramCounts]:
        """Yields all counts in parts that another counter can add."""
        for order, store in self._stores.items():
            for counted in store.chunks():
                yield NgramCounts(self._alphabet, order, counted)

    def chosen(
        self, min_count: int, max_per_order: int | None
    ) -> tuple[Alphabet | None, np.ndarray, np.ndarray]:
        """Returns the n-grams that are frequent enough.

        Args:
            min_count: Fewest occurrences an n-gram needs.
            max_per_order: Most n-grams of each order; the most frequent ones are kept.

        Returns:
            The alphabet in code point order, or `None` for mixed keys; the keys and their counts,
            both int64 `(size,)`, in the order of `NgramVocabulary.keys`.
        """
        bits, max_order = self.settings.bits, self.settings.max_order
        # Not the symbols to come: the space is before other characters there, not in code points.
        ranks = self._alphabet.ranks()

        def ranks_of(keys: np.ndarray) -> np.ndarray:
            return renumbered_keys(keys, ranks, bits, max_order) if self.is_exact else keys

        selections = {
            order: Selection(min_count, max_per_order, ranks_of) for order in self.settings.orders
        }
        for part in self.parts():
            for order, counted in self._by_order(part) if self.is_exact else [part[1:]]:
                selections[order].add(*counted)
        chosen = [selections.pop(order).chosen() for order in self.settings.orders]
        keys, counts = (np.concatenate(arrays) for arrays in zip(*chosen, strict=True))
        if not self.is_exact:
            return None, keys, counts
        alphabet, renumbered = self._alphabet.sorted()
        symbols = np.empty_like(renumbered)
        symbols[ranks] = renumbered
        return alphabet, renumbered_keys(keys, symbols, bits, max_order), counts
