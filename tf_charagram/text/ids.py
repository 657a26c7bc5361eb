"""Maps the n-grams of a batch to ids, found in a vocabulary or by hashing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.text.keys import OTHER_SYMBOL, UNKNOWN, mix64, ngram_keys, padded_keys
from tf_charagram.text.normalize import FlatTexts, flatnonzero, masked, ragged, without_few

#: Maps keys, int64 `(n,)`, to rows, int64 `(n,)`; negative without a row.
Lookup = Callable[[tf.Tensor], tf.Tensor]
#: Rows of an n-gram of unknown characters: n-grams that share a row seldom share the other, too.
ROWS_OF_UNKNOWN = 2

_ROW_STEP = 0xD1342543DE82EF95


def known_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int | None, lookup: Lookup
) -> tf.RaggedTensor:
    """Returns the ids of all n-grams that have a row, int32 `(batch, None)`."""
    keys, splits = ngram_keys(texts, orders, bits)
    num_columns = keys.shape[1]
    # The table does not contain key 0, "no n-gram".
    rows = tf.cast(lookup(tf.reshape(keys, [-1])), tf.int32)
    return ragged(*masked(rows, rows >= 0, splits * num_columns))


def longest_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int, lookup: Lookup
) -> tf.RaggedTensor:
    """Returns the id of the longest n-gram with a row at each position, int32 `(batch, None)`."""
    max_order = orders[-1]
    keys, splits = padded_keys(texts, max_order, bits)
    positions = tf.range(tf.size(keys))
    places = []
    found = []
    for order in orders[::-1]:
        shift = np.int64(bits * (max_order - order))
        rows = lookup(tf.bitwise.right_shift(keys, shift))
        places.append(positions)
        found.append(rows)
        # Only positions without a row are looked up with a lower order.
        unknown = flatnonzero(rows < 0)
        keys = tf.gather(keys, unknown)
        positions = tf.gather(positions, unknown)
    # The last row for a position wins. Scattered updates take twice as long.
    rows = tf.cast(tf.dynamic_stitch(places, found), tf.int32)
    if 1 in orders:
        last_spaces = ngram_keys(texts, (1,), bits)[0][:, 1]
        last_rows = tf.cast(lookup(last_spaces), tf.int32)
        rows = tf.reshape(tf.stack([rows, last_rows], axis=1), [-1])
        return ragged(*masked(rows, rows >= 0, 2 * splits))
    # Most positions have a row, so few are dropped.
    return ragged(*without_few(rows, rows < 0, splits))


def hashed_ids(
    texts: FlatTexts, orders: Sequence[int], num_rows: int, rows_per_ngram: int
) -> tf.RaggedTensor:
    """Returns `rows_per_ngram` ids in `[0, num_rows)` of each n-gram, int32 `(batch, None)`."""
    keys, splits = ngram_keys(texts, orders, None)
    num_columns = keys.shape[1] * rows_per_ngram
    keys = tf.reshape(keys, [-1])
    rows = tf.reshape(_hashed_rows(keys, num_rows, rows_per_ngram), [-1])
    exists = tf.repeat(keys > 0, rows_per_ngram)
    return ragged(*masked(rows, exists, splits * num_columns))


def unknown_ids(texts: FlatTexts, symbol_codes: tf.Tensor, num_rows: int) -> tf.RaggedTensor:
    """Returns ids in `[0, num_rows)` of unknown characters, int32 `(batch, None)`.

    Each character has `ROWS_OF_UNKNOWN` ids, and as many together with the character after it.

    Args:
        texts: The batch; the symbols of unknown characters are `UNKNOWN` and their code point.
        symbol_codes: Code points of the other symbols, int32 `(num_symbols,)`. Unlike symbols,
            they stay when a vocabulary grows.
        num_rows: Number of rows.
    """
    symbols, starts, ends = texts
    places = tf.cast(flatnonzero(symbols >= UNKNOWN), tf.int32)
    owners = tf.searchsorted(starts, places, side="right") - 1
    # Truncated texts do not end where the next one starts.
    is_inside = places < tf.gather(ends, owners)
    places = places[is_inside]
    owners = owners[is_inside]
    chars = tf.gather(symbols, places) - UNKNOWN
    following = tf.gather(symbols, places + 1)
    codes = tf.gather(symbol_codes, tf.minimum(following, len(symbol_codes) - 1))
    codes = tf.where(following < UNKNOWN, codes, following - UNKNOWN)
    keys = tf.cast(tf.stack([tf.zeros_like(codes), codes + 1], axis=1), tf.int64) * UNKNOWN
    keys += tf.cast(chars, tf.int64)[:, tf.newaxis]
    rows = _hashed_rows(tf.reshape(keys, [-1]), num_rows, ROWS_OF_UNKNOWN)
    splits = tf.searchsorted(owners, tf.range(tf.size(starts) + 1))
    return ragged(tf.reshape(rows, [-1]), splits * keys.shape[1] * ROWS_OF_UNKNOWN)


def appended(left: tf.RaggedTensor, right: tf.RaggedTensor) -> tf.RaggedTensor:
    """Returns the ids of both for each text, int32 `(batch, None)`.

    `tf.concat(axis=1)` transposes integers, about which oneDNN logs an error.
    """
    texts = tf.range(left.nrows())
    order = tf.reshape(tf.stack([texts, texts + left.nrows()], axis=1), [-1])
    both = tf.gather(tf.concat([left, right], axis=0), order)
    return ragged(both.values, both.row_splits[::2])


def _hashed_rows(keys: tf.Tensor, num_rows: int, rows_per_key: int) -> tf.Tensor:
    """Returns `rows_per_key` rows in `[0, num_rows)` of each key, int32 `(num_keys, rows_per_key)`.

    Args:
        keys: int64 `(num_keys,)`.
        num_rows: Number of rows.
        rows_per_key: Number of hash functions.
    """
    unsigned = tf.cast(keys, tf.uint64)
    columns = []
    for index in range(rows_per_key):
        seed = np.uint64(_ROW_STEP * index % 2**64)
        columns.append(tf.cast(mix64(unsigned ^ seed), tf.int64))
    rows = tf.stack(columns, axis=1) % np.int64(num_rows)
    return tf.cast(rows, tf.int32)


def without_unknown(texts: FlatTexts) -> FlatTexts:
    """Replaces unknown characters that are told apart by the symbol of all of them."""
    is_known = texts.symbols < UNKNOWN
    return texts._replace(symbols=tf.where(is_known, texts.symbols, OTHER_SYMBOL))
