"""Maps the n-grams of a batch to ids, found in a vocabulary or by hashing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.weights import MAX_WEIGHTED_ROWS, STEPS_PER_WEIGHT, WEIGHT_SHIFT
from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.code_points import SPACE
from tf_charagram.text._algorithm.flat import (
    Array,
    Batch,
    OnExecutor,
    Ops,
    Rows,
    all_selected,
    interleaved,
)
from tf_charagram.text._algorithm.hashing import ROW_STEP, ROWS_OF_UNKNOWN, mixed
from tf_charagram.text._algorithm.keys import ngram_keys, padded_keys
from tf_charagram.text._algorithm.unicode import is_in_class
from tf_charagram.text.alphabet import OTHER_SYMBOL, UNKNOWN, Alphabet, symbol_bits

#: Maps keys, int64 `(n,)`, to rows, int32 `(n,)`; negative without a row.
Lookup = Callable[[Array], Array]

#: Returns the id of two characters at each position, -1 without a sign; or `None`.
Signs = Callable[[Batch], Array | None]


class Ngrams(OnExecutor):
    """Finds the ids of the n-grams of a batch.

    Args:
        orders: Ascending n-gram orders.
        keys: The keys of the n-grams with ids 0, 1, ..., int64 `(num_rows,)`; `None` to hash them.
        alphabet: The characters of exact keys, or `None` for mixed keys.
        ops: Operations.
        num_rows: Number of ids, without those of unknown characters.
        rows_per_ngram: Number of ids of each n-gram; above 1 only if n-grams are hashed.
        longest_only: Whether only the longest n-gram at each position has an id.
        unknown_rows: Number of ids of characters outside the alphabet, the last ones.
        hash_signs: Whether two characters, one of them a sign, where no n-gram with an id starts,
            have one of the `unknown_rows` ids.
    """

    def __init__(
        self,
        orders: Sequence[int],
        keys: NDArray[np.int64] | None,
        alphabet: Alphabet | None,
        ops: Ops,
        *,
        num_rows: int,
        rows_per_ngram: int = 1,
        longest_only: bool = False,
        unknown_rows: int = 0,
        hash_signs: bool = False,
    ) -> None:
        self._ops = ops
        self._orders = orders
        self._keys: Any = keys
        self._bits = None if alphabet is None else symbol_bits(max(orders))
        self.num_rows = num_rows
        self.rows_per_ngram = rows_per_ngram
        self.longest_only = longest_only
        self.unknown_rows = unknown_rows
        #: Lookup tables, which a SavedModel must track.
        self.resources = []
        self._table: Any = None
        if keys is not None:
            rows = np.arange(len(keys), dtype=np.int32)
            self._table = ops.Table(ops.constant(keys), rows, -1, are_mixed=False)
            self.resources.append(self._table)
        self._is_sign = None
        if unknown_rows and alphabet is not None:
            codes = alphabet.symbol_codes()
            self._symbol_codes = ops.constant(codes)
            if hash_signs:
                self._is_sign = ops.constant(_are_signs(codes))

    def __call__(self, batch: Batch) -> Rows:
        """Returns the ids of the n-grams of each text, int32, ordered by position."""
        return self.weighted(batch)[0]

    def weighted(self, batch: Batch, longest: bool = False) -> tuple[Rows, Array | None]:
        """Returns the ids of each text, and the weight of each id.

        Args:
            batch: The batch.
            longest: Whether to return only the id of the longest n-gram at each position, if keys
                are exact. It stands for all n-grams of `summed`.

        Returns:
            int32 ids, ordered by position; and float32 `(num_ids,)`, or `None` if the batch has no
            weights.
        """
        longest_only = self.longest_only or (longest and self._bits is not None)
        ids = self.packed(batch, longest_only)
        if batch.weights is None:
            return ids, None
        ops = self._ops
        # Ids are positive, so the highest bits are those of the weight.
        steps = ops.shift_right(ids.values, WEIGHT_SHIFT)
        weights = ops.cast_to(steps, "float32") * np.float32(1 / STEPS_PER_WEIGHT)
        values = ids.values & np.int32(MAX_WEIGHTED_ROWS - 1)
        return Rows(values, ids.splits), weights

    def summed(self, ids: NDArray[np.integer]) -> Iterator[NDArray[np.integer]]:
        """Yields the n-grams whose rows the longest n-grams stand for, the shortest first.

        Args:
            ids: Ids of the longest n-grams, in NumPy.

        Yields:
            For each id the id of a known n-gram that it begins with, or its own, or -1.
        """
        if self.longest_only or self._bits is None:
            # Rows of a folded model contain the rows of prefixes; mixed keys have no prefixes.
            yield ids
            return
        is_unknown = ids >= self.num_rows
        keys = self._keys[np.where(is_unknown, 0, ids)]
        num_symbols = np.zeros(len(ids), np.int64)
        for place in range(max(self._orders)):
            num_symbols += keys >> self._bits * place > 0
        for order in self._orders:
            num_dropped = num_symbols - order
            prefixes = keys >> self._bits * np.maximum(num_dropped, 0)
            is_known = (num_dropped >= 0) & ~is_unknown
            yield np.where(is_known, self._table.lookup(prefixes), -1)
        yield np.where(is_unknown, ids, -1)

    def packed(self, batch: Batch, longest_only: bool) -> Rows:
        """Returns the ids of each text, int32, with the weights of the batch in the highest bits.

        They share an int32, so that they are selected together.
        """
        ops = self._ops
        if self._table is None:
            return hashed_ids(ops, batch, self._orders, self.num_rows, self.rows_per_ngram)
        known = without_unknown(ops, batch) if self.unknown_rows else batch
        if longest_only:
            ids = longest_ids(
                ops,
                known,
                self._orders,
                self._bits,  # type: ignore[arg-type]
                self._table.lookup,
                self._signs,
            )
        else:
            ids = known_ids(ops, known, self._orders, self._bits, self._table.lookup, self._signs)
        if not self.unknown_rows:
            return ids

        def with_unknown() -> Rows:
            unknown = unknown_ids(ops, batch, self._symbol_codes, self.num_rows, self.unknown_rows)
            return appended(ops, ids, unknown)

        return ops.cond(ops.all_of(batch.symbols < UNKNOWN), lambda: ids, with_unknown)

    def _signs(self, batch: Batch) -> Array | None:
        """Returns the id of two characters at each position; -1 if none of them is a sign."""
        if self._is_sign is None:
            return None
        ops = self._ops
        first = batch.symbols[:-1]
        second = batch.symbols[1:]
        is_sign = ops.take(self._is_sign, first)
        is_sign |= ops.take(self._is_sign, second)
        codes = ops.take(self._symbol_codes, first)
        following = ops.take(self._symbol_codes, second)
        keys = _pair_keys(ops, codes, following)
        rows = _hashed_rows(ops, keys, self.unknown_rows, 1)
        # The rows of signs follow those of n-grams.
        rows += np.int32(self.num_rows)
        return ops.where(is_sign, rows, np.int32(-1))

    def spans(
        self, batch: Batch
    ) -> tuple[list[tuple[int, int]], list[tuple[int, ...]], list[float]]:
        """Finds the n-grams of a single text that have ids, in the order of its ids.

        Returns:
            Start and end of each n-gram in the symbols of the text, its ids, and its weight.

        Raises:
            ConfigError: Only the longest n-gram at each position has an id.
        """
        if self.longest_only:
            raise ConfigError(
                "A folded model (`longest_only`) does not tell n-grams apart. Use the model that "
                "is not folded."
            )
        ops = self._ops
        read = without_unknown(ops, batch)
        keys, _ = ngram_keys(ops, read, self._orders, self._bits)
        # Hashed n-grams all have rows.
        rows = np.where(np.asarray(keys) > 0, 0, -1)
        if self._table is not None:
            found = rows_of_keys(ops, keys, read, self._table.lookup, self._signs)
            rows = np.asarray(found)
        starts, columns = np.nonzero(rows >= 0)
        lengths = np.array([*self._orders, 1])[columns]
        # Two characters with a hashed id are in the column of the lowest order.
        lengths[rows[starts, columns] >= self.num_rows] = 2
        # The column after those of the orders holds the space after a text, a unigram.
        starts = starts + (columns == len(self._orders))
        stops = starts + lengths
        spans = list(zip(starts.tolist(), stops.tolist(), strict=True))
        all_ids, all_weights = self.weighted(batch)
        ids = np.asarray(all_ids.values)
        num_known = len(spans) * self.rows_per_ngram
        known = ids[:num_known].reshape(-1, self.rows_per_ngram)
        unknown = ids[num_known:].reshape(-1, ROWS_OF_UNKNOWN)
        # Each unknown character alone, then with the next character.
        end = int(batch.ends[0])
        symbols = np.asarray(batch.symbols)[:end]
        for place in np.flatnonzero(symbols >= UNKNOWN).tolist():
            spans += [(place, place + 1), (place, place + 2)]
        weights = np.ones(len(ids))
        if all_weights is not None:
            weights = np.asarray(all_weights)
        # All rows of an n-gram have its weight.
        of_known = weights[: num_known : self.rows_per_ngram]
        of_unknown = weights[num_known::ROWS_OF_UNKNOWN]
        groups = [*known.tolist(), *unknown.tolist()]
        all_of_groups = [*of_known.tolist(), *of_unknown.tolist()]
        return spans, list(map(tuple, groups)), all_of_groups


def known_ids(
    ops: Ops,
    batch: Batch,
    orders: Sequence[int],
    bits: int | None,
    lookup: Lookup,
    signs: Signs,
) -> Rows:
    """Returns the ids of all n-grams that have a row, int32, with weights."""
    keys, splits = ngram_keys(ops, batch, orders, bits)
    rows = rows_of_keys(ops, keys, batch, lookup, signs)
    num_columns = keys.shape[1]
    rows = _with_weights(ops, ops.flattened(rows), batch, num_columns)
    return Rows(*ops.kept(rows, rows >= 0, splits * num_columns))


def rows_of_keys(ops: Ops, keys: Array, batch: Batch, lookup: Lookup, signs: Signs) -> Array:
    """Looks up the rows of n-grams, int32 `(num_starts, columns)`, -1 without a row.

    Args:
        ops: Operations.
        keys: Keys of `ngram_keys`.
        batch: The batch.
        lookup: Finds rows.
        signs: Returns the ids of signs, which take the first column where no n-gram has a row.
    """
    num_columns = keys.shape[1]
    # The table does not contain key 0, "no n-gram".
    flat_rows = lookup(ops.flattened(keys))
    rows = ops.reshape(flat_rows, [-1, num_columns])
    of_signs = signs(batch)
    if of_signs is None:
        return rows
    # No n-gram starts where a text ends.
    has_ngram = ops.any_of(keys > 0, axis=1)
    is_free = has_ngram & ops.all_of(rows < 0, axis=1)
    first = ops.where(is_free, of_signs, rows[:, 0])
    columns = [
        ops.with_axis(first, 1),
        rows[:, 1:],
    ]
    return ops.concat(columns, axis=1)


def longest_ids(
    ops: Ops, batch: Batch, orders: Sequence[int], bits: int, lookup: Lookup, signs: Signs
) -> Rows:
    """Returns the id of the longest n-gram with a row at each position, int32, with weights."""
    max_order = orders[-1]
    keys, splits = padded_keys(ops, batch, max_order, bits)
    has_ngram = keys > 0
    positions = ops.range_of(ops.like(ops.size(keys), splits))
    places = []
    found = []
    for order in orders[::-1]:
        # The highest symbols of a key are the n-gram of the order.
        num_dropped = max_order - order
        prefixes = ops.shift_right(keys, np.int64(bits * num_dropped))
        rows = lookup(prefixes)
        places.append(positions)
        found.append(rows)
        # Only positions without a row are looked up with a lower order.
        unknown = ops.positions_of_true(rows < 0)
        keys = ops.take(keys, unknown)
        positions = ops.take(positions, unknown)
    rows = ops.merged(places, found)
    of_signs = signs(batch)
    if of_signs is not None:
        rows = ops.where((rows < 0) & has_ngram, of_signs, rows)
    rows = _with_weights(ops, rows, batch)
    if 1 not in orders:
        # Most positions have a row, so few are dropped.
        without_row = ops.positions_of_true(rows < 0)
        return Rows(*ops.dropped(rows, without_row, splits))
    # The space after a text is a unigram, too.
    unigrams, _ = ngram_keys(ops, batch, (1,), bits)
    spaces = lookup(unigrams[:, 1])
    spaces = _with_weights(ops, spaces, batch)
    rows = interleaved(ops, rows, spaces)
    return Rows(*ops.kept(rows, rows >= 0, 2 * splits))


def _with_weights(ops: Ops, ids: Array, batch: Batch, num_columns: int = 1) -> Array:
    """Puts the weight of each position into the highest bits of its ids; -1 stays -1.

    Args:
        ops: Operations.
        ids: int32 `(num_starts * num_columns,)`.
        batch: The batch.
        num_columns: Ids of each position.
    """
    if batch.weights is None:
        return ids
    # No n-gram starts at the last symbol, the space at the end.
    weights = batch.weights[:-1]
    highest = ops.shift_left(weights, WEIGHT_SHIFT)
    if num_columns > 1:
        highest = ops.repeat(highest, num_columns)
    return ids | highest


def _are_signs(codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Returns whether code points are neither a space nor in words; -1 is no character."""
    return (codes > SPACE) & ~is_in_class("in_word", np.maximum(codes, SPACE))


