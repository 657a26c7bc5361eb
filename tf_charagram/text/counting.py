"""Counts of the n-grams of a stream of texts, in bounded memory."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.text.batches import to_bytes
from tf_charagram.text.keys import (
    exact_digits,
    join_digits,
    mixed_keys,
    ngram_keys,
    symbol_bits,
    warn_of_mixed_keys,
)
from tf_charagram.text.normalize import SPACE, collapse, decode, normalized_code_points
from tf_charagram.text.symbols import SPACE_SYMBOL, Alphabet
from tf_charagram.text.validation import check_orders

logger = logging.getLogger(__name__)


class NgramCounter:
    """Counts n-grams chunk by chunk; the alphabet grows as characters appear.

    Args are those of `NgramVocabulary.from_texts`.
    """

    def __init__(
        self,
        orders: Sequence[int],
        lowercase: bool,
        unicode_form: str | None,
        max_chars: int | None,
        max_distinct: int,
    ) -> None:
        self.orders = check_orders(orders)
        self._fold = normalized_code_points(lowercase)
        self._unicode_form = unicode_form
        self._max_chars = max_chars
        self._max_distinct = max_distinct
        self._alphabet: Alphabet | None = Alphabet()
        self._bits: int | None = symbol_bits(self.orders[-1])
        self._counts = {order: _KeyCounts() for order in self.orders}

    def add(self, texts: list[str]) -> None:
        """Counts the n-grams of some texts."""
        codes, boundaries = decode(
            tf.constant([to_bytes(text) for text in texts]),
            self._unicode_form,
        )
        codes = codes.numpy()
        in_table = codes < len(self._fold)
        codes[in_table] = self._fold[codes[in_table]]
        self._grow(codes)
        symbols, space = codes, SPACE
        if self._alphabet is not None:
            symbols, space = self._alphabet.symbol_table(False)[codes], SPACE_SYMBOL
        flat = collapse(tf.constant(symbols), boundaries, space, self._max_chars)
        keys, _ = ngram_keys(flat, self.orders, self._bits)
        for order, column in zip((*self.orders, 1), keys.numpy().T, strict=False):
            self._counts[order].add(column[column > 0])
        held = self._counts.values()
        # Keys that wait to be merged may be there already, so they count only once merged.
        if sum(map(len, held)) > self._max_distinct < sum(len(counts.keys) for counts in held):
            self._prune()

    def _grow(self, codes: np.ndarray) -> None:
        """Adds new characters to the alphabet, or switches to mixed keys when it overflows."""
        if self._alphabet is None or self._bits is None:
            return
        self._alphabet = self._alphabet.extended(np.unique(codes))
        if len(self._alphabet) <= Alphabet.capacity(self._bits):
            return
        warn_of_mixed_keys(len(self._alphabet), self.orders[-1])
        for order, counts in self._counts.items():
            digits = exact_digits(counts.keys, self._bits, order)
            counts.replace_keys(mixed_keys(self._alphabet.code_points(digits)))
        self._alphabet = self._bits = None

    def _prune(self) -> None:
        floor = 1
        while sum(map(len, self._counts.values())) > self._max_distinct // 2:
            floor += 1
            for counts in self._counts.values():
                counts.drop_below(floor)
        logger.warning(
            "More than %d distinct n-grams: those seen fewer than %d times so far are forgotten, "
            "so counts of rare n-grams are too low.", self._max_distinct, floor,
        )  # fmt: skip

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
        alphabet, renumbered = (self._alphabet or Alphabet()).sorted()
        all_keys, all_counts = [], []
        for order in self.orders:
            keys, counts = self._counts[order].keys, self._counts[order].counts
            kept = np.flatnonzero(counts >= min_count)
            keys, counts = keys[kept], counts[kept]
            ties = [keys]
            if self._bits is not None:
                digits = renumbered[exact_digits(keys, self._bits, order)]
                keys = join_digits(digits, self._bits)
                ties = list(alphabet.code_points(digits).T[::-1])
            first = np.lexsort((*ties, -counts))[:max_per_order]
            all_keys.append(keys[first])
            all_counts.append(counts[first])
        exact = alphabet if self._bits is not None else None
        return exact, np.concatenate(all_keys), np.concatenate(all_counts)


class _KeyCounts:
    """Sorted distinct keys with their counts; new keys wait until there are enough to merge."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int64)
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self._num_waiting = 0

    def __len__(self) -> int:
        return len(self._keys) + self._num_waiting

    @property
    def keys(self) -> np.ndarray:
        self._merge()
        return self._keys

    @property
    def counts(self) -> np.ndarray:
        self._merge()
        return self._counts

    def add(self, keys: np.ndarray) -> None:
        self._waiting.append(np.unique(keys, return_counts=True))
        self._num_waiting += len(self._waiting[-1][0])
        if self._num_waiting > max(len(self._keys) // 2, 1_000_000):
            self._merge()

    def replace_keys(self, keys: np.ndarray) -> None:
        order = np.argsort(keys)
        self._keys, self._counts = keys[order], self.counts[order]

    def drop_below(self, floor: int) -> None:
        kept = self.counts >= floor
        self._keys, self._counts = self._keys[kept], self._counts[kept]

    def _merge(self) -> None:
        if not self._waiting:
            return
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._waiting)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._waiting)])
        self._waiting, self._num_waiting = [], 0
        self._keys, inverse = np.unique(keys, return_inverse=True)
        self._counts = np.bincount(inverse, counts, len(self._keys)).astype(np.int64)
