"""One int64 key per n-gram: exact if it fits, otherwise a 64-bit mix.

Characters are numbered densely by an alphabet. Exact keys are the symbols of the n characters
shifted together, `bits` each. Symbols start at 1, so the highest digit of a key is never zero, and
n-grams of different orders never share a key.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.flat import Array, Batch, Ops
from tf_charagram.text._algorithm.hashing import MULTIPLIER, mixed
from tf_charagram.text.alphabet import Alphabet, symbol_bits

logger = logging.getLogger(__name__)

_MAX_KEY = np.int64(2**63 - 1)


def ngram_keys(
    ops: Ops, batch: Batch, orders: Sequence[int], bits: int | None
) -> tuple[Array, Array]:
    """Computes the keys of all n-grams of a batch.

    Args:
        ops: Operations.
        batch: The batch; symbols are positive.
        orders: Ascending n-gram orders.
        bits: Bits per symbol of exact keys, or `None` for mixed keys.

    Returns:
        Keys, int64 `(num_starts, columns)`: a row for each position where an n-gram may start, a
        column for each order and, with order 1, one for the space after a text; 0 means no n-gram.
        And the row splits of the texts over those rows, `(batch + 1,)`.
    """
    remaining, splits = _remaining(ops, batch)
    num_starts = ops.size(remaining)
    max_order = max(orders)
    symbols = ops.int64(batch.symbols) if bits else ops.uint64(batch.symbols)
    symbols = ops.padded(symbols, 0, max_order)
    no_key = np.int64(0)
    columns = []
    state = None
    for order in range(1, max_order + 1):
        # The last symbol of the n-gram at each position.
        last = order - 1
        state = _extended(ops, state, symbols[last : last + num_starts], bits)
        if order in orders:
            # The space after a text starts no longer n-gram, so it has no row.
            exists = remaining >= max(order, 2)
            keys = _finished(ops, state, order, bits)
            columns.append(ops.where(exists, keys, no_key))
    if 1 in orders:
        # The last space of a text, as the unigram after its last character.
        state = _extended(ops, None, symbols[1 : 1 + num_starts], bits)
        is_last_space = remaining == 2
        keys = _finished(ops, state, 1, bits)
        columns.append(ops.where(is_last_space, keys, no_key))
    return ops.stack(columns, axis=1), splits


def padded_keys(ops: Ops, batch: Batch, order: int, bits: int) -> tuple[Array, Array]:
    """Computes one exact key per position of a batch, a key of the n-grams of all orders there.

    Args:
        ops: Operations.
        batch: The batch; symbols are positive.
        order: The highest n-gram order.
        bits: Bits per symbol.

    Returns:
        For each position, the key of the `order` symbols from there on, with zeros past the end of
        the text, int64 `(num_starts,)`; 0 if no n-gram of two or more symbols starts there. Its
        highest `n` symbols are the n-gram of order `n`, if the last of them is not zero. And the
        row splits of the texts over those positions, `(batch + 1,)`.
    """
    remaining, splits = _remaining(ops, batch)
    keys = ops.padded(ops.int64(batch.symbols), 0, order - 1)
    width = 1
    while width < order:
        step = min(width, order - width)
        moved = ops.shift_left(keys[:-step], np.int64(step * bits))
        # Symbols in both halves coincide.
        keys = moved | keys[step:]
        width += step
    # A single symbol is the space after a text.
    num_inside = ops.where(remaining < 2, 0, ops.minimum(remaining, order))
    # Shifted out and back, symbols past the end become zeros.
    num_lost = ops.int64(order - num_inside) * bits
    keys = ops.shift_right(keys[:-1], num_lost)
    return ops.shift_left(keys, num_lost), splits


def _remaining(ops: Ops, batch: Batch) -> tuple[Array, Array]:
    """Counts the symbols from each position to the end of its text.

    Returns:
        `(num_starts,)`, at most 0 past the end of a truncated text; and the row splits of the texts
        over those positions, `(batch + 1,)`.
    """
    symbols, starts, ends, _ = batch
    last = ops.reshape(ops.size(symbols) - 1, [1])
    splits = ops.concat([starts, ops.like(last, starts)])
    # Counts down from the length of each text; parts that were cut off get numbers below 2.
    lengths = ends - starts + 1
    lasts = ends - splits[1:] + 1
    return ops.countdown(lengths, lasts), splits


def _extended(ops: Ops, state: Array | None, symbols: Array, bits: int | None) -> Array:
    """Appends a symbol to each n-gram; `None` has no symbol."""
    if bits:
        if state is None:
            return symbols
        return ops.shift_left(state, np.int64(bits)) | symbols
    if state is not None:
        symbols = state ^ symbols
    return symbols * MULTIPLIER + np.uint64(1)


def _finished(ops: Ops, state: Array, order: int, bits: int | None) -> Array:
    """Returns the keys of n-grams of an order, positive int64."""
    if bits:
        return state
    hashes = mixed(ops, state ^ np.uint64(order))
    keys = ops.int64(hashes) & _MAX_KEY
    # 0 is no n-gram.
    return ops.maximum(keys, np.int64(1))


def prefix_keys(keys: np.ndarray, order: int, max_order: int, bits: int) -> np.ndarray:
    """Returns the keys of the n-grams that padded keys begin with; 0 for no n-gram."""
    num_dropped = max_order - order
    prefixes = keys >> bits * num_dropped
    last_symbols = prefixes & _mask(bits)
    # A zero is past the end of the text.
    return np.where(last_symbols, prefixes, 0)


def _mask(bits: int) -> int:
    """Returns the mask of the last symbol of a key."""
    return (1 << bits) - 1


def renumbered_keys(
    keys: np.ndarray, symbols: np.ndarray, bits: int, num_digits: int
) -> np.ndarray:
    """Replaces each symbol `s` of exact keys by `symbols[s]`; int64 `(num_keys,)`."""
    result = np.zeros_like(keys)
    mask = _mask(bits)
    for shift in range(0, bits * num_digits, bits):
        digits = keys >> shift & mask
        result |= symbols[digits] << shift
    return result


def exact_digits(keys: np.ndarray, bits: int, num_digits: int) -> np.ndarray:
    """Splits exact keys into symbols, `(num_keys, num_digits)`; zeros precede shorter n-grams."""
    places = np.arange(num_digits - 1, -1, -1, dtype=np.int64)
    shifted = keys[:, np.newaxis] >> bits * places
    return shifted & _mask(bits)


def mixed_keys(code_points: np.ndarray) -> np.ndarray:
    """Returns the mixed keys of n-grams given as code points, `(num_ngrams, order)`."""
    _, order = code_points.shape
    state = None
    for codes in code_points.T:
        state = _extended(arrays, state, codes.astype(np.uint64), None)
    return _finished(arrays, state, order, None)


def warn_of_mixed_keys(num_characters: int, max_order: int) -> None:
    """Warns that there are more characters than exact keys can hold."""
    logger.warning(
        "The texts have %d characters; exact keys of order %d hold %d. Using 64-bit mixed "
        "keys: n-grams may collide (about 1 in 10^7 vocabularies of a million n-grams).",
        num_characters, max_order, Alphabet.capacity(symbol_bits(max_order)),
    )  # fmt: skip
