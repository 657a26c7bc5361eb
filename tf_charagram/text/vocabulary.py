"""The n-gram vocabulary V: which n-grams have a row, and how it is counted from texts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.text.batches import bounded_batches, to_bytes
from tf_charagram.text.growing import common_keys, joined
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

_CHUNK_CHARS = 2_000_000


class NgramVocabulary:
    """The n-grams that have an embedding, one row each (Charagram, section 3, the set V).

    Attributes:
        orders: Ascending n-gram orders.
        alphabet: Characters the keys are made of, or `None` when the texts have more characters
            than exact keys can hold and keys are 64-bit mixes.
        keys: int64 `(size,)`; row `i` belongs to `keys[i]`. By order, then most frequent first,
            then in code point order (for mixed keys: by key). What a vocabulary grew by comes last,
            in the same order.
        counts: How often each n-gram occurred in the texts, int64 `(size,)`.
    """

    def __init__(
        self,
        orders: Sequence[int],
        alphabet: Alphabet | None,
        keys: np.ndarray,
        counts: np.ndarray,
    ) -> None:
        self.orders = check_orders(orders)
        self.alphabet = alphabet
        self.keys = np.asarray(keys, np.int64)
        self.counts = np.asarray(counts, np.int64)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def bits(self) -> int | None:
        """Bits a symbol in exact keys; `None` for mixed keys."""
        return None if self.alphabet is None else symbol_bits(self.orders[-1])

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        orders: Sequence[int] = (2, 3, 4),
        min_count: int = 1,
        max_per_order: int | None = None,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 10_000,
        max_distinct: int = 20_000_000,
        chunk_size: int = 10_000,
    ) -> NgramVocabulary:
        """Counts the n-grams of texts in one pass.

        Args:
            texts: The texts, each counted as often as it comes; read once, as a stream.
            orders: n-gram orders, 1 to 8 in any combination.
            min_count: Fewest occurrences an n-gram needs.
            max_per_order: Keep only this many of each order, the most frequent ones.
            lowercase: Lower-case the texts.
            unicode_form: `None`, or a form such as `"NFKC"` applied before all else.
            max_chars: Texts are cut after so many characters.
            max_distinct: Bound on memory: when more distinct n-grams than this are held, the
                rarest are forgotten (lossy counting) and a warning says so. 16 bytes each.
            chunk_size: Texts counted at a time.

        Raises:
            ConfigError: An argument is out of range, or no n-gram is left.
        """
        if min_count < 1:
            raise ConfigError(f"`min_count` must be at least 1. Received: min_count={min_count}")
        if max_per_order is not None and max_per_order < 1:
            raise ConfigError(
                f"`max_per_order` must be at least 1 or None. Received: {max_per_order}"
            )
        counter = _NgramCounter(orders, lowercase, unicode_form, max_chars, max_distinct)
        for chunk in bounded_batches(texts, chunk_size, _CHUNK_CHARS):
            counter.add(chunk)
        vocabulary = counter.vocabulary(min_count, max_per_order)
        if not len(vocabulary):
            raise ConfigError(
                f"The texts have no n-gram of orders {list(counter.orders)} that occurs "
                f"{min_count} times or more. Lower `min_count` or give more texts."
            )
        return vocabulary

    def ngrams(self) -> list[str]:
        """Returns the n-gram of each row; mixed keys cannot be undone and give `"#<hex key>"`."""
        if self.alphabet is None or self.bits is None:
            return [f"#{key:016x}" for key in self.keys.tolist()]
        digits = exact_digits(self.keys, self.bits, self.orders[-1])
        codes = self.alphabet.code_points(digits)
        return ["".join(map(chr, row[digit > 0])) for row, digit in zip(codes, digits, strict=True)]

    def grown(self, other: NgramVocabulary) -> tuple[NgramVocabulary, np.ndarray]:
        """Returns this vocabulary followed by the n-grams of another that it does not have.

        Counts are summed. Where exact keys cannot hold the characters of both, all are mixed, and a
        warning says so.

        Returns:
            The grown vocabulary, and the row in it of each row of this one, int64 `(size,)`: the
            same, unless two n-grams have one mixed key, about once in 10^7 large vocabularies.

        Raises:
            ConfigError: The n-gram orders differ.
        """
        if self.orders != other.orders:
            raise ConfigError(
                "A vocabulary grows by one of the same n-gram orders only. "
                f"Received: orders {list(self.orders)} and {list(other.orders)}"
            )
        alphabet, keys, other_keys = common_keys(
            self.orders[-1], self.keys, self.alphabet, other.keys, other.alphabet
        )
        keys, rows = joined(keys, other_keys)
        counts = np.bincount(rows, np.concatenate([self.counts, other.counts])).astype(np.int64)
        return NgramVocabulary(self.orders, alphabet, keys, counts), rows[: len(self)]

    def prefixes(self) -> np.ndarray | None:
        """Returns the row of the longest known n-gram that each one begins with, int64 `(size,)`.

        The n-gram itself does not count; -1 where there is none. `None` for mixed keys, which do
        not tell what an n-gram begins with.
        """
        if self.bits is None:
            return None
        by_key = np.argsort(self.keys)
        keys = self.keys[by_key]
        found = np.full(len(self), -1)
        num_symbols = np.count_nonzero(exact_digits(self.keys, self.bits, self.orders[-1]), axis=1)
        for order in self.orders:  # A longer one found later takes the place of a shorter.
            longer = np.flatnonzero(num_symbols > order)
            beginnings = self.keys[longer] >> self.bits * (num_symbols[longer] - order)
            places = np.minimum(np.searchsorted(keys, beginnings), len(keys) - 1)
            is_known = keys[places] == beginnings
            found[longer[is_known]] = by_key[places[is_known]]
        return found

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the vocabulary as named arrays; `from_arrays` is the way back."""
        arrays = {"orders": np.array(self.orders), "keys": self.keys, "counts": self.counts}
        if self.alphabet is not None:
            arrays["alphabet"] = self.alphabet.characters
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> NgramVocabulary:
        """Restores what `to_arrays` returned."""
        alphabet = Alphabet(arrays["alphabet"]) if "alphabet" in arrays else None
        return cls(arrays["orders"].tolist(), alphabet, arrays["keys"], arrays["counts"])


class _NgramCounter:
    """Counts keys chunk by chunk; the alphabet grows as characters appear."""

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
        """Takes new characters into the alphabet, or gives exact keys up when they overflow."""
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

    def vocabulary(self, min_count: int, max_per_order: int | None) -> NgramVocabulary:
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
        return NgramVocabulary(
            self.orders, exact, np.concatenate(all_keys), np.concatenate(all_counts)
        )


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