def hashed_ids(
    ops: Ops, batch: Batch, orders: Sequence[int], num_rows: int, rows_per_ngram: int
) -> Rows:
    """Returns `rows_per_ngram` ids in `[0, num_rows)` of each n-gram, int32."""
    keys, splits = ngram_keys(ops, batch, orders, None)
    num_columns = keys.shape[1] * rows_per_ngram
    flat_keys = ops.flattened(keys)
    rows = _hashed_rows(ops, flat_keys, num_rows, rows_per_ngram)
    rows = _with_weights(ops, rows, batch, num_columns)
    exists = ops.repeat(flat_keys > 0, rows_per_ngram)
    return Rows(*ops.kept(rows, exists, splits * num_columns))


def unknown_ids(ops: Ops, batch: Batch, symbol_codes: Array, first_row: int, num_rows: int) -> Rows:
    """Returns the ids of unknown characters, int32, with weights.

    Each character has `ROWS_OF_UNKNOWN` ids, and as many together with the character after it.

    Args:
        ops: Operations.
        batch: The batch; the symbols of unknown characters are `UNKNOWN` and their code point.
        symbol_codes: Code points of the other symbols, int32 `(num_symbols,)`. Unlike symbols,
            they stay when a vocabulary grows.
        first_row: The first of their rows.
        num_rows: Number of rows.
    """
    symbols, starts, ends, weights = batch
    places = ops.like(ops.positions_of_true(symbols >= UNKNOWN), starts)
    owners = ops.searchsorted(starts, places, side="right") - 1
    # Truncated texts do not end where the next one starts.
    is_inside = places < ops.take(ends, owners)
    places, owners = all_selected(ops, is_inside, places, owners)
    chars = ops.take(symbols, places) - UNKNOWN
    following = ops.take(symbols, places + 1)
    # The character after may be unknown, too; then its symbol holds the code point.
    known_codes = ops.take_clipped(symbol_codes, following)
    codes = ops.where(following < UNKNOWN, known_codes, following - UNKNOWN)
    # A character alone is a pair with nothing after it.
    alone = ops.int64(chars)
    with_next = _pair_keys(ops, chars, codes)
    keys = interleaved(ops, alone, with_next)
    # Number of unknown characters before each text, and of all.
    texts_and_end = ops.range_of(ops.size(starts) + 1)
    splits = ops.like(ops.searchsorted(ops.int64(owners), texts_and_end), starts)
    rows_per_char = 2 * ROWS_OF_UNKNOWN
    rows = first_row + _hashed_rows(ops, keys, num_rows, ROWS_OF_UNKNOWN)
    if weights is not None:
        of_chars = ops.take(weights, places)
        highest = ops.shift_left(of_chars, WEIGHT_SHIFT)
        rows |= ops.repeat(highest, rows_per_char)
    return Rows(rows, splits * rows_per_char)


