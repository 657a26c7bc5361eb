"""Ids of the n-grams of a batch, found by their keys in one of three ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.text.keys import mix64, ngram_keys, padded_keys
from tf_charagram.text.normalize import FlatTexts, masked, without_few

#: From keys, int64 `(n,)`, to rows, int64 `(n,)`; below 0 where there is none.
Lookup = Callable[[tf.Tensor], tf.Tensor]

_ROW_STEP = 0xD1342543DE82EF95


def known_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int | None, lookup: Lookup
) -> tf.RaggedTensor:
    """Returns the ids of all n-grams that have a row.

    Args:
        texts: The batch.
        orders: Ascending n-gram orders.
        bits: Bits per symbol of exact keys, or `None` for mixed keys.
        lookup: Gives the rows.

    Returns:
        int32 `(batch, None)`.
    """
    keys, splits = ngram_keys(texts, orders, bits)
    num_columns = keys.shape[1]
    # Key 0, "no n-gram", is not in the table.
    rows = tf.cast(lookup(tf.reshape(keys, [-1])), tf.int32)
    return _ragged(*masked(rows, rows >= 0, splits * num_columns))


def longest_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int, lookup: Lookup
) -> tf.RaggedTensor:
    """Returns the id of the longest known n-gram at each position; as `known_ids`."""
    max_order = orders[-1]
    keys, splits = padded_keys(texts, max_order, bits)
    positions = tf.range(tf.size(keys))
    places, found = [], []
    for order in orders[::-1]:
        shift = np.int64(bits * (max_order - order))
        rows = lookup(tf.bitwise.right_shift(keys, shift))
        places.append(positions)
        found.append(rows)
        unknown = tf.where(rows < 0)[:, 0]
        keys, positions = tf.gather(keys, unknown), tf.gather(positions, unknown)
    # Of several rows for a position the last one stays. Scattered updates take twice as long.
    rows = tf.cast(tf.dynamic_stitch(places, found), tf.int32)
    if 1 in orders:
        last_spaces = ngram_keys(texts, (1,), bits)[0][:, 1]
        rows = tf.stack([rows, tf.cast(lookup(last_spaces), tf.int32)], axis=1)
        rows, splits = tf.reshape(rows, [-1]), 2 * splits
        return _ragged(*masked(rows, rows >= 0, splits))
    # Most positions have a row.
    return _ragged(*without_few(rows, rows < 0, splits))


def hashed_ids(
    texts: FlatTexts, orders: Sequence[int], num_rows: int, rows_per_ngram: int
) -> tf.RaggedTensor:
    """Returns the ids of all n-grams, several for each; as `known_ids`.

    Args:
        texts: The batch.
        orders: Ascending n-gram orders.
        num_rows: How many rows there are.
        rows_per_ngram: How many of them an n-gram has.
    """
    keys, splits = ngram_keys(texts, orders, None)
    num_columns = keys.shape[1] * rows_per_ngram
    keys = tf.reshape(keys, [-1])
    unsigned = tf.cast(keys, tf.uint64)
    columns = [
        tf.cast(mix64(unsigned ^ np.uint64(_ROW_STEP * j % 2**64)), tf.int64)
        for j in range(rows_per_ngram)
    ]
    rows = tf.math.floormod(tf.stack(columns, axis=1), np.int64(num_rows))
    exists = tf.repeat(keys > 0, rows_per_ngram)
    rows = tf.cast(tf.reshape(rows, [-1]), tf.int32)
    return _ragged(*masked(rows, exists, splits * num_columns))


def _ragged(values: tf.Tensor, splits: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)
