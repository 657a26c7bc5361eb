"""Words that are given as several ids: their own, followed by those of their parts."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.layers.ragged_sum import row_ids


def grouped(ids: tf.RaggedTensor, num_words: int) -> tf.RaggedTensor:
    """Groups the ids of texts into words.

    An id up to `num_words` begins a word, and so does the first id of a text; the ids between two
    of them belong to the word before them.

    Args:
        ids: int32 `(batch, None)`.
        num_words: The highest id that begins a word.

    Returns:
        int32 `(batch, None, None)`: texts, words, ids.
    """
    rows = row_ids(ids)
    is_first = tf.not_equal(rows, tf.concat([[-1], rows], axis=0)[:-1])
    begins = tf.reshape(tf.where(is_first | (ids.values <= num_words)), [-1])
    splits = tf.concat([begins, tf.shape(rows, tf.int64)], axis=0)
    words = tf.RaggedTensor.from_row_splits(ids.values, splits, validate=False)
    texts = tf.searchsorted(begins, tf.cast(ids.row_splits, tf.int64), out_type=tf.int64)
    return tf.RaggedTensor.from_row_splits(words, texts, validate=False)