def appended(ops: Ops, left: Rows, right: Rows) -> Rows:
    """Returns the ids of both for each text."""
    size = ops.like(ops.size(left.values), left.splits)
    # Where the rows of the right lie behind all values of the left.
    moved = right.splits + size
    firsts = interleaved(ops, left.splits[:-1], moved[:-1])
    lasts = interleaved(ops, left.splits[1:], moved[1:])
    places = ops.positions(firsts, lasts)
    every = ops.concat([left.values, right.values])
    return Rows(ops.take(every, places), left.splits + right.splits)


def _pair_keys(ops: Ops, codes: Array, following: Array) -> Array:
    """Packs code points and the code points after them, of which 0 would be no character, int64."""
    after = ops.int64(following + 1)
    return after * UNKNOWN + ops.int64(codes)


def _hashed_rows(ops: Ops, keys: Array, num_rows: int, rows_per_key: int) -> Array:
    """Returns `rows_per_key` rows in `[0, num_rows)` of each key, one key after the other, int32.

    Args:
        ops: Operations.
        keys: int64 `(num_keys,)`.
        num_rows: Number of rows.
        rows_per_key: Number of hash functions.
    """
    unsigned = ops.uint64(keys)
    columns = []
    for index in range(rows_per_key):
        seed = np.uint64(ROW_STEP * index % 2**64)
        hashes = mixed(ops, unsigned ^ seed)
        columns.append(ops.int64(hashes))
    rows = ops.stack(columns, axis=1) % np.int64(num_rows)
    return ops.cast_to(ops.flattened(rows), "int32")


def without_unknown(ops: Ops, batch: Batch) -> Batch:
    """Replaces unknown characters that are told apart by the symbol of all of them."""
    symbols = ops.where(batch.symbols < UNKNOWN, batch.symbols, OTHER_SYMBOL)
    return batch._replace(symbols=symbols)
