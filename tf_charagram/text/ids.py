"""Maps the n-grams of a batch to ids, found in a vocabulary or by hashing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.text.alphabet import OTHER_SYMBOL, UNKNOWN
from tf_charagram.text.hashing import ROW_STEP, ROWS_OF_UNKNOWN
from tf_charagram.text.keys import mix64, ngram_keys, padded_keys
from tf_charagram.text.normalize import FlatTexts
from tf_charagram.text.vectors import flatnonzero, interleaved, masked, ragged, without_few

#: Maps keys, int64 `(n,)`, to rows, int64 `(n,)`; negative without a row.
Lookup = Callable[[tf.Tensor], tf.Tensor]


def known_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int | None, lookup: Lookup
) -> tf.RaggedTensor:
    """Returns the ids of all n-grams that have a row, int32 `(batch, None)`."""
    keys, splits = ngram_keys(texts, orders, bits)
    num_columns = keys.shape[1]
    flat_keys = tf.reshape(keys, [-1])
    # The table does not contain key 0, "no n-gram".
    rows = tf.cast(lookup(flat_keys), tf.int32)
    ids, id_splits = masked(rows, rows >= 0, splits * num_columns)
    return ragged(ids, id_splits)


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
        # The highest symbols of a key are the n-gram of the order.
        num_dropped = max_order - order
        prefixes = tf.bitwise.right_shift(keys, np.int64(bits * num_dropped))
        rows = lookup(prefixes)
        places.append(positions)
        found.append(rows)
        # Only positions without a row are looked up with a lower order.
        unknown = flatnonzero(rows < 0)
        keys = tf.gather(keys, unknown)
        positions = tf.gather(positions, unknown)
    # The last row for a position wins. Scattered updates take twice as long.
    rows = tf.dynamic_stitch(places, found)
    rows = tf.cast(rows, tf.int32)
    if 1 not in orders:
        # Most positions have a row, so few are dropped.
        ids, id_splits = without_few(rows, rows < 0, splits)
        return ragged(ids, id_splits)
    # The space after a text is a unigram, too.
    unigrams, _ = ngram_keys(texts, (1,), bits)
    last_spaces = unigrams[:, 1]
    last_rows = tf.cast(lookup(last_spaces), tf.int32)
    rows = interleaved(rows, last_rows)
    ids, id_splits = masked(rows, rows >= 0, 2 * splits)
    return ragged(ids, id_splits)


def hashed_ids(
    texts: FlatTexts, orders: Sequence[int], num_rows: int, rows_per_ngram: int
) -> tf.RaggedTensor:
    """Returns `rows_per_ngram` ids in `[0, num_rows)` of each n-gram, int32 `(batch, None)`."""
    keys, splits = ngram_keys(texts, orders, None)
    num_columns = keys.shape[1] * rows_per_ngram
    flat_keys = tf.reshape(keys, [-1])
    rows = _hashed_rows(flat_keys, num_rows, rows_per_ngram)
    flat_rows = tf.reshape(rows, [-1])
    exists = tf.repeat(flat_keys > 0, rows_per_ngram)
    ids, id_splits = masked(flat_rows, exists, splits * num_columns)
    return ragged(ids, id_splits)


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
    places = flatnonzero(symbols >= UNKNOWN)
    places = tf.cast(places, tf.int32)
    owners = tf.searchsorted(starts, places, side="right") - 1
    # Truncated texts do not end where the next one starts.
    is_inside = places < tf.gather(ends, owners)
    places = places[is_inside]
    owners = owners[is_inside]
    chars = tf.gather(symbols, places) - UNKNOWN
    following = tf.gather(symbols, places + 1)
    # The character after may be unknown, too; then its symbol holds the code point.
    known_symbols = tf.minimum(following, len(symbol_codes) - 1)
    codes = tf.where(
        following < UNKNOWN,
        tf.gather(symbol_codes, known_symbols),
        following - UNKNOWN,
    )
    # A key is a pair: 0, or the code point after plus 1, and the unknown character.
    alone = tf.cast(chars, tf.int64)
    contexts = tf.cast(codes + 1, tf.int64)
    with_next = contexts * UNKNOWN + alone
    keys = interleaved(alone, with_next)
    rows = _hashed_rows(keys, num_rows, ROWS_OF_UNKNOWN)
    flat_rows = tf.reshape(rows, [-1])
    # Number of unknown characters before each text, and of all.
    texts_and_end = tf.range(tf.size(starts) + 1)
    splits = tf.searchsorted(owners, texts_and_end)
    rows_per_char = 2 * ROWS_OF_UNKNOWN
    return ragged(flat_rows, splits * rows_per_char)


def appended(left: tf.RaggedTensor, right: tf.RaggedTensor) -> tf.RaggedTensor:
    """Returns the ids of both for each text, int32 `(batch, None)`.

    `tf.concat(axis=1)` transposes integers, about which oneDNN logs an error.
    """
    num_texts = left.nrows()
    texts = tf.range(num_texts)
    order = interleaved(texts, texts + num_texts)
    stacked = tf.concat([left, right], axis=0)
    both = tf.gather(stacked, order)
    # Every other split is between two texts.
    splits = both.row_splits[::2]
    return ragged(both.values, splits)


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
        seed = np.uint64(ROW_STEP * index % 2**64)
        hashes = mix64(unsigned ^ seed)
        columns.append(tf.cast(hashes, tf.int64))
    rows = tf.stack(columns, axis=1) % np.int64(num_rows)
    return tf.cast(rows, tf.int32)


def without_unknown(texts: FlatTexts) -> FlatTexts:
    """Replaces unknown characters that are told apart by the symbol of all of them."""
    is_known = texts.symbols < UNKNOWN
    symbols = tf.where(is_known, texts.symbols, OTHER_SYMBOL)
    return texts._replace(symbols=symbols)
