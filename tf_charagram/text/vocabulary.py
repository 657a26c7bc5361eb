"""The n-gram vocabulary V: which n-grams have a row, and how it is counted from texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tf_charagram.errors import ConfigError
from tf_charagram.text.counting import MAX_DISTINCT, CountSettings, NgramCounter
from tf_charagram.text.growing import common_keys, joined
from tf_charagram.text.keys import (
    exact_digits,
    join_digits,
    mixed_keys,
    symbol_bits,
    warn_of_mixed_keys,
)
from tf_charagram.text.symbols import Alphabet
from tf_charagram.text.tensors import decoded, texts_of
from tf_charagram.text.validation import check_counting, check_orders


class NgramVocabulary:
    """The n-grams that have an embedding, one row each (Charagram, section 3, the set V).

    Attributes:
        orders: Ascending n-gram orders.
        alphabet: Characters the keys are made of, or `None` when the texts have more characters
            than exact keys can hold and keys are 64-bit mixes.
        keys: int64 `(size,)`; row `i` belongs to `keys[i]`. By order, then most frequent first,
            then in code point order (for mixed keys: by key). What a vocabulary has grown by comes
            last, in the same order.
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
        """Bits per symbol in exact keys; `None` for mixed keys."""
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
        max_distinct: int = MAX_DISTINCT,
        chunk_size: int = 10_000,
        num_threads: int | None = None,
    ) -> NgramVocabulary:
        """Counts the n-grams of texts in one pass, exactly, in bounded memory.

        What does not fit into memory is spilled to a temporary file in the folder of `tempfile`,
        which `TMPDIR` sets. Memory grows only with the vocabulary that is chosen.

        Args:
            texts: The texts, each counted as often as it comes; read once, as a stream.
            orders: n-gram orders, 1 to 8 in any combination.
            min_count: Fewest occurrences an n-gram needs.
            max_per_order: Keep only this many of each order, the most frequent ones.
            lowercase: Lower-case the texts.
            unicode_form: `None`, or a form such as `"NFKC"` applied before all else.
            max_chars: Texts are truncated after this many characters.
            max_distinct: Distinct n-grams of the highest order held in memory, about 60 bytes
                each; more are spilled.
            chunk_size: Texts counted at a time.
            num_threads: Threads that count; `None` for one per core. The result is the same.

        Raises:
            ConfigError: An argument is out of range, `texts` is a single string, or no n-gram is
                left.
            RunError: Counts cannot be spilled, for instance because the disk is full.
        """
        texts = texts_of(texts, "texts")
        check_counting(
            min_count, max_per_order=max_per_order, max_distinct=max_distinct,
            num_threads=num_threads, chunk_size=chunk_size,
        )  # fmt: skip
        settings = CountSettings(check_orders(orders), lowercase, unicode_form, max_chars)
        with NgramCounter(settings, max_distinct) as counter:
            counter.count(texts, chunk_size=chunk_size, num_threads=num_threads)
            return cls.from_counter(counter, min_count, max_per_order)

    @classmethod
    def from_counter(
        cls, counter: NgramCounter, min_count: int, max_per_order: int | None
    ) -> NgramVocabulary:
        """Chooses n-grams by what was counted; arguments and errors are those of `from_texts`."""
        orders = counter.settings.orders
        alphabet, keys, counts = counter.chosen(min_count, max_per_order)
        if not len(keys):
            raise ConfigError(
                f"The texts have no n-gram of orders {list(orders)} that occurs "
                f"{min_count} times or more. Lower `min_count` or give more texts."
            )
        return cls(orders, alphabet, keys, counts)

    @classmethod
    def from_ngrams(
        cls, ngrams: Sequence[str], counts: Sequence[int] | None = None
    ) -> NgramVocabulary:
        """Makes a vocabulary of given n-grams, one row each in their order.

        Args:
            ngrams: Distinct n-grams of 1 to 8 characters, normalized; a space stands for the
                beginning or the end of a text, too.
            counts: How often each occurs. Default: once.

        Raises:
            ConfigError: There is none, one is no string, too long or empty, or two are the same; or
                `counts` are no integers, or not as many.
        """
        ngrams = [*map(decoded, texts_of(ngrams, "ngrams"))]
        if not ngrams:
            raise ConfigError("`ngrams` must have at least one n-gram. Received: []")
        orders = check_orders(sorted({len(ngram) for ngram in ngrams}))
        # Shorter n-grams are padded with -1, because 0 is a character.
        codes = np.full((len(ngrams), orders[-1]), -1, np.int32)
        for row, ngram in zip(codes, ngrams, strict=True):
            row[len(row) - len(ngram) :] = list(map(ord, ngram))
        bits = symbol_bits(orders[-1])
        alphabet = Alphabet().extended(np.setdiff1d(codes, [-1]))
        is_exact = len(alphabet) <= Alphabet.capacity(bits)
        if is_exact:
            table = alphabet.symbol_table(False)
            symbols = table[np.minimum(codes, len(table) - 1)]
            keys = join_digits(np.where(codes >= 0, symbols, 0), bits)
        else:
            warn_of_mixed_keys(len(alphabet), orders[-1])
            keys, lengths = np.zeros(len(ngrams), np.int64), np.count_nonzero(codes >= 0, axis=1)
            for order in orders:
                keys[lengths == order] = mixed_keys(codes[lengths == order, -order:])
        distinct, first = np.unique(keys, return_index=True)
        if len(distinct) < len(keys):
            repeated = ngrams[int(np.setdiff1d(np.arange(len(keys)), first)[0])]
            raise ConfigError(
                f"`ngrams` must be distinct. Received: {len(keys) - len(distinct)} that are there "
                f"before, such as {repeated!r}"
            )
        counted = np.ones(len(keys), np.int64) if counts is None else np.asarray(counts)
        is_counts = counted.shape == keys.shape and counted.dtype.kind in "iu"
        if not is_counts or not 0 <= counted.min() <= counted.max() < 2**63:
            raise ConfigError(
                f"`counts` must be a number for each of the {len(keys)} n-grams: integers from 0 "
                f"on. Received: {counted.dtype} of shape {counted.shape}"
            )
        return cls(orders, alphabet if is_exact else None, keys, counted)

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
        prefixes = np.full(len(self), -1)
        num_symbols = np.count_nonzero(exact_digits(self.keys, self.bits, self.orders[-1]), axis=1)
        for order in self.orders:  # A longer one found later takes the place of a shorter.
            longer = np.flatnonzero(num_symbols > order)
            beginnings = self.keys[longer] >> self.bits * (num_symbols[longer] - order)
            positions = np.minimum(np.searchsorted(keys, beginnings), len(keys) - 1)
            is_known = keys[positions] == beginnings
            prefixes[longer[is_known]] = by_key[positions[is_known]]
        return prefixes

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the vocabulary as named arrays; `from_arrays` is the way back."""
        arrays = {"orders": np.array(self.orders), "keys": self.keys, "counts": self.counts}
        if self.alphabet is not None:
            arrays["alphabet"] = self.alphabet.characters
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> NgramVocabulary:
        """Restores what `to_arrays` returned.

        Raises:
            ConfigError: The orders are out of range.
            KeyError: An array is missing.
            ValueError: The arrays do not go together.
        """
        alphabet = Alphabet.from_array(arrays["alphabet"]) if "alphabet" in arrays else None
        orders, keys, counts = (arrays[name] for name in ("orders", "keys", "counts"))
        if orders.ndim != 1 or keys.ndim != 1 or keys.shape != counts.shape:
            raise ValueError(
                f"the vocabulary has keys {keys.shape}, counts {counts.shape} and orders "
                f"{orders.shape}, where it needs lists, as many counts as keys"
            )
        # From 1 on: what n-grams begin with is found by making keys smaller.
        if not len(keys) or keys.min() < 1:
            raise ValueError("the vocabulary needs keys above 0")
        vocabulary = cls(orders.tolist(), alphabet, keys, counts)
        if alphabet is not None and len(alphabet) > Alphabet.capacity(vocabulary.bits or 0):
            raise ValueError(f"the vocabulary has {len(alphabet):,} characters, too many for keys")
        return vocabulary


def check_vocabulary(**values: Any) -> None:
    """Checks that values, by name, are vocabularies or `None`.

    Raises:
        ConfigError: One is not.
    """
    for name, value in values.items():
        if value is not None and not isinstance(value, NgramVocabulary):
            raise ConfigError(
                f"`{name}` must be an `NgramVocabulary`, such as "
                f"`NgramVocabulary.from_ngrams(ngrams)`. Received: {type(value).__name__}"
            )
