"""Finds the rows of the n-grams of a batch, in a vocabulary or by hashing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tf_charagram.reader.flat import Batch, Ints, Runs, after_zero, interleaved, rows_of
from tf_charagram.text.alphabet import OTHER_SYMBOL, UNKNOWN, Alphabet, symbol_bits
from tf_charagram.text.hashing import MULTIPLIER, ROW_STEP, ROWS_OF_UNKNOWN, mixed
from tf_charagram.text.key_table import KeyTable

_SPREAD = MULTIPLIER.astype(np.int64)
_INT64_MAX = np.iinfo(np.int64).max


class Ngrams(NamedTuple):
    """The n-grams that have rows.

    Attributes:
        orders: Ascending n-gram orders.
        table: Finds the row of a key that is `spread`, or -1; `None` if n-grams are hashed.
        alphabet: The characters of exact keys, or `None` for mixed keys.
        num_rows: Number of rows without those of unknown characters.
        rows_per_ngram: Number of rows that each n-gram is hashed to.
        longest_only: Whether only the longest n-gram at each position has a row.
        unknown_rows: Number of rows of unknown characters, the last ones.
    """

    orders: Sequence[int]
    table: KeyTable | None
    alphabet: Alphabet | None
    num_rows: int
    rows_per_ngram: int
    longest_only: bool
    unknown_rows: int

    def ids(self, batch: Batch) -> Runs:
        """Returns the rows of the n-grams of each text, ordered by position."""
        if self.table is None:
            return self._hashed_ids(batch)
        if not self.unknown_rows:
            return self._known_ids(batch, self.table)
        ids = self._known_ids(_without_unknown(batch), self.table)
        if (batch.symbols < UNKNOWN).all():
            return ids
        unknown_ids = self._unknown_ids(batch)
        return _appended(ids, unknown_ids)

    def spans(self, batch: Batch) -> tuple[Ints, Ints, Runs]:
        """Finds the n-grams of a single text that have rows, in the order of `ids`.

        Returns:
            Start and end of each n-gram in the symbols, `(num_ngrams,)`, and its rows.
        """
        known = _without_unknown(batch)
        keys, _ = ngram_keys(known, self.orders, self._bits)
        has_row = keys > 0
        if self.table is not None:
            has_row &= self.table.lookup(spread(keys)) >= 0
        starts, columns = np.nonzero(has_row)
        # The column after those of the orders holds the space after a text, a unigram.
        starts = starts + (columns == len(self.orders))
        orders = np.array([*self.orders, 1])
        lengths = orders[columns]
        places = np.flatnonzero(batch.symbols[: batch.ends[0]] >= UNKNOWN)
        # Each unknown character alone, then with the next character.
        num_rows = np.full(len(starts), self.rows_per_ngram)
        num_rows = np.append(num_rows, np.full(2 * len(places), ROWS_OF_UNKNOWN))
        starts = np.append(starts, np.repeat(places, 2))
        lengths = np.append(lengths, np.tile([1, 2], len(places)))
        splits = after_zero(np.cumsum(num_rows))
        return starts, starts + lengths, Runs(self.ids(batch).values, splits)

    @property
    def _bits(self) -> int | None:
        """Bits per symbol in exact keys; `None` for mixed keys."""
        return None if self.alphabet is None else symbol_bits(max(self.orders))

    def _known_ids(self, batch: Batch, table: KeyTable) -> Runs:
        keys, splits = ngram_keys(batch, self.orders, self._bits)
        rows = table.lookup(spread(keys))
        if self.longest_only:
            _keep_longest(rows, len(self.orders))
        num_columns = keys.shape[1]
        flat_rows = rows.ravel()
        is_known = flat_rows >= 0
        return masked(flat_rows, is_known, splits * num_columns)

    def _hashed_ids(self, batch: Batch) -> Runs:
        keys, splits = ngram_keys(batch, self.orders, None)
        flat_keys = keys.ravel()
        rows = _hashed_rows(flat_keys, self.num_rows, self.rows_per_ngram)
        exists = np.repeat(flat_keys > 0, self.rows_per_ngram)
        num_columns = keys.shape[1] * self.rows_per_ngram
        return masked(rows, exists, splits * num_columns)

    def _unknown_ids(self, batch: Batch) -> Runs:
        """Returns the rows of each unknown character, alone and with the character after it."""
        symbols, starts, ends = batch
        places = np.flatnonzero(symbols >= UNKNOWN)
        owners = np.searchsorted(starts, places, side="right")
        owners -= 1
        # Truncated texts do not end where the next one starts.
        is_inside = places < ends[owners]
        places = places[is_inside]
        owners = owners[is_inside]
        chars = symbols[places] - UNKNOWN
        following = symbols[places + 1]
        # The character after may be unknown, too; then its symbol holds the code point.
        known_codes = self.alphabet.symbol_codes()  # type: ignore[union-attr]
        last_symbol = len(known_codes) - 1
        known_symbols = np.minimum(following, last_symbol)
        codes = np.where(
            following < UNKNOWN,
            known_codes[known_symbols],
            following - UNKNOWN,
        )
        # A key is a pair: 0, or the code point after plus 1, and the unknown character.
        contexts = codes + 1
        with_next = contexts * UNKNOWN + chars
        keys = interleaved(chars, with_next)
        rows = _hashed_rows(keys, self.unknown_rows, ROWS_OF_UNKNOWN)
        # Number of unknown characters before each text, and of all.
        texts_and_end = np.arange(len(starts) + 1)
        splits = np.searchsorted(owners, texts_and_end)
        rows_per_char = 2 * ROWS_OF_UNKNOWN
        return Runs(self.num_rows + rows, splits * rows_per_char)


def _without_unknown(batch: Batch) -> Batch:
    """Replaces the symbols of unknown characters by the one that all of them share."""
    symbols = np.where(batch.symbols < UNKNOWN, batch.symbols, OTHER_SYMBOL)
    return batch._replace(symbols=symbols)


def spread(keys: Ints) -> Ints:
    """Spreads keys of n-grams evenly over all int64, one to one."""
    return keys * _SPREAD


def ngram_keys(batch: Batch, orders: Sequence[int], bits: int | None) -> tuple[Ints, Ints]:
    """Computes the keys of all n-grams of a batch.

    Args:
        batch: The batch; symbols are positive.
        orders: Ascending n-gram orders.
        bits: Bits per symbol of exact keys, or `None` for mixed keys.

    Returns:
        Keys, int64 `(num_starts, columns)`: a row for each position where an n-gram may start, a
        column for each order and, with order 1, one for the space after a text; 0 means no n-gram.
        And the row splits of the texts over those rows, `(batch + 1,)`.
    """
    symbols, starts, ends = batch
    num_starts = len(symbols) - 1
    splits = np.append(starts, num_starts)
    # Symbols from each position to the end of its text; at most 0 past the end of a truncated text.
    stops = np.repeat(ends + 1, np.diff(splits))
    remaining = stops - np.arange(num_starts)
    max_order = max(orders)
    padded = np.pad(symbols, (0, max_order))
    columns = []
    state = None
    for order in range(1, max_order + 1):
        # Appends the last symbol of the n-gram at each position.
        last = order - 1
        last_symbols = padded[last : last + num_starts]
        state = _extended(state, last_symbols, bits)
        if order in orders:
            # The space after a text starts no longer n-gram, so it has no row.
            exists = remaining >= max(order, 2)
            keys = _finished(state, order, bits)
            columns.append(np.where(exists, keys, 0))
    if 1 in orders:
        next_symbols = padded[1 : 1 + num_starts]
        state = _extended(None, next_symbols, bits)
        keys = _finished(state, 1, bits)
        is_last_space = remaining == 2
        columns.append(np.where(is_last_space, keys, 0))
    return np.stack(columns, axis=1), splits


def _extended(state: np.ndarray | None, symbols: Ints, bits: int | None) -> np.ndarray:
    """Appends a symbol to each n-gram; `None` has no symbol."""
    if bits:
        if state is None:
            return symbols
        return state << bits | symbols
    unsigned = symbols.astype(np.uint64)
    if state is not None:
        unsigned ^= state
    unsigned *= MULTIPLIER
    return unsigned + np.uint64(1)


def _finished(state: np.ndarray, order: int, bits: int | None) -> Ints:
    """Returns the keys of n-grams of an order, positive int64."""
    if bits:
        return state
    keys = mixed(state ^ np.uint64(order))
    positive = keys.astype(np.int64) & _INT64_MAX
    # 0 is no n-gram.
    return np.maximum(positive, 1)


def _keep_longest(rows: Ints, num_orders: int) -> None:
    """Sets the rows of n-grams that begin a longer n-gram with a row to -1."""
    has_longer = np.zeros(len(rows), bool)
    for order in reversed(range(num_orders)):
        of_order = rows[:, order]
        is_known = of_order >= 0
        of_order[has_longer] = -1
        has_longer |= is_known


def masked(values: Ints, keep: np.ndarray, splits: Ints) -> Runs:
    """Drops values of rows."""
    num_kept = after_zero(np.cumsum(keep))
    return Runs(values[keep], num_kept[splits])


def _appended(left: Runs, right: Runs) -> Runs:
    """Returns the values of both for each row."""
    num_rows = len(left.splits) - 1
    values = np.concatenate([left.values, right.values])
    right_ends = right.splits[1:] + left.splits[-1]
    splits = np.append(left.splits, right_ends)
    stacked = Runs(values, splits)
    rows = np.arange(num_rows)
    order = interleaved(rows, rows + num_rows)
    both = rows_of(stacked, order)
    # Every other split is between two texts.
    return Runs(both.values, both.splits[::2])


def _hashed_rows(keys: Ints, num_rows: int, rows_per_key: int) -> Ints:
    """Returns `rows_per_key` rows in `[0, num_rows)` of each key, one key after the other."""
    unsigned = keys.astype(np.uint64)
    columns = []
    for index in range(rows_per_key):
        seed = np.uint64(ROW_STEP * index % 2**64)
        hashes = mixed(unsigned ^ seed)
        rows = hashes.astype(np.int64) % num_rows
        columns.append(rows)
    rows = np.stack(columns, axis=1)
    return rows.ravel()
