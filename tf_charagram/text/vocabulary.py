"""The n-gram vocabulary V: the n-grams that have a row, counted from texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.arguments import strings_of, texts_of
from tf_charagram.text._algorithm.counting import NgramCounter
from tf_charagram.text._algorithm.keys import (
    exact_digits,
    mixed_keys,
    renumbered_keys,
    warn_of_mixed_keys,
)
from tf_charagram.text._algorithm.tensors import check_counting, check_orders, check_text_options
from tf_charagram.text.alphabet import Alphabet, symbol_bits


class NgramVocabulary:
    """The n-grams that have an embedding, one row each (Charagram, section 3, the set V).

    Attributes:
        orders: Ascending n-gram orders.
        alphabet: The characters that keys are made of, or `None` if exact keys cannot hold all
            characters of the texts, and keys are 64-bit mixes.
        keys: int64 `(size,)`; row `i` belongs to `keys[i]`. Sorted by order, then most frequent
            first, then by code points with the space before all others (mixed keys: by key). Rows
            added by `grown` come last.
        counts: Number of occurrences of each n-gram in the texts, int64 `(size,)`.
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
        if self.alphabet is None:
            return None
        return symbol_bits(self.orders[-1])

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
    ) -> NgramVocabulary:
        """Counts the n-grams of texts in one pass, exactly.

        Memory grows only with the number of distinct n-grams of the highest order: up to 100
        bytes for each.

        Args:
            texts: The texts, with repetitions; read once, as a stream.
            orders: n-gram orders, 1 to 8 in any combination.
            min_count: Minimum number of occurrences of an n-gram.
            max_per_order: Maximum number of n-grams of each order; the most frequent ones are kept.
            lowercase: Whether texts are lowercased.
            unicode_form: Unicode normalization form such as `"NFKC"`, applied first, or `None`.
            max_chars: Texts are truncated after this many characters.

        Raises:
            ConfigError: An argument is out of range, `texts` is a single string, or no n-gram is
                frequent enough.
        """
        texts = texts_of(texts, "texts")
        check_counting(min_count, max_per_order=max_per_order)
        orders = check_orders(orders)
        check_text_options(lowercase, unicode_form, max_chars)
        counter = NgramCounter(orders, lowercase, unicode_form, max_chars)
        counter.count(texts)
        alphabet, keys, counts = counter.chosen(min_count, max_per_order)
        if not len(keys):
            raise ConfigError(
                f"The texts have no n-gram of orders {list(orders)} that occurs "
                f"{min_count} times or more. Lower `min_count` or give more texts."
            )
        return cls(orders, alphabet, keys, counts)

    @classmethod
    def from_ngrams(cls, ngrams: Sequence[str]) -> NgramVocabulary:
        """Makes a vocabulary of given n-grams, one row each, in their order.

        Args:
            ngrams: Distinct n-grams of 1 to 8 characters, normalized; a space also stands for the
                start or the end of a text.

        Raises:
            ConfigError: There are no n-grams, or one is not a string, empty, too long or repeated.
        """
        ngrams = strings_of(ngrams, "ngrams")
        if not ngrams:
            raise ConfigError("`ngrams` must have at least one n-gram. Received: []")
        lengths = [len(ngram) for ngram in ngrams]
        orders = check_orders(sorted(set(lengths)))
        if len(set(ngrams)) < len(ngrams):
            raise ConfigError(f"`ngrams` must be distinct. Received: {len(ngrams)} n-grams")
        max_order = orders[-1]
        counts = np.ones(len(ngrams), np.int64)
        # Shorter n-grams are padded on the left with -1, because 0 is a character.
        shape = len(ngrams), max_order
        codes = np.full(shape, -1, np.int32)
        for row, ngram in enumerate(ngrams):
            start = max_order - len(ngram)
            codes[row, start:] = [ord(char) for char in ngram]
        characters = np.setdiff1d(codes, [-1])
        alphabet = Alphabet().extended(characters)
        bits = symbol_bits(max_order)
        if len(alphabet) > Alphabet.capacity(bits):
            warn_of_mixed_keys(len(alphabet), max_order)
            keys = _mixed(codes, np.array(lengths))
            return cls(orders, None, keys, counts)
        keys = _exact(codes, alphabet, bits)
        return cls(orders, alphabet, keys, counts)

    def ngrams(self) -> list[str]:
        """Returns the n-gram of each row; mixed keys cannot be undone and give `"#<hex key>"`."""
        if self.alphabet is None or self.bits is None:
            return [f"#{key:016x}" for key in self.keys.tolist()]
        digits = exact_digits(self.keys, self.bits, self.orders[-1])
        codes = self.alphabet.code_points(digits)
        # A key of a shorter n-gram begins with zeros, which are no characters.
        num_padded = np.count_nonzero(digits == 0, axis=1)
        ngrams = []
        for row, start in enumerate(num_padded.tolist()):
            chars = codes[row, start:]
            ngrams.append("".join(map(chr, chars)))
        return ngrams

    def grown(self, other: NgramVocabulary) -> tuple[NgramVocabulary, np.ndarray]:
        """Appends the n-grams of another vocabulary of the same orders.

        Counts are summed. If exact keys cannot hold the characters of both, all keys are mixed,
        with a warning.

        Returns:
            The grown vocabulary, and the row in it of each row of this one, int64 `(size,)`: the
            same, unless two n-grams share a mixed key, about once in 10^7 large vocabularies.
        """
        alphabet, own_keys, other_keys = self._keys_with(other)
        keys = np.concatenate([own_keys, other_keys])
        all_counts = np.concatenate([self.counts, other.counts])
        distinct, first, inverse = np.unique(
            keys,
            return_index=True,
            return_inverse=True,
        )
        # `np.unique` sorts by key; rows are in the order in which keys first occur.
        order = np.argsort(first)
        row_of = np.argsort(order)
        rows = row_of[inverse]
        counts = np.bincount(rows, all_counts)
        grown = NgramVocabulary(self.orders, alphabet, distinct[order], counts)
        return grown, rows[: len(self)]

    def _keys_with(self, other: NgramVocabulary) -> tuple[Alphabet | None, np.ndarray, np.ndarray]:
        """Makes the keys of two vocabularies comparable.

        Returns:
            The common alphabet, or `None` for mixed keys; and the keys of both.
        """
        max_order = self.orders[-1]
        bits = symbol_bits(max_order)
        if self.alphabet is not None and other.alphabet is not None:
            alphabet = self.alphabet.extended(other.alphabet.characters)
            if len(alphabet) <= Alphabet.capacity(bits):
                symbols = alphabet.symbols_of(other.alphabet)
                other_keys = renumbered_keys(other.keys, symbols, bits, max_order)
                # Exact keys of this vocabulary stay, because its alphabet is only extended.
                return alphabet, self.keys, other_keys
            warn_of_mixed_keys(len(alphabet), max_order)
        return None, self._mixed_keys(), other._mixed_keys()

    def _mixed_keys(self) -> np.ndarray:
        """Returns the mixed key of each n-gram, int64 `(size,)`."""
        if self.alphabet is None or self.bits is None:
            return self.keys
        digits = exact_digits(self.keys, self.bits, self.orders[-1])
        codes = self.alphabet.code_points(digits)
        lengths = np.count_nonzero(digits, axis=1)
        return _mixed(codes, lengths)

    def prefixes(self) -> np.ndarray | None:
        """Returns the row of the longest known proper prefix of each n-gram, int64 `(size,)`.

        It is -1 for an n-gram without a known prefix. Returns `None` for mixed keys, which do not
        tell the prefixes of an n-gram.
        """
        if self.bits is None:
            return None
        by_key = np.argsort(self.keys)
        keys = self.keys[by_key]
        prefixes = np.full(len(self), -1)
        digits = exact_digits(self.keys, self.bits, self.orders[-1])
        num_symbols = np.count_nonzero(digits, axis=1)
        # Orders ascend, so longer prefixes replace shorter ones.
        for order in self.orders:
            longer = np.flatnonzero(num_symbols > order)
            num_dropped = num_symbols[longer] - order
            beginnings = self.keys[longer] >> self.bits * num_dropped
            positions = np.searchsorted(keys, beginnings)
            # A beginning after all keys is not one of them.
            positions = np.minimum(positions, len(keys) - 1)
            is_known = keys[positions] == beginnings
            found = longer[is_known]
            rows = by_key[positions]
            prefixes[found] = rows[is_known]
        return prefixes

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the vocabulary as named arrays, from which `from_arrays` restores it."""
        arrays = {
            "orders": np.array(self.orders),
            "keys": self.keys,
            "counts": self.counts,
        }
        if self.alphabet is not None:
            arrays["alphabet"] = self.alphabet.characters
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> NgramVocabulary:
        """Restores a vocabulary from `to_arrays()`.

        Raises:
            ConfigError: The orders are out of range.
            KeyError: An array is missing.
            ValueError: The arrays do not go together.
        """
        alphabet = None
        if "alphabet" in arrays:
            alphabet = Alphabet.from_array(arrays["alphabet"])
        orders = arrays["orders"]
        keys = arrays["keys"]
        counts = arrays["counts"]
        if orders.ndim != 1 or keys.ndim != 1 or keys.shape != counts.shape:
            raise ValueError(
                "the vocabulary must have a list of orders, and as many counts as keys. Received: "
                f"orders {orders.shape}, keys {keys.shape}, counts {counts.shape}"
            )
        # `prefixes` relies on positive keys.
        if not len(keys) or keys.min() < 1:
            raise ValueError("the vocabulary must have keys above 0")
        vocabulary = cls(orders.tolist(), alphabet, keys, counts)
        if alphabet is not None and len(alphabet) > Alphabet.capacity(vocabulary.bits or 0):
            raise ValueError(f"the vocabulary has {len(alphabet):,} characters, too many for keys")
        return vocabulary


def _exact(code_points: np.ndarray, alphabet: Alphabet, bits: int) -> np.ndarray:
    """Computes exact keys of n-grams, int64 `(num_ngrams,)`.

    Args:
        code_points: The n-grams, which end in the last column, `(num_ngrams, max_order)`; -1 before
            shorter ones.
        alphabet: An alphabet with all their characters.
        bits: Bits per symbol.
    """
    table = alphabet.symbol_table(False)
    # The last entry of the table applies to all code points from there on.
    entries = np.minimum(code_points, len(table) - 1)
    symbols = table[entries].astype(np.int64)
    symbols[code_points < 0] = 0
    keys = np.zeros(len(code_points), np.int64)
    for column in symbols.T:
        keys = keys << bits | column
    return keys


def _mixed(code_points: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Computes mixed keys of n-grams of different lengths, int64 `(num_ngrams,)`.

    Args:
        code_points: The n-grams, which end in the last column, `(num_ngrams, max_order)`.
        lengths: Number of characters of each n-gram, `(num_ngrams,)`.
    """
    keys = np.zeros(len(code_points), np.int64)
    for order in np.unique(lengths).tolist():
        of_order = lengths == order
        keys[of_order] = mixed_keys(code_points[of_order, -order:])
    return keys
