"""One int64 key per n-gram: exact if it fits, otherwise a 64-bit mix.

Characters are numbered densely by an alphabet. Exact keys are the symbols of the n characters
shifted together, `bits` each. Symbols start at 1, so the highest digit of a key is never zero, and
n-grams of different orders never share a key.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.devices import on_cpu
from tf_charagram.text.alphabet import Alphabet, symbol_bits
from tf_charagram.text.hashing import FINALIZERS, MULTIPLIER
from tf_charagram.text.normalize import FlatTexts

logger = logging.getLogger(__name__)


def mix64(values: tf.Tensor) -> tf.Tensor:
    """Mixes uint64 values of any shape, so that each bit depends on all bits of the value.

    This is the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
    """
    for shift, multiplier in FINALIZERS:
        values = _xor_shifted(values, shift) * multiplier
    return _xor_shifted(values, 31)


def _xor_shifted(values: tf.Tensor, shift: int) -> tf.Tensor:
    shifted = tf.bitwise.right_shift(values, np.uint64(shift))
    return values ^ shifted


def _shifted_left(keys: tf.Tensor, num_bits: int) -> tf.Tensor:
    return tf.bitwise.left_shift(keys, np.int64(num_bits))


def ngram_keys(
    texts: FlatTexts, orders: Sequence[int], bits: int | None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the keys of all n-grams of a batch.

    Args:
        texts: The batch; symbols are positive integers.
        orders: Ascending n-gram orders.
        bits: Bits per symbol of exact keys, or `None` for mixed keys.

    Returns:
        Keys, int64 `(num_starts, columns)`: a row for each position where an n-gram may start, a
        column for each order and, with order 1, one for the space after a text; 0 means no n-gram.
        And the row splits of the texts over those rows, int32 `(batch + 1,)`.
    """
    remaining, splits = _remaining(texts)
    num_starts = tf.size(remaining)
    max_order = max(orders)
    symbols = tf.cast(texts.symbols, tf.int64 if bits else tf.uint64)
    padding = tf.zeros([max_order], symbols.dtype)
    padded = tf.concat([symbols, padding], axis=0)
    no_key = np.int64(0)
    columns = []
    state = None
    for order in range(1, max_order + 1):
        # The last symbol of the n-gram at each position.
        last = order - 1
        last_symbols = padded[last : last + num_starts]
        state = _extend(state, last_symbols, bits)
        if order in orders:
            keys = _finish(state, order, bits)
            # The space after a text starts no longer n-gram, so it has no row.
            exists = remaining >= max(order, 2)
            columns.append(tf.where(exists, keys, no_key))
    if 1 in orders:
        next_symbols = padded[1 : 1 + num_starts]
        state = _extend(None, next_symbols, bits)
        keys = _finish(state, 1, bits)
        is_last_space = tf.equal(remaining, 2)
        columns.append(tf.where(is_last_space, keys, no_key))
    return tf.stack(columns, axis=1), splits


def padded_keys(texts: FlatTexts, order: int, bits: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes one exact key per position of a batch, a key of the n-grams of all orders there.

    Args:
        texts: The batch; symbols are positive integers.
        order: The highest n-gram order.
        bits: Bits per symbol.

    Returns:
        For each position, the key of the `order` symbols from there on, with zeros past the end of
        the text, int64 `(num_starts,)`; 0 if no n-gram of two or more symbols starts there. Its
        highest `n` symbols are the n-gram of order `n`, if the last of them is not zero. And the
        row splits of the texts, as for `ngram_keys`.
    """
    remaining, splits = _remaining(texts)
    symbols = tf.cast(texts.symbols, tf.int64)
    padding = tf.zeros([order - 1], tf.int64)
    keys = tf.concat([symbols, padding], axis=0)
    width = 1
    while width < order:
        step = min(width, order - width)
        moved = _shifted_left(keys[:-step], step * bits)
        # Symbols in both halves coincide.
        keys = moved | keys[step:]
        width += step
    num_inside = tf.minimum(remaining, order)
    # A single symbol is the space after a text.
    num_inside = tf.where(remaining < 2, 0, num_inside)
    num_lost = order - num_inside
    # Shifted out and back, symbols past the end become zeros.
    shift = tf.cast(num_lost * bits, tf.int64)
    keys = tf.bitwise.right_shift(keys[:-1], shift)
    keys = tf.bitwise.left_shift(keys, shift)
    return keys, splits


def _remaining(texts: FlatTexts) -> tuple[tf.Tensor, tf.Tensor]:
    """Counts the symbols from each position to the end of its text.

    Returns:
        int32 `(num_starts,)`, at most 0 past the end of a truncated text; and the row splits of
        the texts over those positions, int32 `(batch + 1,)`.
    """
    symbols, starts, ends = texts
    last = tf.size(symbols) - 1
    splits = tf.concat([starts, [last]], axis=0)
    # Counts down from the length of each text.
    at_start = ends - starts + 1
    at_next_start = ends - splits[1:] + 1
    remaining = tf.ragged.range(at_start, at_next_start, -1)
    return remaining.values, splits


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


@on_cpu
def mixed_keys(code_points: np.ndarray) -> np.ndarray:
    """Returns the mixed keys of n-grams given as code points, `(num_ngrams, order)`."""
    _, order = code_points.shape
    state = None
    for codes in code_points.T:
        symbols = tf.constant(codes, tf.uint64)
        state = _extend(state, symbols, None)
    keys = _finish(state, order, None)
    return keys.numpy()


def warn_of_mixed_keys(num_characters: int, max_order: int) -> None:
    """Warns that there are more characters than exact keys can hold."""
    logger.warning(
        "The texts have %d characters; exact keys of order %d hold %d. Using 64-bit mixed "
        "keys: n-grams may collide (about 1 in 10^7 vocabularies of a million n-grams).",
        num_characters, max_order, Alphabet.capacity(symbol_bits(max_order)),
    )  # fmt: skip


def _extend(state: tf.Tensor | None, symbols: tf.Tensor, bits: int | None) -> tf.Tensor:
    """Appends a symbol to each n-gram; `None` has no symbol."""
    if bits:
        if state is None:
            return symbols
        return _shifted_left(state, bits) | symbols
    if state is None:
        state = tf.zeros_like(symbols)
    return (state ^ symbols) * MULTIPLIER + np.uint64(1)


def _finish(state: tf.Tensor, order: int, bits: int | None) -> tf.Tensor:
    """Returns the keys of n-grams of an order, positive int64."""
    if bits:
        return state
    mixed = mix64(state ^ np.uint64(order))
    signed = tf.cast(mixed, tf.int64)
    # 0 is no n-gram.
    positive = signed & np.int64(2**63 - 1)
    return tf.maximum(positive, np.int64(1))
